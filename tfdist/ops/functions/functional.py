"""If, While and For of functions that `Defun` makes: tensorflow.python.ops.functional_ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.control_flow.while_loop import while_loop

__all__: list[str] = []  # its names are those of tensorflow.python.ops.functional_ops only


def If(
    cond: Any, inputs: Sequence[Any], then_branch: Any, else_branch: Any, name: str | None = None
) -> Any:
    """Return `then_branch(inputs)` if `cond` is true, else `else_branch(inputs)`."""
    outputs = then_branch.definition.signature.output_arg
    types = [dtypes.as_dtype(output.type) for output in outputs]
    return raw.If(
        cond, inputs, Tout=types, then_branch=then_branch, else_branch=else_branch, name=name
    )


def While(
    input_: Sequence[Any], cond: Any, body: Any, name: str | None = None, hostmem: Any = None
) -> Any:
    """Return what is left of `input_` when `body` was applied while `cond` is true of it."""
    return raw.While(input_, cond=cond, body=body, name=name)


def For(
    start: Any, limit: Any, delta: Any, inputs: Sequence[Any], body: Callable[..., Any],
    name: str | None = None, hostmem: Any = None, rewrite_with_while: bool | None = None,
) -> list[Any]:  # fmt: skip
    """Return `inputs` after `inputs = body(i, *inputs)` for each i in range(start, limit, delta).

    The loop is a `while_loop`, whichever way it is asked for.
    """
    step: Any = convert_to_tensor(delta, "int32")
    end: Any = convert_to_tensor(limit, "int32")

    def goes_on(place: Any, *values: Any) -> Any:
        left = raw.Sub(end, place)
        return raw.Greater(raw.Mul(raw.Sign(step), left), 0)

    def turn(place: Any, *values: Any) -> list[Any]:
        result = body(place, *values)
        results = list(result) if isinstance(result, list | tuple) else [result]
        for old, new in zip(values, results, strict=True):
            new.set_shape(old.shape)  # a function may not tell the shapes of what it gives
        return [raw.AddV2(place, step), *results]

    first = convert_to_tensor(start, "int32")
    values = [convert_to_tensor(each) for each in inputs]
    return list(while_loop(goes_on, turn, [first, *values], name=name)[1:])
