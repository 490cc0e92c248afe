"""Inputs of networks: placeholders that a layer gives.

Source: TF 1.15 API documentation, tf.keras.Input.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.keras_impl.backend.graph_states import get_uid
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.engine.nodes import connect
from tfdist.keras_impl.settings import floatx
from tfdist.ops.array.constants import placeholder

__all__ = ["Input", "InputLayer"]


class InputLayer(Layer):
    """The layer that gives an input of a network.

    Args:
      input_shape: of one example.
      batch_size: None for any.
      dtype: of the input; float32 by default.
      input_tensor: to be used instead of a placeholder.
      sparse: False; sparse inputs are not there.
      name: of the layer, and of the placeholder.
      ragged: False; ragged inputs are not there.
      batch_input_shape: of a batch, instead of `input_shape`.

    Example:
      >>> keras.layers.InputLayer((3,)).output
      <tf.Tensor 'input_1:0' shape=(?, 3) dtype=float32>
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        batch_input_shape: Any = None,
        **options: Any,
    ) -> None:
        name = name or f"input_{get_uid('input')}"
        self.is_placeholder = input_tensor is None
        dtype = dtype or (floatx() if input_tensor is None else input_tensor.dtype)
        super().__init__(name=name, dtype=dtypes.as_dtype(dtype).base_dtype, **options)
        if input_tensor is not None:
            batch_input_shape = input_tensor.get_shape().as_list()
        elif batch_input_shape is None:
            batch_input_shape = (batch_size, *_sizes(input_shape))
        self._batch_input_shape = tuple(batch_input_shape)
        self.sparse, self.ragged, self.built = sparse, ragged, True
        if input_tensor is None:
            input_tensor = placeholder(self._dtype, self._batch_input_shape, name=name)
        connect(self, [input_tensor], [input_tensor])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such a layer."""
        return {
            "batch_input_shape": self._batch_input_shape, "dtype": self.dtype,
            "sparse": self.sparse, "ragged": self.ragged, "name": self.name,
        }  # fmt: skip


def _sizes(shape: Any) -> tuple[Any, ...]:
    listed = shape.as_list() if hasattr(shape, "as_list") else shape
    return () if listed is None else (listed,) if isinstance(listed, int) else tuple(listed)


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    batch_shape: Any = None,
    **options: Any,
) -> Any:
    """Return a tensor from which a network starts.

    Args:
      shape: of one example.
      batch_size: None for any.
      name: of the layer that gives it; "input_1" and so on by default.
      dtype: of the elements; float32 by default.
      sparse: False; sparse inputs are not there.
      tensor: to be used instead of a placeholder.
      ragged: False; ragged inputs are not there.
      batch_shape: of a batch, instead of `shape`.

    Raises:
      ValueError: there is neither shape nor tensor.

    Example:
      >>> keras.Input([4], name="pixels")
      <tf.Tensor 'pixels:0' shape=(?, 4) dtype=float32>
    """
    batch_shape = options.pop("batch_input_shape", batch_shape)
    if options:
        raise ValueError(f"Unrecognized keyword arguments: {', '.join(options)}")
    if sparse or ragged:
        raise NotImplementedError("tfdist's networks take dense inputs: tf.sparse.to_dense(...)")
    if shape is None and tensor is None and batch_shape is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    layer = InputLayer(shape, batch_size, dtype, tensor, name=name, batch_input_shape=batch_shape)
    return layer.output
