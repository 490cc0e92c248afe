"""tf.keras.layers.Embedding: vectors for numbers.

Source: TF 1.15 API documentation, tf.keras.layers.Embedding.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.settings import floatx
from tfdist.models.layers.base import shape_of_input
from tfdist.ops.array.cast import cast
from tfdist.ops.math.comparison import not_equal
from tfdist.ops.nn.embedding_lookup import embedding_lookup

__all__ = ["Embedding"]


class Embedding(Layer):
    """A layer that gives a vector, which is learned, for each number.

    Args:
      input_dim: how many numbers there are: 0 to input_dim - 1.
      output_dim: size of the vectors.
      embeddings_initializer: of the vectors [input_dim, output_dim].
      embeddings_regularizer: function from the vectors to a loss.
      activity_regularizer: function from the output to a loss.
      embeddings_constraint: function from the updated vectors to those to keep.
      mask_zero: whether 0 stands for no number: layers after it leave such steps out.
      input_length: of each example's row of numbers, where it is known.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Embedding(10, 3)(constant([[1, 2], [3, 4]])).shape.as_list()
      [2, 2, 3]
    """

    CONFIG = (
        "input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer",
        "activity_regularizer", "embeddings_constraint", "mask_zero", "input_length",
    )  # fmt: skip

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **options: Any,
    ) -> None:
        found = given(locals())
        if "input_shape" not in options and "batch_input_shape" not in options:
            lengths = input_length if isinstance(input_length, list | tuple) else (input_length,)
            options["input_shape"] = tuple(lengths)
        options["dtype"] = options.pop("dtype", None) or floatx()
        super().__init__(activity_regularizer=found["activity_regularizer"], **options)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = found["embeddings_initializer"]
        self.embeddings_regularizer = found["embeddings_regularizer"]
        self.embeddings_constraint = found["embeddings_constraint"]
        self.mask_zero = self.supports_masking = mask_zero
        self.input_length = input_length
        self.embeddings: Any = None

    def build(self, input_shape: Any) -> None:
        """Make the vectors."""
        self.embeddings = self.add_weight(
            "embeddings", (self.input_dim, self.output_dim), None, self.embeddings_initializer,
            self.embeddings_regularizer, constraint=self.embeddings_constraint,
        )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the vectors of `inputs`, numbers."""
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = cast(inputs, dtypes.int32)
        return embedding_lookup(self.embeddings, inputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return which numbers are not 0, if that is wanted."""
        return not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        return TensorShape([*shape_of_input(input_shape).as_list(), self.output_dim])
