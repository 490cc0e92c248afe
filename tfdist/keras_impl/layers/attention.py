"""Attention: for each query, the mean of values, weighted by how well their keys fit.

Source: TF 1.15 API documentation, tf.keras.layers.Attention and AdditiveAttention.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.layer import Layer
from tfdist.ops.array.cast import cast
from tfdist.ops.array.range import range as numbers
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.array.shape import shape
from tfdist.ops.math.elementwise import tanh
from tfdist.ops.math.matmul import matmul
from tfdist.ops.math.reductions import reduce_sum
from tfdist.ops.nn import functions as nn

__all__ = ["AdditiveAttention", "Attention"]


class _Attention(Layer):
    """What both share; a subclass says how well queries and keys fit."""

    CONFIG = ("causal", "use_scale")
    supports_masking = True

    def __init__(self, use_scale: bool = False, causal: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.use_scale, self.causal = use_scale, causal
        self.scale: Any = None

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return what each query finds.

        Args:
          inputs: a list of queries [batch, m, size], values [batch, n, size], and perhaps keys
            [batch, n, size]; the values are the keys otherwise.
          mask: a list of bools for queries [batch, m], and for values [batch, n].
        """
        if not isinstance(inputs, list | tuple) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{type(self).__name__} layer must be called on a list of inputs, namely "
                "[query, value] or [query, value, key]"
            )
        query, value = inputs[0], inputs[1]
        masks = list(mask) if mask is not None else [None, None]
        scores = self._hidden(self._scores(query, inputs[-1]), masks[1])
        found: Any = matmul(nn.softmax(scores), value)
        if masks[0] is None:
            return found
        return found * expand_dims(cast(masks[0], found.dtype), -1)

    def _scores(self, query: Any, key: Any) -> Any:
        raise NotImplementedError

    def _hidden(self, scores: Any, mask: Any) -> Any:
        """Return scores [batch, m, n], very low for values that must not be seen."""
        if mask is not None:
            kept: Any = expand_dims(cast(mask, scores.dtype), 1)
            scores = scores - 1e9 * (1.0 - kept)
        if self.causal:
            sizes: Any = shape(scores)
            rows: Any = expand_dims(numbers(sizes[1]), 1)
            later: Any = rows < expand_dims(numbers(sizes[2]), 0)
            scores = scores - 1e9 * cast(later, scores.dtype)
        return scores

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the queries."""
        return mask[0] if isinstance(mask, list | tuple) else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of shapes."""
        query, value = (TensorShape(each).as_list() for each in input_shape[:2])
        return TensorShape([*query[:-1], value[-1]])


class Attention(_Attention):
    """Attention whose weights are softmax(query . key).

    Args:
      use_scale: whether the products are multiplied by a number that is learned.
      causal: whether a query sees no later value.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Attention()([zeros([2, 3, 4]), zeros([2, 5, 4])]).shape.as_list()
      [2, 3, 4]
    """

    def build(self, input_shape: Any) -> None:
        """Make the scale, if one is wanted."""
        if self.use_scale:
            self.scale = self.add_weight("scale", (), None, "ones")
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        scores = matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(_Attention):
    """Attention whose weights are softmax(sum(scale * tanh(query + key))).

    Args:
      use_scale: whether the scale [size] is learned; it is 1 otherwise.
      causal: whether a query sees no later value.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.AdditiveAttention()([zeros([2, 3, 4]), zeros([2, 5, 4])]).shape.as_list()
      [2, 3, 4]
    """

    def __init__(self, use_scale: bool = True, **options: Any) -> None:
        super().__init__(use_scale, **options)

    def build(self, input_shape: Any) -> None:
        """Make the scale, if one is wanted."""
        if self.use_scale:
            size = TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self.add_weight("scale", (size,), None, "glorot_uniform")
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        rows: Any = expand_dims(query, 2)
        total: Any = tanh(rows + expand_dims(key, 1))
        return reduce_sum(total if self.scale is None else total * self.scale, -1)
