"""Complex numbers: made of two real tensors, and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.autodiff.gradient_utils import conjugate, sum_to_inputs

__all__ = ["angle", "complex", "complex_abs", "conj", "imag", "real"]

COMPLEX = OpDef(
    "Complex(real: T, imag: T) -> out: Tout "
    "[T: type = float32 {float32,float64}; Tout: type = complex64 {complex}]"
)
COMPLEX.shape(shapes.broadcast)


@COMPLEX.kernel
def complex_kernel(real: Any, imag: Any, *, Tout: DType) -> Any:
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), Tout.as_numpy_dtype)
    out.real, out.imag = real, imag  # real + 1j * imag would lose infinities and signs of 0
    return out


@COMPLEX.gradient
def complex_gradient(op: Any, d_out: Any) -> Any:
    wanted = op.inputs[0].dtype.base_dtype
    parts = raw.Real(d_out, Tout=wanted), raw.Imag(d_out, Tout=wanted)
    x, y = op.inputs
    return sum_to_inputs(x, y, *parts)


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Return complex numbers of real and imaginary parts; the shapes broadcast.

    Args:
      real: tensor of float32 (gives complex64) or float64 (gives complex128).
      imag: of the same type.
      name: of the node.

    Raises:
      TypeError: other types.

    Example:
      >>> Session().run(complex([1.0, 2.0], 3.0))
      array([1.+3.j, 2.+3.j], dtype=complex64)
    """
    real = convert_to_tensor(real, name="real")
    kinds = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
    wanted = kinds.get(real.dtype.base_dtype)
    if wanted is None:
        types = f"{real.dtype.name} {imag.dtype.name}"
        raise TypeError(f"real and imag have incorrect types: {types}, not float32 or 64")
    tensor: Tensor = COMPLEX(real, imag, Tout=wanted, name=name)
    return tensor


def _part(name: str, argument: str, result: str, function: Any) -> OpDef:
    """Define an op that takes something real of complex numbers."""
    op_def = OpDef(
        f"{name}({argument}: T) -> {result}: Tout "
        "[T: type = complex64 {complex}; Tout: type = float32 {float32,float64}]"
    )

    @op_def.shape
    def same_shape(x: Shape) -> Shape:
        return x

    @op_def.kernel
    def part_kernel(x: Any, *, Tout: DType) -> Any:
        return function(x).astype(Tout.as_numpy_dtype, copy=False)

    return op_def


REAL = _part("Real", "input", "output", np.real)
REAL.gradient(lambda op, g: raw.Complex(g, 0.0, Tout=op.inputs[0].dtype.base_dtype))
IMAG = _part("Imag", "input", "output", np.imag)
IMAG.gradient(lambda op, g: raw.Complex(0.0, g, Tout=op.inputs[0].dtype.base_dtype))
ANGLE = _part("Angle", "input", "output", np.angle)
COMPLEX_ABS = _part("ComplexAbs", "x", "y", np.absolute)


def _as_complex(op: Any, real: Any) -> Any:
    return raw.Complex(real, raw.ZerosLike(real), Tout=op.inputs[0].dtype.base_dtype)


@COMPLEX_ABS.gradient
def complex_abs_gradient(op: Any, d_output: Any) -> Any:
    scaled = raw.Mul(_as_complex(op, d_output), op.inputs[0], name="mul")
    return raw.DivNoNan(scaled, _as_complex(op, op.outputs[0]), name="div_no_nan")


@ANGLE.gradient
def angle_gradient(op: Any, d_output: Any) -> Any:
    real_type = d_output.dtype.base_dtype
    (x,) = op.inputs
    turned = raw.Complex(
        raw.Imag(x, Tout=real_type), raw.Real(x, Tout=real_type), Tout=x.dtype.base_dtype
    )
    return raw.Mul(raw.Neg(_as_complex(op, d_output)), raw.Reciprocal(turned), name="mul")


CONJ = OpDef("Conj(input: T) -> output: T [T: type = complex64 {complex}]")
CONJ.shape(lambda input: input)
CONJ.kernel(np.conjugate)
CONJ.gradient(lambda op, d_output: raw.Conj(d_output))


def real(input: Any, name: str | None = None) -> Tensor:
    """Return the real part of each element; a real tensor is returned as it is.

    Example:
      >>> Session().run(real(1 + 2j))
      np.float64(1.0)
    """
    tensor = convert_to_tensor(input, name="input")
    if not tensor.dtype.is_complex:
        return tensor
    return REAL(tensor, Tout=tensor.dtype.real_dtype, name=name)


def imag(input: Any, name: str | None = None) -> Tensor:
    """Return the imaginary part of each element, zeros for a real tensor.

    Example:
      >>> Session().run(imag(1 + 2j))
      np.float64(2.0)
    """
    with name_scope(name, "Imag", [input]) as scope:
        tensor = convert_to_tensor(input, name="input")
        if not tensor.dtype.is_complex:
            return zeros_like(tensor)
        return IMAG(tensor, Tout=tensor.dtype.real_dtype, name=scope)


def conj(x: Any, name: str | None = None) -> Tensor:
    """Return the complex conjugate of each element; a real tensor is returned as it is.

    Example:
      >>> Session().run(conj(1 + 2j))
      np.complex128(1-2j)
    """
    tensor = convert_to_tensor(x, name="x")
    return CONJ(tensor, name=name) if tensor.dtype.is_complex else conjugate(tensor)


def angle(input: Any, name: str | None = None) -> Tensor:
    """Return the angle of each element with the real axis, in radians from -pi to pi.

    Example:
      >>> Session().run(angle(1j))
      np.float64(1.5707963267948966)
    """
    with name_scope(name, "Angle", [input]) as scope:
        tensor = convert_to_tensor(input, name="input")
        if not tensor.dtype.is_complex:
            return zeros_like(tensor)
        return ANGLE(tensor, Tout=tensor.dtype.real_dtype, name=scope)


def complex_abs(x: Any, name: str | None = None) -> Tensor:
    """Return the absolute value of each complex number (`tf.abs` takes them too).

    Example:
      >>> Session().run(complex_abs(3 + 4j))
      np.float64(5.0)
    """
    tensor = convert_to_tensor(x, name="x")
    return COMPLEX_ABS(tensor, Tout=tensor.dtype.real_dtype, name=name)
