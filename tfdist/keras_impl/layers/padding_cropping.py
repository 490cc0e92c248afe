"""Layers that add, cut off and repeat places: zero padding, cropping and upsampling.

Source: TF 1.15 API documentation, tf.keras.layers.ZeroPadding2D and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.backend.resizing import resized
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.settings import data_format_of
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.pad import pad
from tfdist.ops.array.repeat import repeat

__all__ = [
    "Cropping1D", "Cropping2D", "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D",
    "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D",
]  # fmt: skip

Pairs = tuple[tuple[int, int], ...]


def _pairs(value: Any, rank: int, name: str) -> Pairs:
    """Return (before, after) for each axis, from one number, one for each axis, or pairs.

    Raises:
      ValueError: it is none of these.
    """
    if isinstance(value, int):
        return ((value, value),) * rank
    if rank == 1:
        return (tuple(window_shapes.sizes(value, 2, name)),)  # type: ignore[return-value]
    if len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Found: {value}")
    found = [(each, each) if isinstance(each, int) else each for each in value]
    return tuple(tuple(window_shapes.sizes(each, 2, name)) for each in found)  # type: ignore[misc]


class _Places(Layer):
    """What these layers share: axes of places between batch and channels."""

    rank = 1

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.data_format = "channels_last" if self.rank == 1 else data_format_of(data_format)
        self.channels_first = window_shapes.is_first(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self) -> range:
        start = 2 if self.channels_first else 1
        return range(start, start + self.rank)

    def _around(self, pairs: Pairs) -> list[tuple[int, int]]:
        whole = [(0, 0)] * (self.rank + 2)
        for axis, pair in zip(self._axes(), pairs, strict=True):
            whole[axis] = pair
        return whole

    def _length(self, size: int, number: int) -> int:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known = shape_of_input(input_shape).as_list()
        for number, axis in enumerate(self._axes()):
            size = known[axis]
            if size is not None:
                known[axis] = self._length(size, number)
        return TensorShape(known)


class _Padding(_Places):
    def __init__(self, padding: Any = 1, data_format: str | None = None, **options: Any) -> None:
        super().__init__(data_format, **options)
        self._pads = _pairs(padding, self.rank, "padding")
        self.padding: Any = self._pads[0] if self.rank == 1 else self._pads

    CONFIG: tuple[str, ...] = ("padding", "data_format")

    def call(self, inputs: Any) -> Any:
        """Return `inputs` with zeros around them."""
        return pad(inputs, self._around(self._pads))

    def _length(self, size: int, number: int) -> int:
        return size + sum(self._pads[number])


class _Cropping(_Places):
    def __init__(self, cropping: Any = 1, data_format: str | None = None, **options: Any) -> None:
        super().__init__(data_format, **options)
        self._cuts = _pairs(cropping, self.rank, "cropping")
        self.cropping: Any = self._cuts[0] if self.rank == 1 else self._cuts

    CONFIG: tuple[str, ...] = ("cropping", "data_format")

    def call(self, inputs: Any) -> Any:
        """Return `inputs` without what is cut off."""
        ends = self._around(self._cuts)
        return inputs[tuple(slice(before, -after or None) for before, after in ends)]

    def _length(self, size: int, number: int) -> int:
        return size - sum(self._cuts[number])


class _UpSampling(_Places):
    CONFIG: tuple[str, ...] = ("size", "data_format")

    def __init__(self, size: Any = 2, data_format: str | None = None, **options: Any) -> None:
        super().__init__(data_format, **options)
        self._times = window_shapes.sizes(size, self.rank, "size")
        self.size: Any = self._times[0] if self.rank == 1 else self._times

    def call(self, inputs: Any) -> Any:
        """Return `inputs` with each place repeated."""
        outputs = inputs
        for axis, times in zip(self._axes(), self._times, strict=True):
            outputs = repeat(outputs, times, axis)
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return outputs

    def _length(self, size: int, number: int) -> int:
        return size * self._times[number]


class ZeroPadding1D(_Padding):
    """A layer that adds steps of zeros to [batch, steps, channels].

    Args:
      padding: how many at both ends, or (at the beginning, at the end).
      **options: those of `Layer`.

    Example:
      >>> keras.layers.ZeroPadding1D((1, 2))(zeros([2, 3, 4])).shape.as_list()
      [2, 6, 4]
    """

    CONFIG = ("padding",)

    def __init__(self, padding: Any = 1, **options: Any) -> None:
        super().__init__(padding, **options)


class ZeroPadding2D(_Padding):
    """A layer that adds rows and columns of zeros to images.

    Args:
      padding: how many on all sides; or of rows and of columns; or (before, after) of each.
      data_format: "channels_last" or "channels_first".
      **options: those of `Layer`.

    Example:
      >>> keras.layers.ZeroPadding2D(((1, 2), 1))(zeros([2, 3, 4, 5])).shape.as_list()
      [2, 6, 6, 5]
    """

    rank = 2


class ZeroPadding3D(_Padding):
    """A layer that adds planes, rows and columns of zeros to volumes; see `ZeroPadding2D`.

    Example:
      >>> keras.layers.ZeroPadding3D(1)(zeros([2, 3, 4, 5, 6])).shape.as_list()
      [2, 5, 6, 7, 6]
    """

    rank = 3


class Cropping1D(_Cropping):
    """A layer that cuts steps off [batch, steps, channels].

    Args:
      cropping: how many at both ends, or (at the beginning, at the end).
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Cropping1D(1)(zeros([2, 5, 4])).shape.as_list()
      [2, 3, 4]
    """

    CONFIG = ("cropping",)

    def __init__(self, cropping: Any = (1, 1), **options: Any) -> None:
        super().__init__(cropping, **options)


class Cropping2D(_Cropping):
    """A layer that cuts rows and columns off images.

    Args:
      cropping: how many on all sides; or of rows and of columns; or (before, after) of each.
      data_format: "channels_last" or "channels_first".
      **options: those of `Layer`.

    Example:
      >>> keras.layers.Cropping2D(((1, 2), 1))(zeros([2, 6, 6, 5])).shape.as_list()
      [2, 3, 4, 5]
    """

    rank = 2

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **options: Any
    ) -> None:
        super().__init__(cropping, data_format, **options)


class Cropping3D(_Cropping):
    """A layer that cuts planes, rows and columns off volumes; see `Cropping2D`.

    Example:
      >>> keras.layers.Cropping3D(1)(zeros([2, 5, 6, 7, 6])).shape.as_list()
      [2, 3, 4, 5, 6]
    """

    rank = 3


class UpSampling1D(_UpSampling):
    """A layer that repeats each step of [batch, steps, channels].

    Args:
      size: how often.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.UpSampling1D(3)(zeros([2, 3, 4])).shape.as_list()
      [2, 9, 4]
    """

    CONFIG = ("size",)

    def __init__(self, size: int = 2, **options: Any) -> None:
        super().__init__(size, **options)


class UpSampling2D(_UpSampling):
    """A layer that makes images larger.

    Args:
      size: how often rows and columns are there, one for both or one for each.
      data_format: "channels_last" or "channels_first".
      interpolation: "nearest" or "bilinear".
      **options: those of `Layer`.

    Raises:
      ValueError: it is another interpolation.

    Example:
      >>> keras.layers.UpSampling2D((2, 3))(zeros([2, 3, 4, 5])).shape.as_list()
      [2, 6, 12, 5]
    """

    CONFIG = ("size", "data_format", "interpolation")
    rank = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **options: Any,
    ) -> None:
        super().__init__(size, data_format, **options)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Any:
        """Return `inputs`, larger."""
        return resized(inputs, self._times, self.channels_first, self.interpolation)


class UpSampling3D(_UpSampling):
    """A layer that repeats each plane, row and column of volumes.

    Args:
      size: how often, one for all or one for each.
      data_format: "channels_last" or "channels_first".
      **options: those of `Layer`.

    Example:
      >>> keras.layers.UpSampling3D(2)(zeros([2, 3, 4, 5, 6])).shape.as_list()
      [2, 6, 8, 10, 6]
    """

    rank = 3
