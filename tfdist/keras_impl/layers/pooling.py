"""Layers that make one of all elements in a window, or of all places: the greatest, or the mean.

Source: TF 1.15 API documentation, tf.keras.layers.MaxPooling2D and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.settings import data_format_of
from tfdist.models.layers import pooling, window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.input_spec import InputSpec
from tfdist.ops.array.cast import cast
from tfdist.ops.array.reshape import expand_dims
from tfdist.ops.math.reductions import reduce_max, reduce_mean, reduce_sum

__all__ = [
    f"{prefix}{kind}{rank}D"
    for prefix, kinds in (("", ("AveragePooling", "AvgPool", "MaxPool", "MaxPooling")),
                          ("Global", ("AveragePooling", "AvgPool", "MaxPool", "MaxPooling")))
    for kind in kinds
    for rank in (1, 2, 3)
]  # fmt: skip


class _Pooled:
    """What poolings of tf.keras share, besides those of tf.layers: arguments and shapes."""

    rank: int

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **options: Any,
    ) -> None:
        strides = pool_size if strides is None else strides
        if self.rank == 1:
            data_format = data_format or "channels_last"
        super().__init__(pool_size, strides, padding, data_format_of(data_format), **options)  # type: ignore[call-arg]


class _Global(Layer):
    """What global poolings share; a subclass says over how many axes."""

    CONFIG = ("data_format",)
    rank = 2
    reduce = staticmethod(reduce_max)

    def __init__(self, data_format: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        if self.rank == 1:
            data_format = data_format or "channels_last"
        self.data_format = data_format_of(data_format)
        self.channels_first = window_shapes.is_first(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _places(self) -> list[int]:
        start = 2 if self.channels_first else 1
        return list(range(start, start + self.rank))

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs`, which have batch and channels besides."""
        return self.reduce(inputs, self._places())

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape: [batch, channels]."""
        known = shape_of_input(input_shape).as_list()
        return TensorShape([known[0], known[1 if self.channels_first else -1]])


class _GlobalSteps(_Global):
    """The mean over steps, without those that a mask leaves out."""

    rank = 1
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mean of [batch, steps, channels] over the steps that `mask` keeps."""
        if mask is None:
            return reduce_mean(inputs, self._places())
        kept = expand_dims(cast(mask, inputs.dtype), 2)
        axis = self._places()[0]
        total: Any = reduce_sum(inputs * kept, axis)
        return total / reduce_sum(kept, axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return None: there are no steps any more."""
        return None


_DOC = """A layer that gives {what} of {where} of {inputs}.

    Args:{size}
      data_format: "channels_last" or "channels_first".
      **options: those of `Layer`.

    Example:
      >>> keras.layers.{name}()(zeros({given})).shape.as_list()
      {found}
    """
_SIZE = """
      pool_size: sizes of the window, one for all axes or one for each.
      strides: steps of the window, in the same form; by default the window's size.
      padding: "valid" (windows lie inside) or "same" (they may reach beyond the end)."""
_RANKS = {
    1: ("[batch, steps, channels]", [2, 8, 3], [2, 4, 3]),
    2: ("[batch, rows, columns, channels]", [2, 8, 6, 3], [2, 4, 3, 3]),
    3: ("[batch, planes, rows, columns, channels]", [2, 8, 6, 4, 3], [2, 4, 3, 2, 3]),
}
_KINDS = {"Max": "the greatest element", "Average": "the mean"}


def _named(name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
    made = type(name, bases, members)
    made.__module__ = __name__
    return made


def _window(kind: str, rank: int) -> Any:
    name = f"{kind}Pooling{rank}D"
    inputs, given, found = _RANKS[rank]
    text = _DOC.format(
        what=_KINDS[kind], where="each window", inputs=inputs, size=_SIZE, name=name, given=given,
        found=found,
    )  # fmt: skip
    return _named(name, (_Pooled, getattr(pooling, name), Layer), {"__doc__": text})


def _whole(kind: str, rank: int) -> Any:
    name = f"Global{kind}Pooling{rank}D"
    inputs, given, _ = _RANKS[rank]
    text = _DOC.format(
        what=_KINDS[kind], where="all places", inputs=inputs, size="", name=name, given=given,
        found=[2, 3],
    )  # fmt: skip
    if (kind, rank) == ("Average", 1):
        return _named(name, (_GlobalSteps,), {"__doc__": text})
    reduce = staticmethod(reduce_max if kind == "Max" else reduce_mean)
    return _named(name, (_Global,), {"__doc__": text, "rank": rank, "reduce": reduce})


MaxPooling1D, MaxPooling2D, MaxPooling3D = (_window("Max", rank) for rank in (1, 2, 3))
AveragePooling1D, AveragePooling2D, AveragePooling3D = (
    _window("Average", rank) for rank in (1, 2, 3)
)
GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D = (
    _whole("Max", rank) for rank in (1, 2, 3)
)
GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D = (
    _whole("Average", rank) for rank in (1, 2, 3)
)
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
GlobalMaxPool3D, GlobalAvgPool1D = GlobalMaxPooling3D, GlobalAveragePooling1D
GlobalAvgPool2D, GlobalAvgPool3D = GlobalAveragePooling2D, GlobalAveragePooling3D
