"""Transposed and separable convolutions.

Source: TF 1.15 API documentation, tf.layers.conv2d_transpose, tf.layers.separable_conv2d.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.models.layers import window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.convolutional import ENDS, SIZES, Convolution
from tfdist.models.layers.defaults import ZEROS
from tfdist.models.layers.window_shapes import as_function
from tfdist.ops.array.concat import stack
from tfdist.ops.array.reshape import expand_dims, squeeze
from tfdist.ops.array.shape import shape
from tfdist.ops.convolution.dilated import separable_conv2d as separable_conv2d_op

__all__ = [
    "Conv2DTranspose", "Conv3DTranspose", "SeparableConv1D", "SeparableConv2D",
    "conv2d_transpose", "conv3d_transpose", "separable_conv1d", "separable_conv2d",
]  # fmt: skip


class _Transposed(Convolution):
    """What transposed convolutions share: the output is as large as such an input would be."""

    CONFIG: tuple[str, ...] = (*SIZES[:5], *ENDS)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
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
        super().__init__(
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **options,
        )  # fmt: skip

    def _make_kernel(self, channels: int) -> None:
        self.kernel = self.add_weight(
            "kernel", [*self.kernel_size, self.filters, channels], self._dtype,
            self.kernel_initializer, self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs`, which have batch and channels besides."""
        given: Any = shape(inputs)
        batch = given[0]
        start = 2 if self.channels_first else 1
        inner = [given[start + axis] for axis in range(self.rank)]
        outer = self._lengths(inner)
        channels = [self.filters]
        around = [*channels, *outer] if self.channels_first else [*outer, *channels]
        sizes: Any = stack([batch, *around])
        if self.rank == 2:
            sizes[0]  # a node that nothing uses; 1.15 has it, and later seeds count nodes
        outputs = self._spread(sizes, inputs)
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return self._finished(outputs)

    def _lengths(self, inner: list[Any]) -> list[Any]:
        lengths = []
        for size, window, stride in zip(inner, self.kernel_size, self.strides, strict=True):
            length = None if size is None else size * stride
            if self.padding == "VALID" and length is not None:
                length = length + max(window - stride, 0)
            lengths.append(length)
        return lengths

    def _spread(self, sizes: Any, inputs: Any) -> Any:
        op = raw.Conv2DBackpropInput if self.rank == 2 else raw.Conv3DBackpropInputV2
        attributes = self._attributes(self.padding)
        return op(sizes, self.kernel, inputs, **attributes, name=f"conv{self.rank}d_transpose")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        known = shape_of_input(input_shape).as_list()
        inner = known[2:] if self.channels_first else known[1:-1]
        channels = [self.filters]
        outer = self._lengths(inner)
        around = [*channels, *outer] if self.channels_first else [*outer, *channels]
        return TensorShape([known[0], *around])


class Conv2DTranspose(_Transposed):
    """A layer that is the gradient of `Conv2D`: each input is spread over a window.

    The arguments are those of `Conv2D`, without dilation_rate.

    Example:
      >>> layers.Conv2DTranspose(5, 3, 2, "same")(zeros([2, 4, 3, 6])).shape.as_list()
      [2, 8, 6, 5]
    """

    rank = 2


class Conv3DTranspose(_Transposed):
    """A layer that is the gradient of `Conv3D`: each input is spread over a window.

    The arguments are those of `Conv3D`, without dilation_rate.

    Example:
      >>> layers.Conv3DTranspose(5, 3, 2, "same")(zeros([2, 4, 3, 2, 6])).shape.as_list()
      [2, 8, 6, 4, 5]
    """

    rank = 3


conv2d_transpose = as_function(
    Conv2DTranspose, "conv2d_transpose",
    "Return what a new layer `Conv2DTranspose` gives for inputs.",
    "layers.conv2d_transpose(zeros([2, 4, 3, 6]), 5, 3, 2).shape.as_list()\n[2, 9, 7, 5]",
)  # fmt: skip
conv3d_transpose = as_function(
    Conv3DTranspose, "conv3d_transpose",
    "Return what a new layer `Conv3DTranspose` gives for inputs.",
    "layers.conv3d_transpose(zeros([2, 4, 3, 2, 6]), 5, 3, 2).shape.as_list()\n[2, 9, 7, 5, 5]",
)  # fmt: skip


class _Separable(Convolution):
    """What separable convolutions share: each channel alone, then all of them at each place."""

    CONFIG: tuple[str, ...] = (
        *SIZES, "depth_multiplier", "activation", "use_bias", "depthwise_initializer",
        "pointwise_initializer", "bias_initializer", "depthwise_regularizer",
        "pointwise_regularizer", "bias_regularizer", "activity_regularizer",
        "depthwise_constraint", "pointwise_constraint", "bias_constraint",
    )  # fmt: skip

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, None, bias_initializer, None, bias_regularizer, activity_regularizer, None,
            bias_constraint, trainable, name, **options,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer, self.pointwise_initializer = (
            depthwise_initializer, pointwise_initializer,
        )  # fmt: skip
        self.depthwise_regularizer, self.pointwise_regularizer = (
            depthwise_regularizer, pointwise_regularizer,
        )  # fmt: skip
        self.depthwise_constraint, self.pointwise_constraint = (
            depthwise_constraint, pointwise_constraint,
        )  # fmt: skip
        self._depthwise = depthwise_initializer, depthwise_regularizer, depthwise_constraint
        self._pointwise = pointwise_initializer, pointwise_regularizer, pointwise_constraint
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def _make_kernel(self, channels: int) -> None:
        initializer, regularizer, constraint = self._depthwise
        shape = [*self.kernel_size, channels, self.depth_multiplier]
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", shape, self._dtype, initializer, regularizer,
            constraint=constraint,
        )  # fmt: skip
        initializer, regularizer, constraint = self._pointwise
        shape = [*(1,) * self.rank, channels * self.depth_multiplier, self.filters]
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", shape, self._dtype, initializer, regularizer,
            constraint=constraint,
        )  # fmt: skip

    def _separated(
        self, inputs: Any, depthwise: Any, pointwise: Any, strides: Any, dilations: Any
    ) -> Any:
        return separable_conv2d_op(
            inputs, depthwise, pointwise, window_shapes.with_channels(strides, self.channels_first),
            self.padding, dilations, data_format=window_shapes.layout(2, self.channels_first),
        )  # fmt: skip


class SeparableConv2D(_Separable):
    """A layer that slides a kernel over each channel of images, then mixes channels.

    `depth_multiplier` is the number of kernels for each channel; `depthwise_...` is about those
    kernels [rows, columns, channels, multiplier], `pointwise_...` about the one that mixes. The
    other arguments are those of `Conv2D`.

    Example:
      >>> layers.SeparableConv2D(5, 3)(zeros([2, 9, 8, 4])).shape.as_list()
      [2, 7, 6, 5]
    """

    rank = 2

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs` [batch, rows, columns, channels]."""
        outputs = self._separated(
            inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides, self.dilation_rate
        )
        return self._finished(outputs)


class SeparableConv1D(_Separable):
    """A layer that slides a kernel along each channel, then mixes channels.

    The arguments are those of `SeparableConv2D`.

    Example:
      >>> layers.SeparableConv1D(5, 3)(zeros([2, 9, 4])).shape.as_list()
      [2, 7, 5]
    """

    rank = 1

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs` [batch, steps, channels]: as of images of one row."""
        row = 2 if self.channels_first else 1
        # the op wants equal steps along both axes; a row of one is left as it is by any
        outputs = self._separated(
            expand_dims(inputs, row), expand_dims(self.depthwise_kernel, 0),
            expand_dims(self.pointwise_kernel, 0), self.strides * 2, (1, *self.dilation_rate),
        )  # fmt: skip
        return self._activated(squeeze(self._biased(outputs), [row]))


separable_conv1d = as_function(
    SeparableConv1D, "separable_conv1d",
    "Return what a new layer `SeparableConv1D` gives for inputs.",
    "layers.separable_conv1d(zeros([2, 9, 4]), 5, 3).shape.as_list()\n[2, 7, 5]",
)  # fmt: skip
separable_conv2d = as_function(
    SeparableConv2D, "separable_conv2d",
    "Return what a new layer `SeparableConv2D` gives for inputs.",
    "layers.separable_conv2d(zeros([2, 9, 8, 4]), 5, 3).shape.as_list()\n[2, 7, 6, 5]",
)  # fmt: skip
