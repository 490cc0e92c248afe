"""Special functions: gamma and beta functions, zeta.

Each op is one call: name, kernel, and a gradient that is None for arguments through which none
flows in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.autodiff.gradient_utils import Needed, sum_to_inputs
from tfdist.ops.math import special_kernels
from tfdist.ops.math.arithmetic import div_no_nan

# The others are names of tf.math only.
__all__ = ["betainc", "igamma", "igammac", "lbeta", "polygamma", "zeta"]

Partial = Callable[[Any, Any], Any] | None


def _binary(
    signature: str, kernel: Callable[[Any, Any], Any], d_first: Partial, d_second: Partial
) -> OpDef:
    """Define an op of two float inputs that broadcast.

    Args:
      signature: of the op.
      kernel: takes both arrays, gives float64.
      d_first: takes both tensors, returns the slope along the first one; None if no gradient flows.
      d_second: the same for the second one.
    """
    op_def = OpDef(signature)
    op_def.shape(shapes.broadcast)

    @op_def.kernel
    def in_type(one: Any, other: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(kernel(one, other)).astype(one.dtype)

    if d_first is None and d_second is None:
        return op_def

    @op_def.gradient
    def gradient(op: Any, d_z: Any, *, needed: Needed = (True, True)) -> Any:
        one, other = op.inputs
        rules = zip((d_first, d_second), needed, strict=True)
        slopes = [rule(one, other) if rule and wanted else None for rule, wanted in rules]
        parts = [None if slope is None else raw.Mul(d_z, slope, name="mul") for slope in slopes]
        return sum_to_inputs(one, other, *parts)

    return op_def


_TYPES = "[T: type {float32,float64}]"


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """Return the slope of `igamma` along x: exp(-x) * x**(a - 1) / gamma(a)."""
    power = raw.Mul(raw.Sub(a, 1.0), raw.Log(x), name="mul")
    logarithm = raw.Sub(raw.Sub(power, x), raw.Lgamma(a))
    density: Tensor = raw.Exp(logarithm)
    return density


IGAMMA = _binary(
    f"Igamma(a: T, x: T) -> z: T {_TYPES}",
    special_kernels.igamma,
    lambda a, x: raw.IgammaGradA(a, x),
    _gamma_density,
)
IGAMMAC = _binary(
    f"Igammac(a: T, x: T) -> z: T {_TYPES}",
    special_kernels.igammac,
    lambda a, x: raw.Neg(raw.IgammaGradA(a, x)),
    lambda a, x: raw.Neg(_gamma_density(a, x)),
)
IGAMMA_GRAD_A = _binary(
    f"IgammaGradA(a: T, x: T) -> z: T {_TYPES}", special_kernels.igamma_slope, None, None
)
ZETA = _binary(
    f"Zeta(x: T, q: T) -> z: T {_TYPES}",
    special_kernels.zeta,
    None,
    lambda x, q: raw.Neg(raw.Mul(x, raw.Zeta(raw.AddV2(x, 1.0, name="add"), q), name="mul")),
)
POLYGAMMA = _binary(
    f"Polygamma(a: T, x: T) -> z: T {_TYPES}",
    special_kernels.polygamma,
    None,
    lambda a, x: raw.Polygamma(raw.AddV2(a, 1.0, name="add"), x),
)
NEXT_AFTER = _binary(
    "NextAfter(x1: T, x2: T) -> output: T [T: type = float {double,float}]",
    np.nextafter,
    lambda x1, x2: 1.0,
    lambda x1, x2: 0.0,
)

BETAINC = OpDef(f"Betainc(a: T, b: T, x: T) -> z: T {_TYPES}")


@BETAINC.shape
def betainc_shape(a: Shape, b: Shape, x: Shape) -> Shape:
    """Return the shape of those that are no scalars, which is one."""
    several = [shape for shape in (a, b, x) if shape != ()]
    if not several:
        return ()
    result: Shape = None
    for shape in several:
        result = shapes.merge(result, shape, "shapes of a, b and x")
    return None if any(shape is None for shape in several) else result


@BETAINC.kernel
def betainc_kernel(a: Any, b: Any, x: Any) -> Any:
    several = {each.shape for each in (a, b, x)} - {()}
    if len(several) > 1:
        raise InvalidArgumentError(
            "Shapes of a, b and x are inconsistent: those that are no scalars must be equal, but "
            f"are {', '.join(map(shapes.show, (a.shape, b.shape, x.shape)))}"
        )
    with np.errstate(all="ignore"):
        return np.asarray(special_kernels.betainc(a, b, x)).astype(x.dtype)


@BETAINC.gradient
def betainc_gradient(op: Any, d_z: Any) -> Any:
    """Return the gradient of x; none flows to a and b, as in TensorFlow."""
    a, b, x = op.inputs
    logarithm_of_beta = raw.Sub(
        raw.AddV2(raw.Lgamma(a), raw.Lgamma(b), name="add"), raw.Lgamma(raw.AddV2(a, b, name="add"))
    )
    powers = raw.AddV2(
        raw.Mul(raw.Sub(b, 1.0), raw.Log1p(raw.Neg(x)), name="mul"),
        raw.Mul(raw.Sub(a, 1.0), raw.Log(x), name="mul"),
        name="add",
    )
    slope = raw.Exp(raw.Sub(powers, logarithm_of_beta))
    return None, None, sum_to_inputs(x, d_z, raw.Mul(d_z, slope, name="mul"), None)[0]


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Return the lower regularised incomplete gamma function, element by element.

    Args:
      a: positive floats.
      x: of the same type, not negative; the shapes broadcast.
      name: of the node.

    Returns:
      From 0 to 1; NaN outside of the range of a and x.

    Example:
      >>> Session().run(igamma(1.0, [0.0, 1.0])).round(4)
      array([0.    , 0.6321], dtype=float32)
    """
    tensor: Tensor = IGAMMA(a, x, name=name)
    return tensor


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Return the upper regularised incomplete gamma function, 1 - `igamma`.

    Args:
      a: positive floats.
      x: of the same type, not negative; the shapes broadcast.
      name: of the node.

    Example:
      >>> Session().run(igammac(1.0, [0.0, 1.0])).round(4)
      array([1.    , 0.3679], dtype=float32)
    """
    tensor: Tensor = IGAMMAC(a, x, name=name)
    return tensor


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """Return the regularised incomplete beta function, element by element.

    Args:
      a: positive floats.
      b: positive floats.
      x: from 0 to 1. Of the three, those that are no scalars have one shape.
      name: of the node.

    Returns:
      From 0 to 1; NaN outside of the range.

    Raises:
      ValueError: the shapes differ.

    Example:
      >>> Session().run(betainc(2.0, 1.0, [0.5, 1.0]))
      array([0.25, 1.  ], dtype=float32)
    """
    tensor: Tensor = BETAINC(a, b, x, name=name)
    return tensor


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Return Hurwitz's zeta function: the sum of (q + k)**-x over all k from 0 on.

    Args:
      x: floats greater than 1.
      q: of the same type; the shapes broadcast.
      name: of the node.

    Example:
      >>> Session().run(zeta(2.0, 1.0)).round(4)
      np.float32(1.6449)
    """
    tensor: Tensor = ZETA(x, q, name=name)
    return tensor


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Return the derivative of `tf.digamma` of an order, element by element.

    Args:
      a: the order: floats that are whole numbers, 0 for `tf.digamma` itself.
      x: of the same type; the shapes broadcast.
      name: of the node.

    Example:
      >>> Session().run(polygamma(1.0, 1.0)).round(4)
      np.float32(1.6449)
    """
    tensor: Tensor = POLYGAMMA(a, x, name=name)
    return tensor


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """Return the next number that the type has behind `x1`, in the direction of `x2`.

    Args:
      x1: float32 or float64.
      x2: of the same type; the shapes broadcast.
      name: of the node.

    Example:
      >>> Session().run(math.nextafter(1.0, 2.0))
      np.float32(1.0000001)
    """
    tensor: Tensor = NEXT_AFTER(x1, x2, name=name)
    return tensor


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """Return the logarithm of the multivariate beta function, |Beta(x)|, of the last axis.

    Args:
      x: floats [..., arguments].
      name: of the nodes' scope.

    Returns:
      [...]; -inf where there are no arguments.

    Example:
      >>> Session().run(lbeta([1.0, 1.0]))
      np.float32(0.0)
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        last = np.array([-1], np.int32)
        parts = raw.Sum(raw.Lgamma(x), last)
        whole = raw.Lgamma(raw.Sum(x, last))
        logarithm: Tensor = raw.Sub(parts, whole, name="sub")
        return logarithm


def polyval(coeffs: list[Any], x: Any, name: str | None = None) -> Tensor:
    """Return the value of a polynomial at each element of `x`.

    Args:
      coeffs: a list of coefficients, that of the highest power first: numbers, or tensors that
        broadcast with x.
      x: numbers.
      name: of the nodes' scope.

    Example: 3 + 2 x + x * x
      >>> Session().run(math.polyval([1.0, 2.0, 3.0], 2.0))
      np.float32(11.0)
    """
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x, name=scope)
        tensors = [
            convert_to_tensor(each, x.dtype.base_dtype, name=f"coeff_{i}")
            for i, each in enumerate(coeffs)
        ]
        value = tensors[0]
        for each in tensors[1:]:
            value = raw.AddV2(each, raw.Mul(value, x, name="mul"), name="add")
        return value


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """Return 1 / x, and 0 where x is 0.

    Args:
      x: floats or complex numbers.
      name: of the node.

    Raises:
      TypeError: integers.

    Example:
      >>> Session().run(math.reciprocal_no_nan([0.0, 4.0]))
      array([0.  , 0.25], dtype=float32)
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = convert_to_tensor(np.ones((), x.dtype.as_numpy_dtype), name="one")
        return div_no_nan(one, x, name=scope)
