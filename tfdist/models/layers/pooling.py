"""Layers that make one of all elements in a window: the greatest, or the mean.

Source: TF 1.15 API documentation, tf.layers.max_pooling2d and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import Layer, shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.models.layers.window_shapes import as_function
from tfdist.ops.array.reshape import expand_dims, squeeze
from tfdist.ops.array.transpose import transpose

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D", "MaxPooling2D",
    "MaxPooling3D", "average_pooling1d", "average_pooling2d", "average_pooling3d",
    "max_pooling1d", "max_pooling2d", "max_pooling3d",
]  # fmt: skip


class _Pooling(Layer):
    """What all layers with windows are; a subclass says over how many axes, and by which op."""

    CONFIG = ("pool_size", "strides", "padding", "data_format")
    rank = 2
    op = ""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name=name, **options)
        self.pool_size = window_shapes.sizes(pool_size, self.rank, "pool_size")
        self.strides = window_shapes.sizes(strides, self.rank, "strides")
        self.padding, self.data_format = window_shapes.padding_of(padding), data_format
        self.channels_first = window_shapes.is_first(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs`, which have batch and channels besides."""
        if self.rank == 3 and self.channels_first:  # no op does it
            last = transpose(inputs, [0, 2, 3, 4, 1])
            return transpose(self._pooled(last, self.pool_size, self.strides), [0, 4, 1, 2, 3])
        if self.rank > 1:
            return self._pooled(inputs, self.pool_size, self.strides)
        column = 3 if self.channels_first else 2  # as of images of one column
        inputs = expand_dims(inputs, column)
        outputs = self._pooled(inputs, (*self.pool_size, 1), (*self.strides, 1))
        return squeeze(outputs, [column])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known = shape_of_input(input_shape).as_list()
        start = 2 if self.channels_first else 1
        for axis, (window, stride) in enumerate(zip(self.pool_size, self.strides, strict=True)):
            size = known[start + axis]
            lost = 0 if self.padding == "SAME" else window - 1
            known[start + axis] = None if size is None else (size - lost + stride - 1) // stride
        return TensorShape(known)

    def _pooled(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        first = self.channels_first and self.rank < 3
        return getattr(raw, self.op)(
            inputs, ksize=window_shapes.with_channels(sizes, first),
            strides=window_shapes.with_channels(strides, first), padding=self.padding,
            data_format=window_shapes.layout(len(sizes), first),
        )  # fmt: skip


_DOC = """A layer that gives {what} of each window of {inputs}.

    Args:
      pool_size: sizes of the window, one for all axes or one for each.
      strides: steps of the window, in the same form.
      padding: "valid" (windows lie inside) or "same" (they may reach beyond the end).
      data_format: "channels_last" or "channels_first".
      name: of the layer.

    Raises:
      ValueError: sizes, padding or data format are none.

    Example:
      >>> layers.{name}(2, 2)(zeros({given})).shape.as_list()
      {found}
    """

_RANKS = {
    1: ("[batch, steps, channels]", [2, 8, 3], [2, 4, 3]),
    2: ("[batch, rows, columns, channels]", [2, 8, 6, 3], [2, 4, 3, 3]),
    3: ("[batch, planes, rows, columns, channels]", [2, 8, 6, 4, 3], [2, 4, 3, 2, 3]),
}
_KINDS = {"Max": "the greatest element", "Average": "the mean"}


def _layer(kind: str, rank: int) -> Any:
    """Return a class of pooling layers."""
    name = f"{kind}Pooling{rank}D"
    op = {"Max": "MaxPool", "Average": "AvgPool"}[kind] + ("3D" if rank == 3 else "")
    inputs, given, found = _RANKS[rank]
    text = _DOC.format(what=_KINDS[kind], inputs=inputs, name=name, given=given, found=found)
    made = type(name, (_Pooling,), {"rank": rank, "op": op, "__doc__": text})
    made.__module__ = __name__
    return made


def _function(layer: Any, name: str) -> Any:
    _, given, found = _RANKS[layer.rank]
    return as_function(
        layer, name, f"Return what a new layer `{layer.__name__}` gives for inputs.",
        f"layers.{name}(zeros({given}), 2, 2).shape.as_list()\n{found}",
    )  # fmt: skip


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_layer("Max", rank) for rank in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (
    _layer("Average", rank) for rank in (1, 2, 3)
)
max_pooling1d = _function(MaxPooling1D, "max_pooling1d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
max_pooling3d = _function(MaxPooling3D, "max_pooling3d")
average_pooling1d = _function(AveragePooling1D, "average_pooling1d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
average_pooling3d = _function(AveragePooling3D, "average_pooling3d")
