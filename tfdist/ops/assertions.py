"""Assertions on values, ranks and types: what is known is checked at once, the rest as it runs.

An assertion gives an operation, which has an effect where something waits for it:

    with tf.control_dependencies([tf.assert_positive(x)]):
        y = tf.log(x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor, constant_value
from tfdist.graph.scopes import colocate_with, name_scope
from tfdist.ops import elementwise, shaping
from tfdist.ops.control import Assert, no_op, with_dependencies
from tfdist.ops.reductions import reduce_all

__all__ = [
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable",
    "assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype",
    "assert_scalar", "assert_type", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "verify_tensor_all_finite",
]  # fmt: skip


# what a failure shows


def _shown(message: str | None, data: Any, otherwise: Callable[[], list[Any]]) -> list[Any]:
    """Return the message, if there is one, and `data` or what `otherwise` gives."""
    return ([message] if message else []) + list(otherwise() if data is None else data)


def _named(**tensors: Tensor) -> list[Any]:
    """Return tensors, each behind the argument that it is and its own name."""
    pairs = [(f"{label} ({each.name}) = ", each) for label, each in tensors.items()]
    return [part for pair in pairs for part in pair]


def _text(part: Any) -> str:
    """Return a part of what is shown as text: of a tensor its value if that is known."""
    value = constant_value(part) if isinstance(part, Tensor) else part
    return part.name if value is None else str(value)


def _prefix(message: str | None, mark: str) -> str:
    return f"{message}{mark}  " if message else ""


# relations between two tensors


class _Relation(NamedTuple):
    """What must hold: how it is written, the op that finds out, and the same for arrays."""

    symbol: str
    op: str
    holds: Callable[..., Any]


_EQUAL = _Relation("==", "Equal", np.equal)
_NOT_EQUAL = _Relation("!=", "NotEqual", np.not_equal)
_LESS = _Relation("<", "Less", np.less)
_LESS_EQUAL = _Relation("<=", "LessEqual", np.less_equal)
_GREATER = _Relation(">", "Greater", np.greater)
_GREATER_EQUAL = _Relation(">=", "GreaterEqual", np.greater_equal)


def _assertion(public: str, relation: _Relation, example: str) -> Callable[..., Operation]:
    """Return the public function that asserts a relation; `example` does not fulfil it."""

    def function(
        x: Any, y: Any, data: Any = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ) -> Operation:  # fmt: skip
        with name_scope(name, public, [x, y]):
            return _relate(relation, x, y, data, summarize, message)

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return an operation that fails unless x {relation.symbol} y everywhere.

    The shapes broadcast. Where there is no element, all fulfil it.

    Args:
      x: a tensor, or anything that converts to one.
      y: of the same type.
      data: list of tensors to show in the error; by default x and y.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      InvalidArgumentError: it does not hold: at once if both values are known when the graph is
        built, otherwise when the operation runs.

    Example:
      >>> {public}({example})  # doctest: +ELLIPSIS
      Traceback (most recent call last):
      tfdist.errors.InvalidArgumentError: Condition x {relation.symbol} y did not hold element-wise:
      ...
    """
    return function


def _relate(
    relation: _Relation, x: Any, y: Any, data: Any, summarize: int | None, message: str | None
) -> Operation:
    x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
    broken = f"Condition x {relation.symbol} y did not hold element-wise:"
    shown = _shown(message, data, lambda: [broken, *_named(x=x, y=y)])
    holds = reduce_all(getattr(raw, relation.op)(x, y))
    x_value, y_value = constant_value(x), constant_value(y)
    if x_value is not None and y_value is not None:
        if not np.all(relation.holds(x_value, y_value)):
            raise InvalidArgumentError("\n".join(map(_text, shown)))
    return Assert(holds, shown, summarize=summarize)


_assert_equal = _assertion("assert_equal", _EQUAL, "[1, 2], [1, 3]")
assert_none_equal = _assertion("assert_none_equal", _NOT_EQUAL, "[1, 2], [3, 2]")
assert_less = _assertion("assert_less", _LESS, "[1, 2], 2")
assert_less_equal = _assertion("assert_less_equal", _LESS_EQUAL, "[1, 2], 1")
assert_greater = _assertion("assert_greater", _GREATER, "[1, 2], 1")
assert_greater_equal = _assertion("assert_greater_equal", _GREATER_EQUAL, "[1, 2], 2")


def assert_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    with name_scope(name, "assert_equal", [x, y]):  # TensorFlow opens it twice: names tell
        if x is y:
            return no_op("NoOp")
    return _assert_equal(x, y, data, summarize, message, name)


assert_equal.__doc__ = _assert_equal.__doc__


# signs


def _sign_assertion(public: str, symbol: str, example: str) -> Callable[..., Operation]:
    """Return the public function that asserts `x symbol 0`; `example` does not fulfil it."""

    def function(
        x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
        name: str | None = None,
    ) -> Operation:  # fmt: skip
        with name_scope(name, public, [x]):
            x = convert_to_tensor(x, name="x")
            zero = convert_to_tensor(0, x.dtype.base_dtype, "Const")
            broken = f"Condition x {symbol} 0 did not hold element-wise:"
            shown = _shown(message, data, lambda: [broken, *_named(x=x)])
            low, high = (zero, x) if symbol[0] == ">" else (x, zero)
            less = assert_less_equal if symbol[-1] == "=" else assert_less
            return less(low, high, data=shown, summarize=summarize)

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return an operation that fails unless x {symbol} 0 everywhere.

    Args:
      x: a tensor of real numbers, or anything that converts to one.
      data: list of tensors to show in the error; by default x.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      InvalidArgumentError: it does not hold: at once if x is known when the graph is built,
        otherwise when the operation runs.

    Example:
      >>> {public}({example})  # doctest: +ELLIPSIS
      Traceback (most recent call last):
      tfdist.errors.InvalidArgumentError: Condition x {symbol} 0 did not hold element-wise:
      ...
    """
    return function


assert_positive = _sign_assertion("assert_positive", ">", "[1, 0]")
assert_negative = _sign_assertion("assert_negative", "<", "[-1, 0]")
assert_non_negative = _sign_assertion("assert_non_negative", ">=", "[0, -1]")
assert_non_positive = _sign_assertion("assert_non_positive", "<=", "[0, 1]")


# closeness


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None,
    summarize: int | None = None, message: str | None = None, name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless |x - y| < atol + rtol * |y| everywhere.

    Args:
      x: a tensor of floats or complex numbers.
      y: of the same type.
      rtol: relative tolerance; by default ten times the distance of 1 to the next number.
      atol: absolute tolerance; by default the same.
      data: list of tensors to show in the error; by default x and y.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      ValueError: x has neither type.
      InvalidArgumentError: when it runs and does not hold.

    Example:
      >>> Session().run(assert_near([0.1 + 0.2], [0.3]))
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        relative, absolute = (
            convert_to_tensor(_tolerance(x) if given is None else given, x.dtype.real_dtype, label)
            for label, given in (("rtol", rtol), ("atol", atol))
        )
        broken = (
            f"x and y not equal to tolerance rtol = {_text(relative)}, atol = {_text(absolute)}"
        )
        shown = _shown(message, data, lambda: [broken, *_named(x=x, y=y)])
        size: Any = elementwise.abs(y)
        allowed = absolute + relative * size
        distance: Any = elementwise.abs(x - y)
        return Assert(reduce_all(distance < allowed), shown, summarize=summarize)


def _tolerance(x: Tensor) -> Any:
    dtype = x.dtype.base_dtype.real_dtype
    if not dtype.is_floating:
        raise ValueError(f"assert_near compares floats, not {x!r}; assert_equal compares integers")
    return 10 * ml_dtypes.finfo(dtype.as_numpy_dtype).eps  # type: ignore[no-untyped-call]


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
    message: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a tensor; fail when it runs with elements that are infinite or not a number.

    Args:
      t: a tensor of floats.
      msg: first words of the error.
      name: prefix for the nodes.
      x: the later name of `t`.
      message: the later name of `msg`.

    Example:
      >>> Session().run(verify_tensor_all_finite([1.0, 2.0], "weights"))
      array([1., 2.], dtype=float32)
    """
    t, msg = (x if t is None else t), (message if msg is None else msg)
    with name_scope(name, "VerifyFinite", [t]):
        t = convert_to_tensor(t, name="x")
        with colocate_with(t):
            verified = raw.CheckNumerics(t, message=msg or "")
        result: Tensor = with_dependencies([verified], t)
        return result


# ranks


def assert_rank(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has `rank` dimensions.

    Args:
      x: a tensor.
      rank: int32 scalar.
      data: list of tensors to show in the error; by default the rank and the shape of x.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      TypeError: the rank is not int32.
      ValueError: it is no scalar, or it is known when the graph is built that x has another one.
      InvalidArgumentError: when it runs and x has another one.

    Example:
      >>> assert_rank([1, 2], 2)
      Traceback (most recent call last):
      ValueError: Tensor assert_rank/x:0 must have rank 2.  Received rank 1, shape (2,)
    """
    with name_scope(name, "assert_rank", [x, rank]):
        return _assert_rank("rank", x, [rank], data, summarize, message)


def assert_rank_at_least(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has `rank` dimensions or more; see `assert_rank`.

    Example:
      >>> Session().run(assert_rank_at_least([[1, 2]], 1))
    """
    with name_scope(name, "assert_rank_at_least", [x, rank]):
        return _assert_rank("rank at least", x, [rank], data, summarize, message)


def assert_rank_in(
    x: Any, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has one of `ranks`; see `assert_rank`.

    Example:
      >>> Session().run(assert_rank_in([[1, 2]], [0, 2]))
    """
    with name_scope(name, "assert_rank_in", [x, *ranks]):
        return _assert_rank("rank in", x, list(ranks), data, summarize, message)


def _assert_rank(
    wording: str, x: Any, given: list[Any], data: Any, summarize: int | None, message: str | None
) -> Operation:
    x = convert_to_tensor(x, name="x")
    ranks = [_rank(each) for each in given]
    values = [constant_value(each) for each in ranks]
    relation = _GREATER_EQUAL if wording == "rank at least" else _EQUAL
    actual = x.shape.ndims
    if actual is not None and all(value is not None for value in values):
        if any(relation.holds(actual, value) for value in values):
            return no_op("static_checks_determined_all_ok")
        wanted = tuple(map(int, values)) if wording == "rank in" else values[0]  # type: ignore[arg-type]
        raise ValueError(
            f"{_prefix(message, '.')}Tensor {x.name} must have {wording} {wanted}.  "
            f"Received rank {actual}, shape {x.shape}"
        )
    broken = f"Tensor {x.name} must have {wording}"
    shown = _shown(message, data, lambda: [broken, *ranks, "Received shape: ", shaping.shape(x)])
    rank = shaping.rank(x)
    fits = [getattr(raw, relation.op)(rank, each) for each in ranks]
    holds = _scalars(ranks, functools.reduce(raw.LogicalOr, fits))
    return Assert(holds, shown, summarize=summarize)


def _rank(given: Any) -> Tensor:
    """Return a rank as a tensor; TypeError or ValueError if it can be none."""
    rank = convert_to_tensor(given, name="rank")
    assert_type(rank, dtypes.int32)
    if constant_value(rank) is not None and rank.shape.ndims != 0:
        raise ValueError(f"Rank must be a scalar. Received {given!r}")
    return rank


def _scalars(ranks: list[Tensor], result: Tensor) -> Tensor:
    """Return `result`, once those of `ranks` that are not known yet have shown to be scalars."""
    for rank in ranks:
        if constant_value(rank) is None:
            scalar = assert_rank(rank, 0, ["Rank must be a scalar. Received rank: ", rank])
            result = with_dependencies([scalar], result)
    return result


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """Return `tensor`, of which it must be known when the graph is built that it is a scalar.

    Args:
      tensor: a tensor, or anything that converts to one.
      name: of the constant, if one is made.
      message: first words of the error.

    Raises:
      ValueError: it has another shape, or its shape is not known.

    Example:
      >>> Session().run(assert_scalar(3))
      np.int32(3)
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(
                f"{_prefix(message, '.')}Expected scalar shape for {tensor.name}, saw shape: "
                f"{tensor.shape}."
            )
        result: Tensor = tensor
        return result


# types


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """Return an operation that does nothing; fail now unless `tensor` has the type `tf_type`.

    Args:
      tensor: a tensor, or anything that converts to one.
      tf_type: a type or its name.
      message: first words of the error.
      name: prefix for the nodes.

    Raises:
      TypeError: it has another type.

    Example:
      >>> assert_type(constant(1.0), "float32").type
      'NoOp'
    """
    wanted = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype is not wanted:
            raise TypeError(
                f"{_prefix(message, '')}{tensor.name} must be of type {wanted.name}, but is "
                f"{tensor.dtype.name}"
            )
        return no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Return an operation that does nothing; fail now unless `x` is of integers.

    Args:
      x: a tensor, or anything that converts to one.
      message: first words of the error.
      name: prefix for the nodes.

    Raises:
      TypeError: it has another type.

    Example:
      >>> assert_integer([1, 2]).type
      'NoOp'
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.base_dtype.is_integer:
            raise TypeError(
                f'{_prefix(message, "")}Expected "x" to be integer type.  Found: {x.name} of dtype '
                f"{x.dtype.name}"
            )
        return no_op("statically_determined_was_integer")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """Return the one type of floats that all tensors have.

    Args:
      tensors: list of tensors or variables; None in it is skipped.
      dtype: the type that is wanted; by default that of the first tensor, float32 without any.

    Raises:
      ValueError: a tensor has another type, or it is no type of floats.

    Example:
      >>> assert_same_float_dtype([constant(1.0), constant(2.0)])
      tf.float32
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    first = ""
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, first = found, f" as {tensor.name}"
        elif found is not wanted:
            raise ValueError(
                f"{tensor.name}, type={found.name}, must be of the same type ({wanted.name}){first}"
            )
    wanted = wanted or dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted.name}.")
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a Tensor of numbers; a variable or an array is none.

    Example:
      >>> is_numeric_tensor(constant(1)), is_numeric_tensor(constant("a")), is_numeric_tensor(1)
      (True, False, False)
    """
    dtype = tensor.dtype.base_dtype if isinstance(tensor, Tensor) else dtypes.string
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


def assert_proper_iterable(values: Any) -> None:
    """Fail unless `values` can be iterated over and is neither string, nor array, nor tensor.

    Raises:
      TypeError: it is something else.

    Example:
      >>> assert_proper_iterable([1, 2])
    """
    is_one = isinstance(values, str | bytes | np.ndarray) or hasattr(values, "_as_tensor")
    if is_one or not hasattr(values, "__iter__"):
        proper = 'a "proper" iterable' if is_one else "iterable"
        raise TypeError(f'Expected argument "values" to be {proper}.  Found: {type(values)}')


# order


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Return whether no element of `x` is less than the one before, in row-major order.

    Args:
      x: a tensor of real numbers, or anything that converts to one.
      name: prefix for the nodes.

    Raises:
      TypeError: it is not of numbers.

    Example:
      >>> Session().run(is_non_decreasing([1, 1, 3]))
      np.True_
    """
    with name_scope(name, "is_non_decreasing", [x]):
        before, after = _neighbours(x)
        return reduce_all(before <= after)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Return whether each element of `x` is greater than the one before; see `is_non_decreasing`.

    Example:
      >>> Session().run(is_strictly_increasing([1, 1, 3]))
      np.False_
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        before, after = _neighbours(x)
        return reduce_all(before < after)


def _neighbours(x: Any) -> tuple[Any, Any]:
    flat = raw.Reshape(x, [-1])
    if not is_numeric_tensor(flat):
        raise TypeError(f"Expected x to be numeric, instead found: {flat!r}")
    return flat[:-1], flat[1:]
