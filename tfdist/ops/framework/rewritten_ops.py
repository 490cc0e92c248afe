"""Ops that TensorFlow's master puts in place of those that a user wrote, before tasks get them.

No user writes these; a task meets them when its master is TensorFlow's own. Its optimizer fuses
products of matrices and convolutions with what follows them, and chains of elementwise ops; and
what has no kernel there becomes what has.

Source: op signatures of TensorFlow 2.21; what they compute was found by asking it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import UnimplementedError
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.ops.convolution.convolution_rules import (
    Attributes,
    convolution_kernel,
    convolution_shape,
)
from tfdist.ops.math.matmul import mat_mul_kernel, mat_mul_shape
from tfdist.ops.variables.state_ops import variable_shape

SNAPSHOT = OpDef("Snapshot(input: T) -> output: T [T: type]")
SNAPSHOT.shape(lambda input: input)
SNAPSHOT.kernel(lambda input: input)
SNAPSHOT.gradient(lambda op, d_output: d_output)

FUSED_MAT_MUL = OpDef(
    "_FusedMatMul(a: T, b: T, args: num_args*T) -> product: T "
    "[transpose_a: bool = False; transpose_b: bool = False; "
    "T: type {float16,bfloat16,float32}; num_args: int >=0; fused_ops: list(string) = []; "
    "epsilon: float = 9.999999747378752e-05; leakyrelu_alpha: float = 0.20000000298023224]",
    takes_threads="products",
).not_differentiable()


@FUSED_MAT_MUL.shape
def fused_mat_mul_shape(
    a: Shape, b: Shape, args: list[Shape], *, transpose_a: bool, transpose_b: bool
) -> Shape:
    return mat_mul_shape(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@FUSED_MAT_MUL.kernel
def fused_mat_mul_kernel(
    a: Any,
    b: Any,
    args: list[Any],
    *,
    transpose_a: bool,
    transpose_b: bool,
    fused_ops: Sequence[bytes],
    epsilon: float,
    leakyrelu_alpha: float,
) -> Any:
    value = mat_mul_kernel(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return _followed(value, args, fused_ops, epsilon, leakyrelu_alpha)


# 2.21 has other arguments for other devices; on CPUs these
FUSED_CONV_2D = OpDef(
    "_FusedConv2D(input: T, filter: T, args: num_args*T) -> output: T "
    "[T: type {float16,float32,float64}; num_args: int >=0; strides: list(int); "
    "padding: string {SAME,VALID,EXPLICIT}; explicit_paddings: list(int) = []; "
    "data_format: string = 'NHWC' {NHWC,NCHW}; dilations: list(int) = [1, 1, 1, 1]; "
    "use_cudnn_on_gpu: bool = True; fused_ops: list(string) = []; "
    "epsilon: float = 9.999999747378752e-05; leakyrelu_alpha: float = 0.20000000298023224]",
    takes_threads="convolutions",
).not_differentiable()


@FUSED_CONV_2D.shape
def fused_conv_2d_shape(
    input: Shape,
    filter: Shape,
    args: list[Shape],
    *,
    strides: Any,
    padding: bytes,
    explicit_paddings: Any,
    data_format: bytes,
    dilations: Any,
) -> Shape:
    attributes = Attributes(strides, padding, data_format, dilations, explicit_paddings)
    return convolution_shape(input, filter, attributes)


@FUSED_CONV_2D.kernel
def fused_conv_2d_kernel(
    input: Any,
    filter: Any,
    args: list[Any],
    *,
    strides: Any,
    padding: bytes,
    explicit_paddings: Any,
    data_format: bytes,
    dilations: Any,
    fused_ops: Sequence[bytes],
    epsilon: float,
    leakyrelu_alpha: float,
) -> Any:
    attributes = Attributes(strides, padding, data_format, dilations, explicit_paddings)
    value = convolution_kernel(input, filter, attributes)
    return _followed(value, args, fused_ops, epsilon, leakyrelu_alpha)


def _followed(
    value: Any, args: list[Any], fused_ops: Sequence[bytes], epsilon: float, alpha: float
) -> Any:
    """Return what the fused ops make of a product; channels come last."""
    rest = iter(args)
    for name in fused_ops:
        if name == b"BiasAdd":
            value = value + next(rest)
        elif name == b"FusedBatchNorm":
            scale, offset, mean, variance = (next(rest) for _ in range(4))
            value = (value - mean) * (scale / np.sqrt(variance + epsilon)) + offset
        elif name == b"LeakyRelu":
            value = _kernel("LeakyRelu")(value, alpha=alpha)
        else:
            value = _kernel(name.decode())(value)
    return value


UNARY_OPS_COMPOSITION = OpDef(
    "_UnaryOpsComposition(x: T) -> y: T [T: type {float32,float16,float64}; op_names: list(string)]"
).not_differentiable()
UNARY_OPS_COMPOSITION.shape(lambda x: x)


@UNARY_OPS_COMPOSITION.kernel
def unary_ops_composition_kernel(x: Any, *, op_names: Sequence[bytes]) -> Any:
    for name in op_names:
        x = _kernel(name.decode())(x)
    return x


# `accumulate_n` becomes a variable of one step, to which each input is added as soon as it is there
TEMPORARY_VARIABLE = OpDef(
    "TemporaryVariable() -> ref: Ref(dtype) [shape: shape; dtype: type; var_name: string = ''] !"
).not_differentiable()
TEMPORARY_VARIABLE.shape(variable_shape)


@TEMPORARY_VARIABLE.kernel
def temporary_variable_kernel(ctx: Any) -> Any:
    model = ctx.resource("variable", b"", ctx.own_name(), lambda Variable: Variable(""))
    return type(model)(ctx.node_name)  # two steps at once have one each


DESTROY_TEMPORARY_VARIABLE = OpDef(
    "DestroyTemporaryVariable(ref: Ref(T)) -> value: T [T: type; var_name: string]"
).not_differentiable()
DESTROY_TEMPORARY_VARIABLE.shape(lambda ref: ref)
DESTROY_TEMPORARY_VARIABLE.kernel(lambda ref: ref.read())


def _kernel(name: str) -> Callable[..., Any]:
    """Return the kernel of an op that was fused into another one."""
    if name not in REGISTRY:
        raise UnimplementedError(
            f"{name} was fused with the op before it, and is not there yet; the session can forbid "
            "that: ConfigProto.graph_options.rewrite_options.disable_meta_optimizer"
        )
    return REGISTRY[name].kernels["CPU"].function
