"""`evaluate`: the values of tensors by calling CPU kernels directly, without any runtime.

Stateless ops only, and conditions: it is what the tests of single ops need, and it checks on the
way that each kernel keeps its promises of type and shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.graph.operation import Operation, Tensor

_DEAD = object()  # instead of a value on the side of a condition that is not taken


def evaluate(fetches: Any, feeds: Mapping[Any, Any] | None = None) -> Any:
    """Return the values of `fetches`: a tensor, or a nested list, tuple or dict of such.

    Args:
      fetches: what to compute; None stays None, an Operation gives None.
      feeds: values of tensors that are not to be computed.

    Raises:
      AssertionError: a kernel's result has not the type or shape that its op promises.
      tfdist.errors.OpError: whatever a kernel raises.
    """
    values: dict[Tensor, Any] = {
        tensor: np.asarray(value, tensor.dtype.as_numpy_dtype)
        for tensor, value in (feeds or {}).items()
    }
    with np.errstate(all="ignore"):  # as in a step: 1.0 / 0.0 is infinite, and no warning
        return _fetch(fetches, values, set())


def _fetch(fetches: Any, values: dict[Tensor, Any], done: set[Operation]) -> Any:
    if isinstance(fetches, list | tuple):
        return [_fetch(each, values, done) for each in fetches]
    if isinstance(fetches, dict):
        return {key: _fetch(each, values, done) for key, each in fetches.items()}
    if fetches is None:
        return None
    if isinstance(fetches, Operation):
        _run(fetches, values, done)
        return None
    tensor = fetches._as_tensor(False)
    if tensor not in values:
        _run(tensor.op, values, done)
    return values[tensor]


def _run(op: Operation, values: dict[Tensor, Any], done: set[Operation]) -> None:
    """Run `op` after everything above it; a stack instead of recursion, for deep graphs."""
    stack = [op]
    while stack:
        top = stack[-1]
        above = [t.op for t in top.inputs if t not in values and t.op not in done]
        above += [each for each in top._control_inputs if each not in done]
        if above and top not in done:
            stack += above
            continue
        stack.pop()
        if top not in done:
            done.add(top)
            if not _flows(top, values):
                _call(top, values)


def _flows(op: Operation, values: dict[Any, Any]) -> bool:
    """Return whether `op` is of a condition or on a side that is not taken; note what it gives."""
    given = [values[tensor] for tensor in op.inputs]
    if op.type == "Merge":
        taken = next(i for i, value in enumerate(given) if value is not _DEAD)
        results = [given[taken], np.int32(taken)]
    elif any(each is _DEAD for each in given) or any(each in values for each in op._control_inputs):
        values[op], results = _DEAD, [_DEAD] * len(op.outputs)
    elif op.type == "Switch":
        results = [_DEAD, given[0]] if given[1] else [given[0], _DEAD]
    else:
        return False
    values.update(zip(op.outputs, results, strict=True))
    return True


def _call(op: Operation, values: dict[Tensor, Any]) -> None:
    rule = op.op_def.kernels["CPU"]
    keywords = {key: op._attrs[key] for key in rule.keywords}
    arguments = ([_Context(op)] if rule.takes_context else []) + _inputs(op, values)
    result = rule.function(*arguments, **keywords)
    results = [result] if op.op_def.has_one_output else list(result or ())
    assert len(results) == len(op.outputs), f"{op} gave {len(results)} results"
    for tensor, value in zip(op.outputs, results, strict=True):
        _check(tensor, value)
        values[tensor] = value


class _Context:
    """The little that kernels of stateless ops may ask for."""

    def __init__(self, op: Operation) -> None:
        self.node_name = op.name

    def check(self) -> None:
        """Do nothing: no step is to stop."""


def _inputs(op: Operation, values: dict[Tensor, Any]) -> list[Any]:
    """Return one array per input of the signature, a list of arrays for a list input."""
    arguments: list[Any] = []
    position = 0
    for arg in op.op_def.signature.inputs:
        count = arg.count(op._attrs)
        part = [values[tensor] for tensor in op.inputs[position : position + count]]
        arguments.append(part if arg.is_list else part[0])
        position += count
    return arguments


def _check(tensor: Tensor, value: Any) -> None:
    wanted = np.dtype(tensor.dtype.as_numpy_dtype)
    if wanted.hasobject and isinstance(value, bytes):
        return
    assert isinstance(value, np.ndarray | np.generic), (
        f"the kernel of {tensor.op} gave {value!r}, neither an array nor a NumPy scalar"
    )
    assert value.dtype == wanted, f"{tensor!r} ({tensor.op.type}) came as {value.dtype}"
    assert shapes.compatible(tensor.plain_shape, value.shape), (
        f"{tensor!r} ({tensor.op.type}) came with shape {value.shape}"
    )
