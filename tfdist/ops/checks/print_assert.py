"""Nodes that watch what passes through them: Print, Assert, check_numerics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import no_op, same

__all__ = ["Assert", "Print", "check_numerics"]

PRINT = OpDef(
    "Print(input: T, data: U) -> output: T "
    "[T: type; U: list(type) >=0; message: string = ''; first_n: int = -1; summarize: int = 3] !"
)


@PRINT.shape
def print_shape(input: Shape, data: list[Shape]) -> Shape:
    return input


@PRINT.kernel
def print_kernel(
    ctx: Any, input: Any, data: list[Any], *, message: bytes, first_n: int, summarize: int
) -> Any:
    if first_n < 0 or next(_calls(ctx)) < first_n:
        shown = "".join(f"[{summary(each, summarize)}]" for each in data)
        ctx.log(message.decode(errors="replace") + shown)
    return input


def _calls(ctx: Any) -> Iterator[int]:
    """Return the counter of this node's calls."""
    counter: Iterator[int] = ctx.resource("counter", b"", ctx.node_name, lambda cls: cls())
    return counter


@PRINT.gradient
def print_gradient(op: Any, d_output: Any) -> Any:
    return d_output, *[None] * (len(op.inputs) - 1)


def summary(value: Any, most: int) -> str:
    """Return the first `most` elements of `value` as TensorFlow prints them: "1 2 3..."."""
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    if not array.ndim or not array.size:
        return _element(array[()]) if array.size else ""
    left = [array.size if most < 0 else most]
    rest = "..." if array.ndim > 1 and left[0] < array.size else ""
    return _rows(array, left) + rest


def _rows(array: Any, left: list[int]) -> str:
    """Return the elements while `left` lasts, a rank deeper in one more pair of brackets."""
    if array.ndim == 1:
        taken = min(left[0], len(array))
        left[0] -= taken
        shown = " ".join(map(_element, array[:taken]))
        return shown + ("..." if taken < len(array) else "")
    return "".join(f"[{_rows(row, left)}]" for row in array if left[0] > 0)


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    kind = value.dtype.kind
    if kind == "b":
        return str(int(value))
    if kind in "iu":
        return str(value)
    return "?" if kind == "c" else _shortest(value)


def _shortest(value: Any) -> str:
    """Return a float with as many digits as TensorFlow takes to tell it from its neighbours."""
    wide = value.dtype == np.float64
    number = value if wide else np.float32(value)
    brief = f"{number:.{15 if wide else 6}g}"
    same = type(number)(brief) == number or number != number
    return brief if same else f"{number:.{17 if wide else 9}g}"


def Print(
    input_: Any, data: Any, message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `input_`, and write `message` and the values of `data` to stderr as it passes.

    Args:
      input_: what the result is.
      data: a list of tensors to show.
      message: shown in front.
      first_n: how many times to show them; by default always.
      summarize: how many elements of each tensor to show; by default 3, and -1 for all.
      name: of the node.

    Example: writes "x is [1 2]".
      >>> x = constant([1, 2])
      >>> Session().run(Print(x, [x], "x is "))
      array([1, 2], dtype=int32)
    """
    result: Tensor = raw.Print(
        input_, list(data), message=message or "", first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize, name=name,
    )  # fmt: skip
    return result


ASSERT = OpDef(
    "Assert(condition: bool, data: T) -> () [T: list(type) >=1; summarize: int = 3] !"
).not_differentiable()


@ASSERT.kernel
def assert_kernel(condition: Any, data: list[Any], *, summarize: int) -> None:
    if np.ndim(condition):
        raise InvalidArgumentError(f"In[0] should be a scalar: {list(np.shape(condition))}")
    if not condition:
        shown = " ".join(f"[{summary(each, summarize)}]" for each in data)
        raise InvalidArgumentError(f"assertion failed: {shown}")


# what TensorFlow hands to an Assert as it is; other data waits behind a condition
_CHEAP = {dtypes.string, dtypes.int32}


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> Operation:
    """Return an operation that fails with InvalidArgumentError unless `condition` is true.

    It has an effect only where something waits for it: see `control_dependencies`.

    Args:
      condition: a bool scalar.
      data: a list of tensors to show in the message.
      summarize: how many elements of each to show; by default 3.
      name: prefix for the nodes.

    Example:
      >>> Session().run(Assert(False, ["bad value", 2]))  # doctest: +ELLIPSIS
      Traceback (most recent call last):
      tfdist.errors.InvalidArgumentError: assertion failed: [bad value] [2]...
    """
    with scopes.name_scope(name, "Assert", [condition, data]):
        data, most = list(data), 3 if summarize is None else summarize

        def check() -> Operation:
            operation: Operation = raw.Assert(condition, data, summarize=most)
            return operation

        if {convert_to_tensor(each).dtype.base_dtype for each in data} <= _CHEAP:
            return check()
        condition = convert_to_tensor(condition, name="Condition")
        guarded: Operation = cond(condition, no_op, check, name="AssertGuard").op
        return guarded


CHECK_NUMERICS = OpDef(
    "CheckNumerics(tensor: T) -> output: T [T: type {floating}; message: string]"
)


CHECK_NUMERICS.shape(same)


@CHECK_NUMERICS.kernel
def check_numerics_kernel(tensor: Any, *, message: bytes) -> Any:
    if not np.isfinite(tensor).all():
        tests = ("Inf", np.isinf), ("NaN", np.isnan)
        kinds = [kind for kind, test in tests if test(tensor).any()]
        raise InvalidArgumentError(f"{message.decode()} : Tensor had {' and '.join(kinds)} values")
    return tensor


@CHECK_NUMERICS.gradient
def check_numerics_gradient(op: Any, d_output: Any) -> Any:
    return raw.CheckNumerics(d_output, message=f"gradient of {op.name}")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Return `tensor`; fail with InvalidArgumentError if it has infinite or not-a-number elements.

    Args:
      tensor: floats.
      message: first words of the error.
      name: of the node.

    Example:
      >>> Session().run(check_numerics([1.0, 2.0], "loss"))
      array([1., 2.], dtype=float32)
    """
    result: Tensor = raw.CheckNumerics(tensor, message=message, name=name)
    return result
