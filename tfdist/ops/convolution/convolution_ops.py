"""Convolution of images and volumes: the ops, forwards and backwards.

Conv2D and Conv3D have the same rules, for another number of axes; each comes with an op that leads
its gradient back to the input and one that leads it to the filters. The gradients of these two are
again the other ops of the three: all are linear in both of what they take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.autodiff.gradient_utils import Needed, shape_of
from tfdist.ops.convolution.convolution_rules import (
    Attributes,
    convolution_kernel,
    convolution_shape,
    filter_kernel,
    input_kernel,
    spelled,
)

TWO = (
    "T: type {TYPES}; strides: list(int); use_cudnn_on_gpu: bool = True; "
    "padding: string {SAME,VALID,EXPLICIT}; explicit_paddings: list(int) = []; "
    "data_format: string = 'NHWC' {NHWC,NCHW}; dilations: list(int) = [1, 1, 1, 1]"
)
THREE = (
    "T: type {TYPES}; strides: list(int) >=5; padding: string {SAME,VALID}; "
    "data_format: string = 'NDHWC' {NDHWC,NCDHW}; dilations: list(int) = [1, 1, 1, 1, 1]"
)
_WITH_INTEGERS = "floating,int32"


# the three ops of images


CONV_2D = OpDef(
    f"Conv2D(input: T, filter: T) -> output: T [{TWO.replace('TYPES', _WITH_INTEGERS)}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
CONV_2D_BACKPROP_INPUT = OpDef(
    "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T "
    f"[{TWO.replace('TYPES', _WITH_INTEGERS)}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
CONV_2D_BACKPROP_FILTER = OpDef(
    "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T "
    f"[{TWO.replace('TYPES', 'floating')}]",
    takes_threads="convolutions",
    gives_fresh=True,
)


def _in_two(function: Callable[..., Any], runs: bool = True) -> Callable[..., Any]:
    """Return a rule that takes the attributes of images one by one, for one that takes them all.

    Args:
      function: the rule.
      runs: whether it computes, so that the attributes must be such as kernels take.
    """

    def rule(
        one: Any,
        other: Any,
        *third: Any,
        strides: Any,
        padding: bytes,
        explicit_paddings: Any,
        data_format: bytes,
        dilations: Any,
    ) -> Any:
        attributes = Attributes(strides, padding, data_format, dilations, explicit_paddings)
        return function(one, other, *third, attributes.checked() if runs else attributes)

    return rule


CONV_2D.shape(_in_two(convolution_shape, runs=False))
CONV_2D.kernel(_in_two(convolution_kernel))
CONV_2D_BACKPROP_INPUT.kernel(_in_two(input_kernel))
CONV_2D_BACKPROP_FILTER.kernel(_in_two(filter_kernel))


@CONV_2D_BACKPROP_INPUT.shape
def conv_2d_backprop_input_shape(
    input_sizes: Shape, filter: Shape, out_backprop: Shape, *, input_sizes_partial: Any
) -> Shape:
    return spelled(input_sizes_partial, None, 4)


@CONV_2D_BACKPROP_FILTER.shape
def conv_2d_backprop_filter_shape(
    input: Shape, filter_sizes: Shape, out_backprop: Shape, *, filter_sizes_value: Any
) -> Shape:
    return spelled(filter_sizes_value, None, 4)


# the three of volumes, whose backward ops have two forms: the first takes a tensor for its shape


CONV_3D = OpDef(
    f"Conv3D(input: T, filter: T) -> output: T [{THREE.replace('TYPES', 'floating')}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
CONV_3D_BACKPROP_INPUT_V2 = OpDef(
    "Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T "
    f"[{THREE.replace('TYPES', 'floating')}; Tshape: type = int32 {{index}}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
CONV_3D_BACKPROP_FILTER_V2 = OpDef(
    "Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T "
    f"[{THREE.replace('TYPES', 'floating')}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
LEGACY = THREE.replace("TYPES", "floating").replace(
    "data_format: string = 'NDHWC' {NDHWC,NCDHW}; ", ""
)
CONV_3D_BACKPROP_INPUT = OpDef(
    f"Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> output: T [{LEGACY}]",
    takes_threads="convolutions",
    gives_fresh=True,
)
CONV_3D_BACKPROP_FILTER = OpDef(
    f"Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> output: T [{LEGACY}]",
    takes_threads="convolutions",
    gives_fresh=True,
)


def _in_three(function: Callable[..., Any], runs: bool = True) -> Callable[..., Any]:
    """Return a rule that takes the attributes of volumes one by one, as `_in_two` does."""

    def rule(
        one: Any,
        other: Any,
        *third: Any,
        strides: Any,
        padding: bytes,
        data_format: bytes,
        dilations: Any,
    ) -> Any:
        attributes = Attributes(strides, padding, data_format, dilations)
        return function(one, other, *third, attributes.checked() if runs else attributes)

    return rule


CONV_3D.shape(_in_three(convolution_shape, runs=False))
CONV_3D.kernel(_in_three(convolution_kernel))
CONV_3D_BACKPROP_INPUT_V2.kernel(_in_three(input_kernel))
CONV_3D_BACKPROP_FILTER_V2.kernel(_in_three(filter_kernel))


@CONV_3D_BACKPROP_INPUT_V2.shape
def conv_3d_backprop_input_shape(
    input_sizes: Shape, filter: Shape, out_backprop: Shape, *, input_sizes_partial: Any
) -> Shape:
    return spelled(input_sizes_partial, None, 5)


@CONV_3D_BACKPROP_FILTER_V2.shape
def conv_3d_backprop_filter_shape(
    input: Shape, filter_sizes: Shape, out_backprop: Shape, *, filter_sizes_value: Any
) -> Shape:
    return spelled(filter_sizes_value, None, 5)


@CONV_3D_BACKPROP_INPUT.kernel
def conv_3d_backprop_legacy_input_kernel(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, padding: bytes, dilations: Any
) -> Any:
    attributes = Attributes(strides, padding, b"NDHWC", dilations).checked()
    return input_kernel(input.shape, filter, out_backprop, attributes)


@CONV_3D_BACKPROP_FILTER.kernel
def conv_3d_backprop_legacy_filter_kernel(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, padding: bytes, dilations: Any
) -> Any:
    attributes = Attributes(strides, padding, b"NDHWC", dilations).checked()
    return filter_kernel(input, filter.shape, out_backprop, attributes)


CONV_3D_BACKPROP_INPUT.shape(lambda input, filter, out_backprop: input or (None,) * 5)
CONV_3D_BACKPROP_FILTER.shape(lambda input, filter, out_backprop: filter or (None,) * 5)


# gradients


def linear_gradients(forward: OpDef, to_input: OpDef, to_filter: OpDef) -> None:
    """Register the gradients of three ops, each of which is made of the two others.

    Args:
      forward: of (input, filter).
      to_input: of (input or its sizes, filter, gradient of the output).
      to_filter: of (input, filter or its sizes, gradient of the output).
    """

    @forward.gradient
    def forward_gradient(op: Any, d: Any, *, needed: Needed = (True, True)) -> Any:
        input, filter = op.inputs
        return (
            _backwards(op, to_input)(shape_of(input), filter, d) if needed[0] else None,
            _backwards(op, to_filter)(input, shape_of(filter), d) if needed[1] else None,
        )

    @to_input.gradient
    def to_input_gradient(op: Any, d: Any, *, needed: Needed = (True, True, True)) -> Any:
        _, filter, d_output = op.inputs
        return (
            None,
            _backwards(op, to_filter)(d, shape_of(filter), d_output) if needed[1] else None,
            _backwards(op, forward)(d, filter) if needed[2] else None,
        )

    @to_filter.gradient
    def to_filter_gradient(op: Any, d: Any, *, needed: Needed = (True, True, True)) -> Any:
        input, _, d_output = op.inputs
        return (
            _backwards(op, to_input)(shape_of(input), d, d_output) if needed[0] else None,
            None,
            _backwards(op, forward)(input, d) if needed[2] else None,
        )


def _backwards(op: Any, other: OpDef) -> Callable[..., Any]:
    """Return what adds a node of `other` with the attributes of `op`."""
    shared = set(other.signature.attrs) & set(op.op_def.signature.attrs) - {"T", "Tshape"}
    attrs = {name: op.get_attr(name) for name in shared}
    return lambda *inputs: getattr(raw, other.name)(*inputs, **attrs)


linear_gradients(CONV_2D, CONV_2D_BACKPROP_INPUT, CONV_2D_BACKPROP_FILTER)
linear_gradients(CONV_3D, CONV_3D_BACKPROP_INPUT_V2, CONV_3D_BACKPROP_FILTER_V2)
for _legacy, _current in (
    (CONV_3D_BACKPROP_INPUT, CONV_3D_BACKPROP_INPUT_V2),
    (CONV_3D_BACKPROP_FILTER, CONV_3D_BACKPROP_FILTER_V2),
):
    assert _current.gradient_rule
    _legacy.gradient(_current.gradient_rule)
