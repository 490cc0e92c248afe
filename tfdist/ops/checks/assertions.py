"""Assertions on values: what is known is checked at once, the rest as it runs.

An assertion gives an operation, which has an effect where something waits for it:

    with tf.control_dependencies([tf.assert_positive(x)]):
        y = tf.log(x)

Those on ranks and types have files of their own, and their names here as well.

Source: TF 1.15 API documentation, tf.debugging.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import colocate_with, name_scope
from tfdist.graph.static_value import static_value
from tfdist.ops.checks.assertion_messages import labelled, message_or_data, parts_to_show, text_of
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.checks.rank_assertions import (
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_scalar,
)
from tfdist.ops.checks.type_assertions import (
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_numeric_tensor,
)
from tfdist.ops.control_flow.identity_group import no_op, with_dependencies
from tfdist.ops.math import elementwise
from tfdist.ops.math.reductions import reduce_all

__all__ = [
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable",
    "assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype",
    "assert_scalar", "assert_type", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "verify_tensor_all_finite",
]  # fmt: skip


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
    shown = parts_to_show(message, data, lambda: [broken, *labelled(x=x, y=y)])
    holds = reduce_all(getattr(raw, relation.op)(x, y))
    x_value, y_value = static_value(x), static_value(y)
    if x_value is not None and y_value is not None:
        if not np.all(relation.holds(x_value, y_value)):
            raise InvalidArgumentError("\n".join(filter(None, map(text_of, shown))))
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
            shown = message_or_data(message, data, lambda: _sign_parts(symbol, broken, x))
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
      tfdist.errors.InvalidArgumentError: Condition x {symbol} 0 did not hold element-wise:...
    """
    return function


def _sign_parts(symbol: str, broken: str, x: Tensor) -> list[Any]:
    label, value = labelled(x=x)
    # one part less in this assertion of TensorFlow: the number of nodes decides about seeds
    return [broken + label, value] if symbol == "<=" else [broken, label, value]


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
            f"x and y not equal to tolerance rtol = {text_of(relative)}, atol = {text_of(absolute)}"
        )
        shown = message_or_data(message, data, lambda: [broken, *labelled(x=x, y=y)])
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
