"""Layers that slide a kernel over their inputs.

Source: TF 1.15 API documentation, tf.layers.conv2d and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import Layer, activation_of, known_size, shape_of_input
from tfdist.models.layers.defaults import ZEROS
from tfdist.models.layers.input_spec import InputSpec
from tfdist.models.layers.window_shapes import as_function
from tfdist.ops.array.reshape import expand_dims, reshape, squeeze
from tfdist.ops.convolution.dilated import with_space_to_batch
from tfdist.ops.nn import functions as nn

__all__ = ["Conv1D", "Conv2D", "Conv3D", "conv1d", "conv2d", "conv3d"]

# What configurations tell.
ENDS = (
    "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
    "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint",
)  # fmt: skip
SIZES = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")

_ARGUMENTS = """

    Args:
      filters: number of output channels.
      kernel_size: sizes of the window, one for all axes or one for each.
      strides: steps of the window, in the same form.
      padding: "valid" (windows lie inside) or "same" (the output is as large as the input, if the
        strides are 1).
      data_format: "channels_last" or "channels_first".
      dilation_rate: distances between the window's elements, in the same form.
      activation: function of the result, or the name of one; None for none.
      use_bias: whether a bias is added.
      kernel_initializer: of the kernel; glorot_uniform by default.
      bias_initializer: of the bias [filters].
      kernel_regularizer: function from the kernel to a loss.
      bias_regularizer: function from the bias to a loss.
      activity_regularizer: function from the output to a loss.
      kernel_constraint: function from the updated kernel to the one to keep.
      bias_constraint: function from the updated bias to the one to keep.
      trainable: whether its variables are trained.
      name: of the layer.

    Raises:
      ValueError: sizes, padding or data format are none.
"""


class Convolution(Layer):
    """What all layers with kernels are; a subclass says over how many axes."""

    CONFIG: tuple[str, ...] = (*SIZES, *ENDS)
    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        self.filters = int(filters)
        self.kernel_size = window_shapes.sizes(kernel_size, self.rank, "kernel_size")
        self.strides = window_shapes.sizes(strides, self.rank, "strides")
        self.dilation_rate = window_shapes.sizes(dilation_rate, self.rank, "dilation_rate")
        self.padding, self.data_format = window_shapes.padding_of(padding), data_format
        self.channels_first = window_shapes.is_first(data_format)
        self.activation, self.use_bias = activation_of(activation), use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias; ValueError if the number of channels is unknown."""
        self._make_kernel(self._channels(input_shape))
        self._make_bias()
        self.built = True

    def _channels(self, input_shape: Any) -> int:
        axis = 1 if self.channels_first else -1
        channels = known_size(self, shape_of_input(input_shape), axis, "channel dimension")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _make_kernel(self, channels: int) -> None:
        self.kernel = self.add_weight(
            "kernel", [*self.kernel_size, channels, self.filters], self._dtype,
            self.kernel_initializer, self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip

    def _make_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.filters], self._dtype, self.bias_initializer,
                self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs`, which have batch and channels besides."""
        if max(self.dilation_rate) > 1 and max(self.strides) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        outputs = with_space_to_batch(
            inputs, list(self.dilation_rate), self.padding, self._convolved, self.kernel_size,
            data_format=window_shapes.layout(self.rank, self.channels_first),
        )  # fmt: skip
        # not that of a subclass, which may count in what it has put around the inputs
        outputs.set_shape(Convolution.compute_output_shape(self, inputs.get_shape()))
        return self._finished(outputs)

    def _attributes(self, padding: str) -> dict[str, Any]:
        first = self.channels_first
        return {
            "strides": window_shapes.with_channels(self.strides, first),
            "padding": padding,
            "data_format": window_shapes.layout(self.rank, first),
        }

    def _convolved(self, inputs: Any, _: int, padding: str) -> Any:
        op = raw.Conv3D if self.rank == 3 else raw.Conv2D
        return op(inputs, self.kernel, **self._attributes(padding))

    def _finished(self, outputs: Any) -> Any:
        """Return the output with bias and activation."""
        return self._activated(self._biased(outputs))

    def _biased(self, outputs: Any) -> Any:
        if not self.use_bias:
            return outputs
        if self.channels_first and len(outputs.plain_shape) == 3:
            return outputs + reshape(self.bias, [1, self.filters, 1])
        return nn.bias_add(outputs, self.bias, "NCHW" if self.channels_first else "NHWC")

    def _activated(self, outputs: Any) -> Any:
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known = shape_of_input(input_shape).as_list()
        inner = known[2:] if self.channels_first else known[1:-1]
        windows = zip(inner, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        outer = [self._length(*window) for window in windows]
        channels = [self.filters]
        around = [*channels, *outer] if self.channels_first else [*outer, *channels]
        return TensorShape([known[0], *around])

    def _length(self, size: int | None, window: int, stride: int, dilation: int) -> int | None:
        if size is None:
            return None
        lost = 0 if self.padding == "SAME" else (window - 1) * dilation
        return (size - lost + stride - 1) // stride


class Conv1D(Convolution):
    """A layer that slides a kernel along [batch, steps, channels]."""

    rank = 1

    def _convolved(self, inputs: Any, _: int, padding: str) -> Any:
        """Return what the kernel gives: as of an image that is one row."""
        row = 2 if self.channels_first else 1
        first = self.channels_first
        with name_scope(None, "conv1d", [inputs]) as scope:
            inputs, kernel = expand_dims(inputs, row), expand_dims(self.kernel, 0)
            outputs = raw.Conv2D(
                inputs, kernel, strides=window_shapes.with_channels((1, *self.strides), first),
                padding=padding, data_format=window_shapes.layout(2, first), name=scope,
            )  # fmt: skip
            return squeeze(outputs, [row])


class Conv2D(Convolution):
    """A layer that slides a kernel over images [batch, rows, columns, channels]."""

    rank = 2


class Conv3D(Convolution):
    """A layer that slides a kernel through volumes [batch, planes, rows, columns, channels]."""

    rank = 3


def _document(layer: type[Convolution], example: str) -> None:
    line, _, printed = example.partition("\n")
    layer.__doc__ = f"""{layer.__doc__}{_ARGUMENTS}
    Example:
      >>> {line}
      {printed}
    """


_document(Conv1D, "layers.Conv1D(5, 3)(zeros([2, 9, 4])).shape.as_list()\n[2, 7, 5]")
_document(Conv2D, "layers.Conv2D(5, 3)(zeros([2, 9, 8, 4])).shape.as_list()\n[2, 7, 6, 5]")
_document(Conv3D, "layers.Conv3D(5, 3)(zeros([2, 9, 8, 7, 4])).shape.as_list()\n[2, 7, 6, 5, 5]")

conv1d = as_function(
    Conv1D, "conv1d", "Return what a new layer `Conv1D` gives for inputs.",
    "layers.conv1d(zeros([2, 9, 4]), 5, 3, 2).shape.as_list()\n[2, 4, 5]",
)  # fmt: skip
conv2d = as_function(
    Conv2D, "conv2d", "Return what a new layer `Conv2D` gives for inputs.",
    "layers.conv2d(zeros([2, 9, 8, 4]), 5, [3, 3], padding='same').shape.as_list()\n[2, 9, 8, 5]",
)  # fmt: skip
conv3d = as_function(
    Conv3D, "conv3d", "Return what a new layer `Conv3D` gives for inputs.",
    "layers.conv3d(zeros([2, 9, 8, 7, 4]), 5, 3).shape.as_list()\n[2, 7, 6, 5, 5]",
)  # fmt: skip
