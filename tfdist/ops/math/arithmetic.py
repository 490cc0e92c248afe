"""Arithmetic on two tensors: sums, products, quotients and powers, with broadcasting.

Each op of two inputs is one call: name, types, kernel, and the gradients of x and y in the shape
of the result; what was broadcast is summed afterwards. Kernels of the commonest ops are Python's
operators: on arrays they are NumPy's functions, on single numbers ten times as fast.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.autodiff.gradient_utils import Needed, conjugate, sum_to_inputs
from tfdist.ops.math.narrow_broadcasts import narrow

__all__ = [
    "add", "atan2", "div_no_nan", "floor_div", "floordiv", "floormod", "maximum", "minimum", "mod",
    "mul", "multiply", "multiply_no_nan", "pow", "realdiv", "squared_difference", "sub",
    "subtract", "truncatediv", "truncatemod", "xdivy", "xlogy",
]  # fmt: skip

Partial = Callable[[Any, Any, Any, Any], Any]


def binary(
    name: str, types: str, kernel: Callable[..., Any], d_x: Partial | None, d_y: Partial | None
) -> OpDef:
    """Define an op of two inputs that broadcast.

    Args:
      name: of the op.
      types: that x, y and the result may have.
      kernel: takes two arrays.
      d_x: takes x, y, the result z and its gradient, returns the gradient of x in the shape of
        z; None if no gradient flows.
      d_y: the same for y.
    """
    op_def = OpDef(f"{name}(x: T, y: T) -> z: T [T: type {{{types}}}]")
    op_def.shape(shapes.broadcast)
    op_def.kernel(kernel)
    if d_x is None or d_y is None:
        return op_def.not_differentiable()

    @op_def.gradient
    def gradient(op: Any, d_z: Any, *, needed: Needed = (True, True)) -> Any:
        x, y = op.inputs
        rules = zip((d_x, d_y), needed, strict=True)
        parts = [rule(x, y, op.outputs[0], d_z) if wanted else None for rule, wanted in rules]
        return sum_to_inputs(x, y, *parts)

    return op_def


def _public(
    public: str, op_def: OpDef, formula: str, arguments: str, result: str, node: str | None = None
) -> Callable[..., Tensor]:
    """Return the public function of a binary op.

    Args:
      public: its name.
      op_def: the op.
      formula: what each element of the result is.
      arguments: of an example.
      result: of that example, as Python prints it.
      node: default name of the node; None for the op's own.
    """

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(x, y, name=name or node)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {formula}, element by element; the shapes broadcast.

    Args:
      x: a tensor, or anything that converts to one.
      y: of the same type; a Python number takes the type of the tensor.
      name: of the node.

    Raises:
      TypeError: the types differ; tf.cast converts.
      ValueError: the shapes do not broadcast.

    Example:
      >>> Session().run({public}({arguments}))
      {result}
    """
    return function


# Sets of types: the more recent the op, the more it takes.
_SUMS = "inexact,int8,int16,int32,int64,uint8"
_REAL = "floating,int32,int64"
_NUMBERS = "inexact,int32,int64"


def _floor_divide(x: Any, y: Any) -> Any:
    if y.dtype.kind in "iu":
        return x // _divisor(x, y)
    return np.floor(np.true_divide(x, y))


def _divisor(x: Any, y: Any) -> Any:
    """Return `y`; InvalidArgumentError if something is to be divided by an integer 0."""
    if y.dtype.kind in "iu" and np.count_nonzero(y) < y.size and x.size:
        raise InvalidArgumentError("Integer division by zero")
    return y


def _truncate_divide(x: Any, y: Any) -> Any:
    if y.dtype.kind not in "iu":  # TensorFlow does not truncate these
        return np.true_divide(x, y)
    quotient, rest = np.divmod(x, _divisor(x, y))
    return np.add(quotient, (rest != 0) & ((x < 0) != (y < 0)), dtype=x.dtype)


def _floor_mod(x: Any, y: Any) -> Any:
    return x % _divisor(x, y)


def _truncate_mod(x: Any, y: Any) -> Any:
    return np.fmod(x, _divisor(x, y))


def _power(x: Any, y: Any) -> Any:
    if y.dtype.kind == "i" and (y < 0).any():
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    is_float = isinstance(x, np.ndarray) and x.dtype.kind == "f"
    if is_float and y.size == 1 and float(y.reshape(())).is_integer():
        return _whole_power(x, y)
    return np.power(x, y)


def _whole_power(x: Any, y: Any) -> Any:
    """Return floats to one whole power; NumPy takes 50 times as long where they are negative."""
    if y == 2:
        return np.square(x)
    if y in (3, 4):  # exact to the last bit but one, and five times as fast
        squares = np.square(x)
        return np.multiply(squares, x if y == 3 else squares, out=squares)
    powers = np.power(np.abs(x), y)
    return np.copysign(powers, x) if y % 2 else powers


def _squared_difference(x: Any, y: Any) -> Any:
    difference = np.subtract(x, y)
    other = np.conjugate(difference) if difference.dtype.kind == "c" else difference
    return np.multiply(difference, other)


def _zero_where_zero(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that gives `function`, but 0 where its first argument is 0."""

    def kernel(x: Any, y: Any) -> Any:
        return np.where(x == 0, x.dtype.type(0), function(x, y))

    return kernel


def _multiply_no_nan(x: Any, y: Any) -> Any:
    return np.where(y == 0, y.dtype.type(0), np.multiply(x, y))


def _divide_no_nan(x: Any, y: Any) -> Any:
    return np.where(y == 0, y.dtype.type(0), np.true_divide(x, y))


ADD = binary("Add", f"{_SUMS},string", operator.add, lambda x, y, z, g: g, lambda x, y, z, g: g)
ADD_V2 = binary("AddV2", _SUMS, operator.add, lambda x, y, z, g: g, lambda x, y, z, g: g)
SUB = binary("Sub", "numeric", operator.sub, lambda x, y, z, g: g, lambda x, y, z, g: raw.Neg(g))
MUL = binary(
    "Mul",
    "numeric",
    operator.mul,
    lambda x, y, z, g: raw.Mul(g, conjugate(y)),
    lambda x, y, z, g: raw.Mul(conjugate(x), g),
)
MUL_NO_NAN = binary(
    "MulNoNan",
    "inexact",
    _multiply_no_nan,
    lambda x, y, z, g: raw.MulNoNan(g, y),
    lambda x, y, z, g: raw.MulNoNan(x, g),
)


def _quotient_of_x(x: Any, y: Any, z: Any, g: Any) -> Any:
    return raw.RealDiv(g, conjugate(y))


def _quotient_of_y(x: Any, y: Any, z: Any, g: Any) -> Any:
    return raw.Mul(g, conjugate(raw.RealDiv(raw.Neg(z), y)), name="mul")


DIV = binary("Div", "numeric", _truncate_divide, _quotient_of_x, _quotient_of_y)
REAL_DIV = binary("RealDiv", "inexact", operator.truediv, _quotient_of_x, _quotient_of_y)
DIV_NO_NAN = binary(
    "DivNoNan",
    "inexact",
    _divide_no_nan,
    lambda x, y, z, g: raw.DivNoNan(g, conjugate(y), name="div_no_nan"),
    lambda x, y, z, g: raw.Mul(g, conjugate(raw.DivNoNan(raw.Neg(z), y)), name="mul"),
)
FLOOR_DIV = binary("FloorDiv", "real", _floor_divide, None, None)
TRUNCATE_DIV = binary("TruncateDiv", "real", _truncate_divide, None, None)


def _floor_mod_of_y(x: Any, y: Any, z: Any, g: Any) -> Any:
    return raw.Mul(g, raw.Neg(raw.FloorDiv(x, y)), name="mul")


def _truncate_mod_of_y(x: Any, y: Any, z: Any, g: Any) -> Any:
    # z is x minus a multiple of y: that multiple, which TruncateDiv does not give for floats
    return raw.Mul(g, raw.RealDiv(raw.Sub(z, x), y), name="mul")


FLOOR_MOD = binary("FloorMod", _REAL, _floor_mod, lambda x, y, z, g: g, _floor_mod_of_y)
MOD = binary("Mod", _REAL, _truncate_mod, lambda x, y, z, g: g, _truncate_mod_of_y)
TRUNCATE_MOD = binary("TruncateMod", _REAL, _truncate_mod, lambda x, y, z, g: g, _truncate_mod_of_y)


def _power_of_x(x: Any, y: Any, z: Any, g: Any) -> Any:
    x, y = conjugate(x), conjugate(y)
    scaled = raw.Mul(g, y, name="mul")
    return raw.Mul(scaled, raw.Pow(x, raw.Sub(y, 1.0, name="sub")), name="mul")


def _power_of_y(x: Any, y: Any, z: Any, g: Any) -> Any:
    """Return g * z * log(x), with 0 for log where x has none (z is 0 there, or undefined)."""
    x, z = conjugate(x), conjugate(z)
    has_log = raw.NotEqual(x, 0.0) if x.dtype.is_complex else raw.Greater(x, 0.0)
    log = raw.Log(raw.SelectV2(has_log, x, 1.0))  # log(1) is 0
    return raw.Mul(raw.Mul(g, z, name="mul"), log, name="mul")


POW = binary("Pow", _NUMBERS, _power, _power_of_x, _power_of_y)


def _where(comparison: str, swapped: bool) -> Partial:
    """Return the rule that gives the gradient where x compares so with y (or does not), else 0."""

    def gradient(x: Any, y: Any, z: Any, g: Any) -> Any:
        chosen = getattr(raw, comparison)(x, y)
        return raw.SelectV2(chosen, 0.0, g) if swapped else raw.SelectV2(chosen, g, 0.0)

    return gradient


MAXIMUM = binary(
    "Maximum", _REAL, np.maximum, _where("GreaterEqual", False), _where("GreaterEqual", True)
)
MINIMUM = binary(
    "Minimum", _REAL, np.minimum, _where("LessEqual", False), _where("LessEqual", True)
)
SQUARED_DIFFERENCE = binary(
    "SquaredDifference",
    _NUMBERS,
    _squared_difference,
    lambda x, y, z, g: raw.Mul(raw.Mul(g, 2.0), raw.Sub(x, y, name="sub"), name="mul"),
    lambda x, y, z, g: raw.Mul(raw.Mul(g, 2.0), raw.Sub(y, x, name="sub"), name="mul"),
)
for _op_def, _ufunc in (
    (ADD, np.add), (ADD_V2, np.add), (SUB, np.subtract), (MUL, np.multiply),
    (REAL_DIV, np.true_divide), (MAXIMUM, np.maximum), (MINIMUM, np.minimum),
):  # fmt: skip
    _op_def.specialize(narrow(_ufunc))

for _op_def, _formula in (
    (ADD, "x + y"), (ADD_V2, "x + y"), (SUB, "x - y"), (MUL, "x * y"), (REAL_DIV, "x / y"),
    (SQUARED_DIFFERENCE, "(x - y) * (x - y)"),
):  # fmt: skip
    _op_def.elementwise(_formula, broadcasts=True)

_POWERS = {2.0: "x * x", 3.0: "x * x * x", 4.0: "(x * x) * (x * x)"}  # as `_whole_power` does it


def _power_formula(known: Known) -> str | None:
    exponent = known.values[1]
    return None if exponent is None or np.ndim(exponent) else _POWERS.get(float(exponent))


POW.elementwise(_power_formula, broadcasts=True)

XLOGY = binary(
    "Xlogy",
    "inexact",
    _zero_where_zero(lambda x, y: np.multiply(x, np.log(y))),
    lambda x, y, z, g: raw.Mul(g, raw.Xlogy(_not_zero(x), y), name="mul"),
    lambda x, y, z, g: raw.Mul(g, raw.Xdivy(x, y), name="mul"),
)
XDIVY = binary(
    "Xdivy",
    "inexact",
    _zero_where_zero(np.true_divide),
    lambda x, y, z, g: raw.Mul(g, raw.Xdivy(_not_zero(x), y), name="mul"),
    lambda x, y, z, g: raw.Mul(g, raw.Xdivy(raw.Neg(x), raw.Square(y)), name="mul"),
)


def _not_zero(x: Any) -> Any:
    return raw.Cast(raw.NotEqual(x, 0.0), DstT=x.dtype.base_dtype)


ATAN2 = OpDef("Atan2(y: T, x: T) -> z: T [T: type {floating}]")
ATAN2.shape(shapes.broadcast)
ATAN2.kernel(np.arctan2)


@ATAN2.gradient
def atan2_gradient(op: Any, d_z: Any) -> Any:
    y, x = op.inputs
    scaled = raw.RealDiv(d_z, raw.Add(raw.Square(x), raw.Square(y)))
    return sum_to_inputs(y, x, raw.Mul(x, scaled), raw.Mul(raw.Neg(y), scaled))


add = _public("add", ADD, "x + y", "[1.0, 2.0], 3.0", "array([4., 5.], dtype=float32)")
subtract = _public("subtract", SUB, "x - y", "[1, 2], [3, 5]", "array([-2, -3], dtype=int32)")
multiply = _public("multiply", MUL, "x * y", "[1, 2], 3", "array([3, 6], dtype=int32)")
realdiv = _public("realdiv", REAL_DIV, "x / y of floats", "7.0, 2.0", "np.float32(3.5)")
div_no_nan = _public(
    "div_no_nan",
    DIV_NO_NAN,
    "x / y, or 0 where y is 0",
    "7.0, 0.0",
    "np.float32(0.0)",
    "div_no_nan",
)
multiply_no_nan = _public(
    "multiply_no_nan",
    MUL_NO_NAN,
    "x * y, or 0 where y is 0 even if x is not finite",
    "float('inf'), 0.0",
    "np.float32(0.0)",
    "multiply_no_nan",
)
floordiv = _public("floordiv", FLOOR_DIV, "x / y rounded down", "-7, 2", "np.int32(-4)", "floordiv")
floor_div = _public("floor_div", FLOOR_DIV, "x / y rounded down", "-7, 2", "np.int32(-4)")
truncatediv = _public(
    "truncatediv", TRUNCATE_DIV, "x / y rounded towards 0", "-7, 2", "np.int32(-3)"
)
floormod = _public("floormod", FLOOR_MOD, "the rest of floordiv", "-7, 2", "np.int32(1)")
truncatemod = _public(
    "truncatemod", TRUNCATE_MOD, "the rest of truncatediv", "-7, 2", "np.int32(-1)"
)
pow = _public("pow", POW, "x to the power of y", "[2, 3], 2", "array([4, 9], dtype=int32)")
maximum = _public("maximum", MAXIMUM, "the greater one", "[1, 5], 3", "array([3, 5], dtype=int32)")
minimum = _public("minimum", MINIMUM, "the lesser one", "[1, 5], 3", "array([1, 3], dtype=int32)")
squared_difference = _public(
    "squared_difference", SQUARED_DIFFERENCE, "(x - y) squared", "[1, 5], 3",
    "array([4, 4], dtype=int32)",
)  # fmt: skip
xlogy = _public("xlogy", XLOGY, "x * log(y), or 0 where x is 0", "0.0, 0.0", "np.float32(0.0)")
xdivy = _public("xdivy", XDIVY, "x / y, or 0 where x is 0", "0.0, 0.0", "np.float32(0.0)")
mul, sub, mod = multiply, subtract, floormod


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """Return the angle of each point (x, y) with the x axis, in radians from -pi to pi.

    Args:
      y: float tensor, or anything that converts to one.
      x: of the same type; the shapes broadcast.
      name: of the node.

    Example:
      >>> Session().run(atan2(1.0, -1.0))
      np.float32(2.3561945)
    """
    tensor: Tensor = ATAN2(y, x, name=name)
    return tensor
