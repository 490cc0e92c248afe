"""Convolutions of each channel alone, and of each place by a kernel of its own.

Source: TF 1.15 API documentation, tf.keras.layers.SeparableConv2D and its relatives.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.keras_impl import constraints, initializers, regularizers
from tfdist.keras_impl.engine.argument_names import given
from tfdist.keras_impl.engine.layer import Layer
from tfdist.models.layers import convolutional, transposed_separable, window_shapes
from tfdist.models.layers.base import shape_of_input
from tfdist.models.layers.convolutional import SIZES
from tfdist.models.layers.input_spec import InputSpec

__all__ = [
    "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D",
    "SeparableConvolution2D",
]  # fmt: skip

_PARTS = ("depthwise", "pointwise", "bias", "kernel")
_KINDS = ("initializer", "regularizer", "constraint")


class _Separable:
    """What separable convolutions of tf.keras share, besides those of tf.layers."""

    CONFIG: tuple[str, ...] = (
        *SIZES, "depth_multiplier", "activation", "use_bias",
        *(f"{part}_{kind}" for kind in _KINDS for part in _PARTS),
        "activity_regularizer",
    )  # fmt: skip

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **options: Any,
    ) -> None:
        found = given(locals())
        kernel = {kind: found.pop(f"kernel_{kind}", None) for kind in _KINDS}
        super().__init__(**found)
        # Accepted and told, as their configurations have them, though not used.
        self.kernel_initializer = initializers.get(kernel["initializer"] or "glorot_uniform")
        self.kernel_regularizer = regularizers.get(kernel["regularizer"])
        self.kernel_constraint = constraints.get(kernel["constraint"])
        for part in ("depthwise", "pointwise"):
            for kind in _KINDS:
                setattr(self, f"{part}_{kind}", found[f"{part}_{kind}"])


class SeparableConv1D(_Separable, transposed_separable.SeparableConv1D, Layer):
    """A layer that slides a kernel along each channel, then mixes channels.

    The arguments are those of `SeparableConv2D`.

    Example:
      >>> keras.layers.SeparableConv1D(5, 3)(zeros([2, 9, 4])).shape.as_list()
      [2, 7, 5]
    """


class SeparableConv2D(_Separable, transposed_separable.SeparableConv2D, Layer):
    """A layer that slides a kernel over each channel of images, then mixes channels.

    `depth_multiplier` is the number of kernels for each channel; `depthwise_...` is about those
    kernels [rows, columns, channels, multiplier], `pointwise_...` about the one that mixes. The
    other arguments are those of `Conv2D`.

    Example:
      >>> keras.layers.SeparableConv2D(5, 3)(zeros([2, 9, 8, 4])).shape.as_list()
      [2, 7, 6, 5]
    """


class DepthwiseConv2D(convolutional.Conv2D, Layer):
    """A layer that slides kernels over each channel of images.

    `depth_multiplier` is the number of kernels for each channel; `depthwise_...` is about those
    kernels [rows, columns, channels, multiplier]. The other arguments are those of `Conv2D`.

    Example:
      >>> keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(zeros([2, 9, 8, 4])).shape.as_list()
      [2, 7, 6, 8]
    """

    CONFIG = (
        "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
        "use_bias", "bias_initializer", "bias_regularizer", "activity_regularizer",
        "bias_constraint", "depth_multiplier", "depthwise_initializer", "depthwise_regularizer",
        "depthwise_constraint",
    )  # fmt: skip

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **options: Any,
    ) -> None:
        found = given(locals())
        self.depth_multiplier = found.pop("depth_multiplier")
        own = {kind: found.pop(f"depthwise_{kind}") for kind in _KINDS}
        super().__init__(0, **found)
        self.depthwise_initializer = own["initializer"]
        self.depthwise_regularizer = own["regularizer"]
        self.depthwise_constraint = own["constraint"]
        self.depthwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        """Make kernels and bias; ValueError if the number of channels is unknown."""
        channels = self._channels(input_shape)
        self.filters = channels * self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], self._dtype,
            self.depthwise_initializer, self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )  # fmt: skip
        self._make_bias()
        self.input_spec = InputSpec(ndim=4, axes={1 if self.channels_first else -1: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the output for `inputs` [batch, rows, columns, channels]."""
        first = self.channels_first
        outputs = raw.DepthwiseConv2dNative(
            inputs, self.depthwise_kernel, strides=window_shapes.with_channels(self.strides, first),
            dilations=window_shapes.with_channels(self.dilation_rate, first), padding=self.padding,
            data_format=window_shapes.layout(2, first), name="depthwise",
        )  # fmt: skip
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Return the shape of the output for inputs of a shape."""
        channels = shape_of_input(input_shape).as_list()[1 if self.channels_first else -1]
        self.filters = None if channels is None else channels * self.depth_multiplier  # type: ignore[assignment]
        return super().compute_output_shape(input_shape)


SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
