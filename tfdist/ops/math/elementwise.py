"""Functions of one tensor, element by element: roots, exponentials, trigonometry, rounding.

Each op is one call: name, types, NumPy's function, and a gradient that takes the input x, the
result y and its gradient g.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.autodiff.gradient_utils import conjugate
from tfdist.ops.math import (
    eltwise_onednn,
    exponential_loops,
    exponentials,
    quotients,
    special_kernels,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "digamma",
    "erf", "erfc", "exp", "expm1", "floor", "inv", "is_finite", "is_inf", "is_nan", "lgamma",
    "log", "log1p", "log_sigmoid", "neg", "negative", "reciprocal", "rint", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
]  # fmt: skip

Derivative = Callable[[Any, Any, Any], Any]


def same_shape(x: Shape) -> Shape:
    """Return the shape of the only input: the shape rule of ops that go element by element."""
    return x


def unary(
    name: str,
    types: str,
    kernel: Callable[..., Any],
    gradient: Derivative | None,
    to: str = "T",
    formula: str = "",
) -> OpDef:
    """Define an op that goes over the elements of one input.

    Args:
      name: of the op.
      types: that the input may have.
      kernel: takes an array.
      gradient: takes x, the result y and its gradient g; None if no gradient flows.
      to: type of the result, by default that of the input.
      formula: of an element, see `OpDef.elementwise`; "" for none.
    """
    op_def = OpDef(f"{name}(x: T) -> y: {to} [T: type {{{types}}}]")
    op_def.shape(same_shape)
    op_def.kernel(kernel)
    if formula:
        op_def.elementwise(formula)
    if gradient is None:
        return op_def.not_differentiable()
    op_def.gradient(lambda op, d_y: gradient(op.inputs[0], op.outputs[0], d_y))
    return op_def


# Functions of which 0 is 0, so that of a SparseTensor only the elements change.
_OF_SPARSE = {"erf", "negative", "sign", "sqrt", "square", "tanh"}
_SPARSE_TOO = "; or a SparseTensor, which gives one"


def also_of_sparse(op_def: OpDef, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does what `function` does, and takes a SparseTensor as well.

    Args:
      op_def: of the node that goes over the elements.
      function: of a tensor and the name of the node.
    """

    def either(x: Any, name: str | None = None) -> Any:
        if not isinstance(x, SparseTensor):
            return function(x, name)
        name = name or op_def.name
        x.graph.unique_name(name)  # TensorFlow has tried that name for a dense one before
        return SparseTensor(x.indices, op_def(x.values, name=name), x.dense_shape)

    return either


def _public(
    public: str, op_def: OpDef, meaning: str, argument: str, result: str
) -> Callable[..., Tensor]:
    """Return the public function of a unary op.

    Args:
      public: its name.
      op_def: the op.
      meaning: what it gives for each element.
      argument: of an example.
      result: of that example, as Python prints it.
    """

    def function(x: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(x, name=name)
        return tensor

    if public in _OF_SPARSE:
        function = also_of_sparse(op_def, function)
    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {meaning} of each element of `x`.

    Args:
      x: a tensor, or anything that converts to one{_SPARSE_TOO * (public in _OF_SPARSE)}.
      name: of the node.

    Raises:
      TypeError: there is none for the type of `x`.

    Example:
      >>> Session().run({public}({argument}))
      {result}
    """
    return function


def _through_gradient_op(name: str) -> Derivative:
    """Return the rule of ops whose gradient is an op of its own, of y and its gradient."""
    return lambda x, y, g: getattr(raw, name)(y, g)


def _times(factor: Callable[[Any, Any], Any]) -> Derivative:
    """Return the rule: gradient of y times the derivative at x, conjugated if complex."""
    return lambda x, y, g: raw.Mul(g, conjugate(factor(x, y)), name="mul")


def gradient_op(
    name: str, kernel: Callable[[Any, Any], Any], gradient: Any, formula: str = ""
) -> OpDef:
    """Define a `...Grad` op: of y and its gradient dy it makes the gradient of x.

    Args:
      name: of the op.
      kernel: takes the arrays y (conjugated if complex) and dy.
      gradient: takes y, dy and the result's gradient g, returns the gradients of y and dy.
      formula: of an element, see `OpDef.elementwise`; "" for none.
    """
    op_def = OpDef(f"{name}(y: T, dy: T) -> z: T [T: type {{inexact}}]")
    op_def.shape(lambda y, dy: y)
    op_def.kernel(lambda y, dy: kernel(np.conjugate(y) if y.dtype.kind == "c" else y, dy))
    if formula:
        op_def.elementwise(formula)
    op_def.gradient(lambda op, g: gradient(conjugate(op.inputs[0]), conjugate(op.inputs[1]), g))
    return op_def


_NUMBERS = "inexact,int32,int64"

NEG = unary("Neg", _NUMBERS, operator.neg, lambda x, y, g: raw.Neg(g), formula="-x")
ABS = unary(
    "Abs",
    "floating,int8,int16,int32,int64",
    np.absolute,
    lambda x, y, g: raw.Mul(g, raw.Sign(x), name="mul"),
    formula="abs(x)",
)
SIGN = unary("Sign", _NUMBERS, np.sign, lambda x, y, g: raw.ZerosLike(g, name="zeros"))
SQUARE = unary("Square", _NUMBERS, np.square, _times(lambda x, y: raw.Mul(x, 2.0)), formula="x * x")


SQRT = unary("Sqrt", "inexact", np.sqrt, _through_gradient_op("SqrtGrad"), formula="np.sqrt(x)")
SQRT_GRAD = gradient_op(
    "SqrtGrad",
    lambda y, dy: dy / (y + y),
    lambda y, dy, g: (-(g / y) * (0.5 * dy / y), 0.5 * g / y),
    formula="dy / (y + y)",
)
RSQRT = unary(
    "Rsqrt",
    "inexact",
    lambda x: 1 / np.sqrt(x),
    _through_gradient_op("RsqrtGrad"),
    formula="one / np.sqrt(x)",
)
RSQRT_GRAD = gradient_op(
    "RsqrtGrad",
    lambda y, dy: dy / -2 * (y * y * y),
    lambda y, dy, g: (-1.5 * g * dy * y * y, raw.RsqrtGrad(conjugate(y), g)),
    formula="dy / -two * (y * y * y)",
)
RECIPROCAL = unary(
    "Reciprocal",
    "inexact",
    lambda x: 1 / x,
    _through_gradient_op("ReciprocalGrad"),
    formula="one / x",
)
RECIPROCAL_GRAD = gradient_op(
    "ReciprocalGrad",
    lambda y, dy: -dy * y * y,
    lambda y, dy, g: (-2.0 * g * dy * y, raw.ReciprocalGrad(conjugate(y), g)),
    formula="-dy * y * y",
)
INV_GRAD = gradient_op(
    "InvGrad",
    lambda y, dy: -dy * y * y,
    lambda y, dy, g: (-2.0 * g * dy * y, raw.InvGrad(conjugate(y), g)),
    formula="-dy * y * y",
)
INV = unary(
    "Inv", "inexact", lambda x: 1 / x, _through_gradient_op("ReciprocalGrad"), formula="one / x"
)

EXP = unary("Exp", "inexact", exponentials.exp, _times(lambda x, y: y))
EXPM1 = unary("Expm1", "inexact", np.expm1, _times(lambda x, y: raw.Exp(x)))
LOG = unary("Log", "inexact", np.log, _times(lambda x, y: raw.Reciprocal(x)))
LOG1P = unary(
    "Log1p",
    "inexact",
    exponentials.log1p,
    _times(lambda x, y: raw.Reciprocal(raw.AddV2(1.0, x, name="add"))),
)
SIN = unary("Sin", "inexact", np.sin, _times(lambda x, y: raw.Cos(x)))
COS = unary("Cos", "inexact", np.cos, _times(lambda x, y: raw.Neg(raw.Sin(x))))
TAN = unary("Tan", "inexact", np.tan, _times(lambda x, y: raw.Square(raw.Reciprocal(raw.Cos(x)))))
SINH = unary("Sinh", "inexact", np.sinh, _times(lambda x, y: raw.Cosh(x)))
COSH = unary("Cosh", "inexact", np.cosh, _times(lambda x, y: raw.Sinh(x)))
ASIN = unary("Asin", "inexact", np.arcsin, _times(lambda x, y: raw.Rsqrt(1.0 - raw.Square(x))))
ACOS = unary(
    "Acos", "inexact", np.arccos, _times(lambda x, y: raw.Neg(raw.Rsqrt(1.0 - raw.Square(x))))
)
ATAN = unary("Atan", "inexact", np.arctan, _times(lambda x, y: raw.Reciprocal(1.0 + raw.Square(x))))
ASINH = unary("Asinh", "inexact", np.arcsinh, _times(lambda x, y: raw.Reciprocal(raw.Cosh(y))))
ACOSH = unary("Acosh", "inexact", np.arccosh, _times(lambda x, y: raw.Reciprocal(raw.Sinh(y))))
ATANH = unary(
    "Atanh", "inexact", np.arctanh, _times(lambda x, y: raw.Reciprocal(1.0 - raw.Square(x)))
)
TANH = unary("Tanh", "inexact", exponentials.tanh, _through_gradient_op("TanhGrad"))
TANH.elementwise(exponentials.formula("tanh"), functions={"tanh": quotients.tanh.of_number})


def _tanh_grad(y: Any, dy: Any) -> Any:
    """Return dy * (1 - y * y), made in one piece of memory."""
    product = np.multiply(y, y)
    if not product.ndim:
        return dy * (1 - product)
    np.subtract(1, product, product)
    return np.multiply(dy, product, product)


TANH_GRAD = gradient_op(
    "TanhGrad",
    _tanh_grad,
    lambda y, dy, g: (-2.0 * g * dy * y, raw.TanhGrad(conjugate(y), g)),
    formula="dy * (one - y * y)",
)

SIGMOID = unary("Sigmoid", "inexact", exponentials.sigmoid, _through_gradient_op("SigmoidGrad"))
SIGMOID.elementwise(
    exponentials.formula("sigmoid", most=eltwise_onednn.FEWEST),
    functions={"sigmoid": exponential_loops.sigmoid.of_number},
)


def _sigmoid_grad(y: Any, dy: Any) -> Any:
    """Return dy * y * (1 - y), made in one piece of memory."""
    product = 1 - y
    product *= y
    product *= dy
    return product


SIGMOID_GRAD = gradient_op(
    "SigmoidGrad",
    _sigmoid_grad,
    lambda y, dy, g: (g * dy * (1.0 - 2.0 * y), raw.SigmoidGrad(conjugate(y), g)),
    formula="(one - y) * y * dy",
)
FLOOR = unary("Floor", "floating", np.floor, None)
CEIL = unary("Ceil", "floating", np.ceil, None)
RINT = unary("Rint", "floating", np.rint, None)
ROUND = unary("Round", _NUMBERS, lambda x: x if x.dtype.kind in "iu" else np.rint(x), None)
IS_NAN = unary("IsNan", "floating", np.isnan, None, to="bool")
IS_INF = unary("IsInf", "floating", np.isinf, None, to="bool")
IS_FINITE = unary("IsFinite", "floating", np.isfinite, None, to="bool")


def _from_math(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a kernel that calls a function of the standard library on each element."""
    each = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(each(np.asarray(x, np.float64))).astype(x.dtype)


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # at 0 and the negative integers
        return math.inf


def _by_precision(
    singles: Callable[[Any], Any], doubles: Callable[[float], float]
) -> Callable[[Any], Any]:
    """Return a kernel for arrays of 32 bits or less, and of 64: of these the exact, slow library's.

    Args:
      singles: a function of an array.
      doubles: the same of one number.
    """
    of_each = _from_math(doubles)
    return lambda x: singles(x) if x.ndim and x.dtype.itemsize <= 4 else of_each(x)


_erf = _by_precision(quotients.erf, math.erf)
_erfc = _by_precision(special_kernels.in_parts(special_kernels.complementary_erf), math.erfc)
_lgamma = _by_precision(special_kernels.in_parts(special_kernels.log_of_abs_gamma), _log_gamma)


_SLOPE_AT_0 = 2 / math.sqrt(math.pi)  # of the error function


def _gaussian(scale: float) -> Derivative:
    return _times(lambda x, y: raw.Mul(raw.Exp(raw.Neg(raw.Square(x))), scale))


ERF = unary("Erf", "floating", _erf, _gaussian(_SLOPE_AT_0))
ERFC = unary("Erfc", "floating", _erfc, _gaussian(-_SLOPE_AT_0))
LGAMMA = unary("Lgamma", "floating", _lgamma, _times(lambda x, y: raw.Digamma(x)))
DIGAMMA = unary(
    "Digamma",
    "floating",
    special_kernels.in_parts(special_kernels.digamma),
    _times(lambda x, y: raw.Polygamma(1.0, x)),
)

negative = _public("negative", NEG, "the negative", "[1, -2]", "array([-1,  2], dtype=int32)")
sign = _public("sign", SIGN, "the sign (-1, 0 or 1)", "[-3, 0]", "array([-1,  0], dtype=int32)")
square = _public("square", SQUARE, "the square", "[2, 3]", "array([4, 9], dtype=int32)")
sqrt = _public("sqrt", SQRT, "the square root", "[4.0, 9.0]", "array([2., 3.], dtype=float32)")
rsqrt = _public("rsqrt", RSQRT, "1 / the square root", "4.0", "np.float32(0.5)")
reciprocal = _public("reciprocal", RECIPROCAL, "the reciprocal", "4.0", "np.float32(0.25)")
exp = _public("exp", EXP, "e to the power", "0.0", "np.float32(1.0)")
expm1 = _public("expm1", EXPM1, "exp(x) - 1, exact near 0,", "0.0", "np.float32(0.0)")
log = _public("log", LOG, "the natural logarithm", "1.0", "np.float32(0.0)")
log1p = _public("log1p", LOG1P, "log(1 + x), exact near 0,", "0.0", "np.float32(0.0)")
sin = _public("sin", SIN, "the sine (of radians)", "0.0", "np.float32(0.0)")
cos = _public("cos", COS, "the cosine (of radians)", "0.0", "np.float32(1.0)")
tan = _public("tan", TAN, "the tangent (of radians)", "0.0", "np.float32(0.0)")
asin = _public("asin", ASIN, "the angle (radians) with the sine", "1.0", "np.float32(1.5707964)")
acos = _public("acos", ACOS, "the angle (radians) with the cosine", "1.0", "np.float32(0.0)")
atan = _public("atan", ATAN, "the angle (radians) with the tangent", "0.0", "np.float32(0.0)")
sinh = _public("sinh", SINH, "the hyperbolic sine", "0.0", "np.float32(0.0)")
cosh = _public("cosh", COSH, "the hyperbolic cosine", "0.0", "np.float32(1.0)")
tanh = _public("tanh", TANH, "the hyperbolic tangent", "0.0", "np.float32(0.0)")
asinh = _public("asinh", ASINH, "the inverse hyperbolic sine", "0.0", "np.float32(0.0)")
acosh = _public("acosh", ACOSH, "the inverse hyperbolic cosine", "1.0", "np.float32(0.0)")
atanh = _public("atanh", ATANH, "the inverse hyperbolic tangent", "0.0", "np.float32(0.0)")
sigmoid = _public("sigmoid", SIGMOID, "1 / (1 + exp(-x))", "0.0", "np.float32(0.5)")
floor = _public("floor", FLOOR, "the next integer below", "-1.5", "np.float32(-2.0)")
ceil = _public("ceil", CEIL, "the next integer above", "-1.5", "np.float32(-1.0)")
rint = _public("rint", RINT, "the nearest integer (the even one of two)", "2.5", "np.float32(2.0)")
is_nan = _public("is_nan", IS_NAN, "whether not a number: a test", "1.0", "np.False_")
is_inf = _public("is_inf", IS_INF, "whether infinite: a test", "1.0", "np.False_")
is_finite = _public("is_finite", IS_FINITE, "whether finite: a test", "1.0", "np.True_")
erf = _public("erf", ERF, "the error function", "0.0", "np.float32(0.0)")
erfc = _public("erfc", ERFC, "1 - the error function", "0.0", "np.float32(1.0)")
lgamma = _public("lgamma", LGAMMA, "log |gamma function|", "1.0", "np.float32(0.0)")
digamma = _public("digamma", DIGAMMA, "the derivative of lgamma", "1.0", "np.float32(-0.5772157)")
neg, inv = negative, reciprocal


_abs_of_sparse = also_of_sparse(ABS, ABS)


def abs(x: Any, name: str | None = None) -> Any:
    """Return the absolute value of each element of `x`, a real number for complex ones.

    Args:
      x: a tensor, or anything that converts to one; or a SparseTensor, which gives one.
      name: of the node.

    Example:
      >>> Session().run([abs([-2, 3]), abs(3 + 4j)])
      [array([2, 3], dtype=int32), np.float64(5.0)]
    """
    if isinstance(x, SparseTensor):
        return _abs_of_sparse(x, name)
    with name_scope(name, "Abs", [x]) as scope:
        tensor = convert_to_tensor(x, name="x")
        if tensor.dtype.is_complex:
            return raw.ComplexAbs(tensor, Tout=tensor.dtype.real_dtype, name=scope)
        return ABS(tensor, name=scope)


def round(x: Any, name: str | None = None) -> Tensor:
    """Return each element rounded to the nearest integer, the even one of two.

    Args:
      x: a tensor, or anything that converts to one; integers stay as they are.
      name: of the node.

    Example:
      >>> Session().run(round([0.5, 1.5, 1.6]))
      array([0., 2., 2.], dtype=float32)
    """
    tensor = convert_to_tensor(x, name="x")
    return tensor if tensor.dtype.is_integer else ROUND(tensor, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """Return log(1 / (1 + exp(-x))) of each element, without overflow: -softplus(-x).

    Args:
      x: float tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run(log_sigmoid(-1000.0))
      np.float32(-1000.0)
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        tensor: Tensor = raw.Neg(raw.Softplus(raw.Neg(convert_to_tensor(x, name="x"))), name=scope)
        return tensor
