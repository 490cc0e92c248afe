"""Layers that slide a kernel over their inputs.

Source: TF 1.15 API documentation, tf.keras.layers.Conv2D and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers import convolutional, transposed_separable, window_shapes
from tfdist.models.layers.convolutional import ENDS, SIZES
from tfdist.ops.array.pad import pad

__all__ = [
    "Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Convolution1D",
    "Convolution2D", "Convolution2DTranspose", "Convolution3D", "Convolution3DTranspose",
]  # fmt: skip


class Convolved:
    """What convolutions of tf.keras share, besides those of tf.layers: their arguments."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**given(locals()))


class Conv1D(Convolved, convolutional.Conv1D, Layer):
    """A layer that slides a kernel along [batch, steps, channels].

    With padding "causal" no output depends on a later step.
    """

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
        *arguments: Any, **options: Any,
    ) -> None:  # fmt: skip
        is_causal = isinstance(padding, str) and padding.lower() == "causal"
        plain = "valid" if is_causal else padding
        super().__init__(filters, kernel_size, strides, plain, *arguments, **options)
        self._is_causal = is_causal
        if is_causal and self.channels_first:
            raise ValueError("When using causal padding in `Conv1D`, `data_format` must be "
                             '"channels_last" (temporal data).')  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs` [batch, steps, channels]."""
        if self._is_causal:
            inputs = pad(inputs, [[0, 0], [self._before(), 0], [0, 0]])
        return super().call(inputs)

    def _before(self) -> int:
        return int(self.dilation_rate[0] * (self.kernel_size[0] - 1))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output for inputs of a shape."""
        batch, steps, channels = list(input_shape)
        if self._is_causal and steps is not None:
            steps = int(steps) + self._before()
        return super().compute_output_shape([batch, steps, channels])

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such a layer."""
        config = super().get_config()
        return {**config, "padding": "causal"} if self._is_causal else config


class Conv2D(Convolved, convolutional.Conv2D, Layer):
    """A layer that slides a kernel over images [batch, rows, columns, channels]."""


class Conv3D(Convolved, convolutional.Conv3D, Layer):
    """A layer that slides a kernel through volumes [batch, planes, rows, columns, channels]."""


class _Transposed:
    """What transposed convolutions of tf.keras share, besides those of tf.layers."""

    CONFIG: tuple[str, ...] = (*SIZES[:5], "output_padding", *ENDS)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        *arguments: Any,
        **options: Any,
    ) -> None:
        names = self._argument_names()
        if len(arguments) > len(names):
            raise TypeError(f"{type(self).__name__} takes no more than {', '.join(names)}")
        found = {**_DEFAULTS, **dict(zip(names, arguments, strict=False)), **options}
        self._checked_dilation(found.pop("dilation_rate", 1))
        padded = {"padding": padding, "data_format": data_format}
        super().__init__(filters, kernel_size, strides, **given({**found, **padded}))  # type: ignore[call-arg]
        self.output_padding = output_padding
        if output_padding is not None:
            self.output_padding = window_shapes.sizes(output_padding, self.rank, "output_padding")

    rank = 2

    def _argument_names(self) -> tuple[str, ...]:
        return ENDS

    def _checked_dilation(self, rate: Any) -> None:
        """Note the distances between a kernel's elements."""

    def _lengths(self, inner: list[Any]) -> list[Any]:
        if self.output_padding is None:
            return super()._lengths(inner)  # type: ignore[misc,no-any-return]
        lengths = []
        windows = zip(inner, self.kernel_size, self.strides, self.output_padding, strict=True)  # type: ignore[attr-defined]
        for size, window, stride, more in windows:
            lost = 2 * (window // 2) if self.padding == "SAME" else 0  # type: ignore[attr-defined]
            length = None if size is None else (size - 1) * stride + window - lost + more
            lengths.append(length)
        return lengths


_DEFAULTS = {
    "activation": None, "kernel_initializer": "glorot_uniform", "bias_initializer": "zeros",
}  # fmt: skip


class Conv2DTranspose(_Transposed, transposed_separable.Conv2DTranspose, Layer):
    """A layer that is the gradient of `Conv2D`: each input is spread over a window.

    `output_padding`, after `padding`, says how many rows and columns to add at the end. The
    distances between a kernel's elements are 1.
    """

    CONFIG = (*SIZES, "output_padding", *ENDS)

    def _argument_names(self) -> tuple[str, ...]:
        return ("dilation_rate", *ENDS)

    def _checked_dilation(self, rate: Any) -> None:
        if window_shapes.sizes(rate, 2, "dilation_rate") != (1, 1):
            raise NotImplementedError("tfdist's Conv2DTranspose has dilation_rate=1 only")


class Conv3DTranspose(_Transposed, transposed_separable.Conv3DTranspose, Layer):
    """A layer that is the gradient of `Conv3D`: each input is spread over a window.

    `output_padding`, after `padding`, says how much to add at the end.
    """

    rank = 3


_ARGUMENTS = """

    Args:
      filters: number of output channels.
      kernel_size: sizes of the window, one for all axes or one for each.
      strides: steps of the window, in the same form.
      padding: "valid" (windows lie inside) or "same" (the output is as large as the input, if the
        strides are 1).
      data_format: "channels_last" or "channels_first".
      dilation_rate: distances between the window's elements, in the same form.
      activation: function of the result, or its name.
      use_bias: whether a bias is added.
      kernel_initializer: of the kernel.
      bias_initializer: of the bias [filters].
      kernel_regularizer: function from the kernel to a loss.
      bias_regularizer: function from the bias to a loss.
      activity_regularizer: function from the output to a loss.
      kernel_constraint: function from the updated kernel to the one to keep.
      bias_constraint: function from the updated bias to the one to keep.
      **options: those of `Layer`.

    Example:
      >>> keras.layers.{call}.shape.as_list()
      {found}
    """

for _layer, _call, _found in (
    (Conv1D, "Conv1D(5, 3)(zeros([2, 9, 4]))", [2, 7, 5]),
    (Conv2D, "Conv2D(5, 3)(zeros([2, 9, 8, 4]))", [2, 7, 6, 5]),
    (Conv3D, "Conv3D(5, 3)(zeros([2, 9, 8, 7, 4]))", [2, 7, 6, 5, 5]),
    (Conv2DTranspose, "Conv2DTranspose(5, 3, 2)(zeros([2, 4, 3, 6]))", [2, 9, 7, 5]),
    (Conv3DTranspose, "Conv3DTranspose(5, 3, 2)(zeros([2, 4, 3, 2, 6]))", [2, 9, 7, 5, 5]),
):
    _layer.__doc__ = f"{_layer.__doc__}{_ARGUMENTS.format(call=_call, found=_found)}"

Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
