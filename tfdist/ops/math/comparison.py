"""Comparisons, logic, and the choice between two tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.machine_code import Compiler, MachineCode
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import Known, OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.autodiff.gradient_utils import Needed, sum_to_inputs

__all__ = [
    "approximate_equal", "equal", "greater", "greater_equal", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "select", "where",
    "where_v2",
]  # fmt: skip


def comparison(name: str, signature: str, kernel: Callable[..., Any]) -> OpDef:
    """Define an op that compares two tensors, which broadcast, and gives bools."""
    op_def = OpDef(f"{name}{signature}").not_differentiable()
    op_def.shape(shapes.broadcast)
    op_def.kernel(kernel)
    return op_def


def _public(
    public: str, op_def: OpDef, relation: str, arguments: str, result: str
) -> Callable[..., Tensor]:
    """Return the public function of an op that gives bools."""

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(x, y, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return whether {relation}, element by element; the shapes broadcast.

    Args:
      x: a tensor, or anything that converts to one.
      y: of the same type; a Python number takes the type of the tensor.
      name: of the node.

    Raises:
      TypeError: the types differ.
      ValueError: the shapes do not broadcast.

    Example:
      >>> Session().run({public}({arguments}))
      {result}
    """
    return function


_REAL = "(x: T, y: T) -> z: bool [T: type {real}]"
_ANY = "(x: T, y: T) -> z: bool [T: type; incompatible_shape_error: bool = True]"
_LOGICAL = "(x: bool, y: bool) -> z: bool"

EQUAL = comparison("Equal", _ANY, np.equal)
NOT_EQUAL = comparison("NotEqual", _ANY, np.not_equal)
LESS = comparison("Less", _REAL, operator.lt)
LESS_EQUAL = comparison("LessEqual", _REAL, operator.le)
GREATER = comparison("Greater", _REAL, operator.gt)
GREATER_EQUAL = comparison("GreaterEqual", _REAL, operator.ge)
for _op_def, _formula in (
    (LESS, "x < y"), (LESS_EQUAL, "x <= y"), (GREATER, "x > y"), (GREATER_EQUAL, "x >= y"),
    (EQUAL, "x == y"), (NOT_EQUAL, "x != y"),
):  # fmt: skip
    _op_def.elementwise(_formula, broadcasts=True)

LOGICAL_AND = comparison("LogicalAnd", _LOGICAL, np.logical_and)
LOGICAL_OR = comparison("LogicalOr", _LOGICAL, np.logical_or)

equal = _public("equal", EQUAL, "x == y", "[1, 2], 2", "array([False,  True])")
not_equal = _public("not_equal", NOT_EQUAL, "x != y", "[1, 2], 2", "array([ True, False])")
less = _public("less", LESS, "x < y", "[1, 2], 2", "array([ True, False])")
less_equal = _public("less_equal", LESS_EQUAL, "x <= y", "[2, 3], 2", "array([ True, False])")
greater = _public("greater", GREATER, "x > y", "[2, 3], 2", "array([False,  True])")
greater_equal = _public(
    "greater_equal", GREATER_EQUAL, "x >= y", "[1, 2], 2", "array([False,  True])"
)
logical_and = _public(
    "logical_and", LOGICAL_AND, "x and y", "[True, False], True", "array([ True, False])"
)
logical_or = _public(
    "logical_or", LOGICAL_OR, "x or y", "[True, False], False", "array([ True, False])"
)

LOGICAL_NOT = OpDef("LogicalNot(x: bool) -> y: bool").not_differentiable()
LOGICAL_NOT.shape(lambda x: x)
LOGICAL_NOT.kernel(np.logical_not)


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Return whether not x, element by element.

    Args:
      x: bool tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run(logical_not([True, False]))
      array([False,  True])
    """
    tensor: Tensor = LOGICAL_NOT(x, name=name)
    return tensor


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Return whether one of x and y, but not both, element by element; the shapes broadcast.

    Args:
      x: bool tensor, or anything that converts to one.
      y: bool tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run(logical_xor([True, False], True))
      array([False,  True])
    """
    either, both = LOGICAL_OR(x, y), LOGICAL_AND(x, y)
    tensor: Tensor = LOGICAL_AND(either, LOGICAL_NOT(both), name=name)
    return tensor


APPROXIMATE_EQUAL = OpDef(
    "ApproximateEqual(x: T, y: T) -> z: bool "
    "[T: type {numeric}; tolerance: float = 9.999999747378752e-06]"
).not_differentiable()
APPROXIMATE_EQUAL.checked_shape(shapes.merge)


@APPROXIMATE_EQUAL.kernel
def approximate_equal_kernel(x: Any, y: Any, *, tolerance: float) -> Any:
    return np.less(np.absolute(np.subtract(x, y)), tolerance)


def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5, name: str | None = None) -> Tensor:
    """Return whether |x - y| < tolerance, element by element.

    Args:
      x: a tensor, or anything that converts to one.
      y: of the same type and shape.
      tolerance: in the unit of x and y.
      name: of the node.

    Example:
      >>> Session().run(approximate_equal([1.0, 2.0], [1.1, 2.0], tolerance=0.01))
      array([False,  True])
    """
    tensor: Tensor = APPROXIMATE_EQUAL(x, y, tolerance=tolerance, name=name)
    return tensor


SELECT = OpDef("Select(condition: bool, t: T, e: T) -> output: T [T: type]")


@SELECT.shape
def select_shape(condition: Shape, t: Shape, e: Shape) -> Shape:
    shape = shapes.merge(t, e, "the shapes of t and e")
    if condition is None or shape is None or len(condition) == 0:
        return shape
    if len(condition) == 1 and len(shape) > 1:  # chooses whole rows
        shapes.merge(condition, shape[:1], "condition and rows")
        return shape
    shapes.merge(shape, condition, "the shapes of t and condition")
    return shape


@SELECT.kernel
def select_kernel(condition: Any, t: Any, e: Any) -> Any:
    _check_same(t, e)
    if not condition.ndim:
        return t if condition else e
    if condition.ndim == 1 and t.ndim > 1:
        _check_rows(condition, t)
        condition = condition.reshape(-1, *(1,) * (t.ndim - 1))
    elif condition.shape != t.shape:
        raise InvalidArgumentError(
            "Inputs to operation Select of type Select must have the same size and shape.  Input "
            f"0: {shapes.brackets(condition.shape)} != input 1: {shapes.brackets(t.shape)}"
        )
    return chosen(condition, t, e)


_MANY = 1024  # elements, from which on it counts how they are chosen
_WHOLE_NUMBERS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def chosen(condition: Any, t: Any, e: Any) -> Any:
    """Return what `np.where` does: by bits, for a processor guesses half of random ones wrongly.

    Args:
      condition: bool.
      t: an array.
      e: an array or a number.
    """
    bits = _WHOLE_NUMBERS.get(t.itemsize)
    is_plain = t.size > _MANY and t.dtype == e.dtype and t.dtype.kind != "O"
    fits = condition.shape == t.shape and e.shape in (t.shape, ())
    if not (bits and is_plain and fits and t.flags.c_contiguous and e.flags.c_contiguous):
        return np.where(condition, t, e)
    is_true = condition.view(np.int8)  # as raw bytes a bool may be 2
    write = _CODES[bits].instead_of(_CALL + _NUMBER * t.size) if type(t) is np.ndarray else None
    if write is not None:
        made = np.empty_like(t)
        arrays = made.view(bits), is_true, t.view(bits), e.view(bits)
        write(*(each.reshape(-1) for each in arrays))
        return made
    mask = np.negative((is_true != 0).view(np.int8)).astype(bits)  # all bits or none
    other = e.view(bits)
    made = np.bitwise_xor(t.view(bits), other)
    made &= mask
    made ^= other
    return made.view(t.dtype)


def _write_chosen(made: Any, condition: Any, t: Any, e: Any) -> None:
    # Both are read, whichever is taken: a read that depends on the condition is a branch wherever
    # the processor has no masked reads.
    if e.size == made.size:
        for i in range(made.size):
            one, other = t[i], e[i]
            made[i] = one if condition[i] else other
    else:
        other = e[0]
        for i in range(made.size):
            one = t[i]
            made[i] = one if condition[i] else other


def _machine_code(bits: Any) -> MachineCode:
    """Return what writes one of two arrays' elements each, or of an array's and a number."""

    def compile(compiler: Compiler) -> Any:
        given = compiler.read(np.int8), compiler.read(bits), compiler.read(bits)
        return compiler.procedure(_write_chosen, compiler.written(bits), *given)

    return MachineCode(compile)


_CODES = {bits: _machine_code(bits) for bits in _WHOLE_NUMBERS.values()}
_CALL, _NUMBER = 5_000, 1  # nanoseconds that NumPy takes, and for each element


def _check_same(t: Any, e: Any) -> None:
    if np.shape(t) != np.shape(e):
        raise InvalidArgumentError(
            "Inputs to operation Select of type Select must have the same size and shape.  Input "
            f"0: {shapes.brackets(np.shape(t))} != input 2: {shapes.brackets(np.shape(e))}"
        )


def _check_rows(condition: Any, t: Any) -> None:
    if len(condition) != len(t):
        raise InvalidArgumentError(
            "Number of batches of 'then' must match size of 'cond', but saw: "
            f"{len(t)} vs. {len(condition)}"
        )


def _select_formula(known: Known) -> str | None:
    return "t if condition else e" if known.shapes[0] else None  # a scalar chooses a whole tensor


SELECT.elementwise(_select_formula)


@SELECT.gradient
def select_gradient(op: Any, d_output: Any, *, needed: Needed = (True, True, True)) -> Any:
    condition, zeros = op.inputs[0], raw.ZerosLike(d_output, name="zeros_like")
    d_t = raw.Select(condition, d_output, zeros) if needed[1] else None
    d_e = raw.Select(condition, zeros, d_output) if needed[2] else None
    return None, d_t, d_e


SELECT_V2 = OpDef("SelectV2(condition: bool, t: T, e: T) -> output: T [T: type]")


@SELECT_V2.shape
def select_v2_shape(condition: Shape, t: Shape, e: Shape) -> Shape:
    return shapes.broadcast(condition, shapes.broadcast(t, e))


@SELECT_V2.kernel
def select_v2_kernel(condition: Any, t: Any, e: Any) -> Any:
    if not np.ndim(t) or not hasattr(e, "dtype"):  # a bare string has none
        return np.where(condition, t, e)
    return chosen(condition, t, e)


SELECT_V2.elementwise("t if condition else e", broadcasts=True)


@SELECT_V2.gradient
def select_v2_gradient(op: Any, d_output: Any, *, needed: Needed = (True, True, True)) -> Any:
    condition, t, e = op.inputs
    result = op.outputs[0]
    d_t = d_e = None
    if needed[1]:
        d_t, _ = sum_to_inputs(t, result, raw.SelectV2(condition, d_output, 0.0), None)
    if needed[2]:
        d_e, _ = sum_to_inputs(e, result, raw.SelectV2(condition, 0.0, d_output), None)
    return None, d_t, d_e


WHERE = OpDef("Where(input: T) -> index: int64 [T: type = bool]").not_differentiable()


@WHERE.shape
def where_shape(input: Shape) -> Shape:
    return (None, None if input is None else len(input))


@WHERE.kernel
def where_kernel(input: Any) -> Any:
    if not input.ndim:
        return np.zeros((int(bool(input)), 0), np.int64)
    return np.argwhere(input).astype(np.int64, copy=False)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Return `x` where `condition` holds and `y` elsewhere; alone, where `condition` holds.

    Args:
      condition: bool tensor of the shape of x, of rank 0, or of rank 1 to choose whole rows.
        With x and y left out, any tensor of numbers: not 0 is true.
      x: a tensor, or anything that converts to one.
      y: of the type and shape of x.
      name: of the node.

    Returns:
      A tensor like x and y; without them int64 [number of true elements, rank of condition],
      the coordinates of the true elements in row-major order.

    Raises:
      ValueError: only one of x and y is given, or the shapes do not fit.

    Example:
      >>> Session().run(where([True, False], [1, 2], [3, 4]))
      array([1, 4], dtype=int32)
      >>> Session().run(where([[False, True], [True, False]]))
      array([[0, 1],
             [1, 0]])
    """
    return _where(SELECT, condition, x, y, name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Return `x` where `condition` holds and `y` elsewhere; all three broadcast.

    Args:
      condition: bool tensor, or anything that converts to one.
      x: a tensor; left out together with y for the coordinates of the true elements.
      y: of the same type.
      name: of the node.

    Raises:
      ValueError: only one of x and y is given, or the shapes do not broadcast.

    Example:
      >>> Session().run(where_v2([True, False], [1, 2], 0))
      array([1, 0], dtype=int32)
    """
    return _where(SELECT_V2, condition, x, y, name)


def _where(select_op: OpDef, condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        with name_scope(name, "Where", [condition]) as scope:
            tensor: Tensor = WHERE(convert_to_tensor(condition, name="condition"), name=scope)
            return tensor
    chosen: Tensor = select_op(condition, x, y, name=name)
    return chosen


def select(condition: Any, t: Any, e: Any, name: str | None = None) -> Tensor:
    """Return `t` where `condition` holds and `e` elsewhere: the old spelling of `where`.

    Example:
      >>> Session().run(select([True, False], [1, 2], [3, 4]))
      array([1, 4], dtype=int32)
    """
    chosen: Tensor = SELECT(condition, t, e, name=name)
    return chosen
