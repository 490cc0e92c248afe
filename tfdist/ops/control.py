"""Nodes that order, gate and watch others: identity, group, tuple, Print, Assert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor

__all__ = [
    "Assert",
    "Print",
    "check_numerics",
    "ensure_shape",
    "group",
    "guarantee_const",
    "identity",
    "identity_n",
    "no_op",
    "stop_gradient",
    "tuple",
    "with_dependencies",
]

_tuple = tuple  # Python's; `tf.tuple` takes the name below

NO_OP = OpDef("NoOp() -> ()").not_differentiable()


@NO_OP.kernel
def no_op_kernel() -> None:
    return None


def no_op(name: str | None = None) -> Operation:
    """Return an operation that does nothing, except to wait for its control inputs.

    Example:
      >>> print(Session().run(no_op()))
      None
    """
    operation: Operation = raw.NoOp(name=name)
    return operation


def _same(input: Any) -> Any:
    return input


def _passes_on(signature: str) -> OpDef:
    """Return an op that gives its only input, of whatever type and shape."""
    op_def = OpDef(signature)
    op_def.shape(_same)
    op_def.kernel(_same)
    op_def.gradient(lambda op, d_output: d_output)
    return op_def


IDENTITY = _passes_on("Identity(input: T) -> output: T [T: type]")


def identity(input: Any, name: str | None = None) -> Tensor:
    """Return a node of its own with the value of `input`.

    Example:
      >>> Session().run(identity([1, 2]))
      array([1, 2], dtype=int32)
    """
    result: Tensor = raw.Identity(input, name=name)
    return result


IDENTITY_N = OpDef("IdentityN(input: T) -> output: T [T: list(type) >=1]")
IDENTITY_N.shape(_same)
IDENTITY_N.kernel(_same)
IDENTITY_N.gradient(lambda op, *d_outputs: d_outputs)


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """Return the values of several tensors, all of which are computed before one is given.

    Example:
      >>> Session().run(identity_n([1, 2.0]))
      [np.int32(1), np.float32(2.0)]
    """
    results: list[Tensor] = raw.IdentityN(input, name=name)
    return results


GUARANTEE_CONST = _passes_on("GuaranteeConst(input: T) -> output: T [T: type] !")


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """Return `input`, which the caller promises never to change.

    Example:
      >>> Session().run(guarantee_const(3))
      np.int32(3)
    """
    result: Tensor = raw.GuaranteeConst(input, name=name)
    return result


STOP_GRADIENT = _passes_on("StopGradient(input: T) -> output: T [T: type]")
STOP_GRADIENT.not_differentiable()


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """Return the value of `input`, which counts as a constant when gradients are computed.

    Example:
      >>> Session().run(stop_gradient([1, 2]))
      array([1, 2], dtype=int32)
    """
    result: Tensor = raw.StopGradient(input, name=name)
    return result


PREVENT_GRADIENT = _passes_on(
    "PreventGradient(input: T) -> output: T [T: type; message: string = '']"
)


@PREVENT_GRADIENT.gradient
def prevent_gradient_gradient(op: Operation, d_output: Any) -> Any:
    reason = op.get_attr("message").decode()
    raise LookupError(f"no gradient goes through {op.name!r}: {reason or 'it prevents them'}")


ENSURE_SHAPE = OpDef("EnsureShape(input: T) -> output: T [shape: shape; T: type]")


@ENSURE_SHAPE.shape
def ensure_shape_shape(input: Shape, *, shape: Any) -> Shape:
    try:
        merged: Shape = shape.merge_with(input).as_tuple()
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None
    return merged


@ENSURE_SHAPE.kernel
def ensure_shape_kernel(input: Any, *, shape: Any) -> Any:
    if not shape.is_compatible_with(np.shape(input)):
        raise InvalidArgumentError(f"expected shape {shape}, got {np.shape(input)}")
    return input


@ENSURE_SHAPE.gradient
def ensure_shape_gradient(op: Any, d_output: Any) -> Any:
    return d_output


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return `x`, whose shape is checked when the step runs and known from here on.

    Args:
      x: any shape that fits.
      shape: that it must have; None for a dimension of any size.
      name: of the node.

    Raises:
      ValueError: the shape cannot fit (InvalidArgumentError when that shows only as it runs).

    Example:
      >>> x = placeholder("float32")
      >>> ensure_shape(x, [None, 2]).shape.as_list()
      [None, 2]
    """
    result: Tensor = raw.EnsureShape(x, shape=shape, name=name)
    return result


# order


def with_dependencies(
    dependencies: Iterable[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """Return the value of `output_tensor` after `dependencies` have run.

    Args:
      dependencies: operations or tensors.
      output_tensor: a tensor.
      name: of the node; by default "control_dependency".

    Example:
      >>> Session().run(with_dependencies([no_op()], 3))
      np.int32(3)
    """
    with scopes.name_scope(name, "control_dependency", [output_tensor]) as scope:
        tensor = convert.convert_to_tensor(output_tensor)
        with scopes.colocate_with(tensor), scopes.control_dependencies(dependencies):
            return identity(tensor, name=scope)


def group(*inputs: Any, name: str | None = None, **unknown: Any) -> Operation:
    """Return an operation that has run when all of `inputs` have.

    Args:
      inputs: operations and tensors, or nested lists of such; None is skipped.
      name: of the operation; by default "group_deps". Inputs on several devices are gathered on
        each device first.
      unknown: raises TypeError.

    Raises:
      TypeError: an input is neither operation nor tensor.

    Example:
      >>> print(Session().run(group(no_op(), constant(1))))
      None
    """
    if unknown:
        raise TypeError(f"group takes inputs and `name`, got {sorted(unknown)}")
    operations = [_operation(each) for each in _flat(inputs)]
    with scopes.name_scope(name, "group_deps", operations) as scope:
        by_device: dict[str, list[Operation]] = {}
        for operation in operations:
            by_device.setdefault(operation.device, []).append(operation)
        if len(by_device) <= 1:
            return _gathered(operations, next(iter(by_device), ""), scope)
        gathered = [_gathered(by_device[device], device, None) for device in sorted(by_device)]
        return _gathered(gathered, None, scope)


def _flat(values: Any) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | _tuple):
            yield from _flat(value)
        elif isinstance(value, dict):
            yield from _flat(value.values())
        elif value is not None:
            yield value


def _operation(value: Any) -> Operation:
    if hasattr(value, "_as_operation"):
        value = value._as_operation()
    elif hasattr(value, "_as_graph_element"):
        value = value._as_graph_element()
    found = getattr(value, "op", value)
    if not isinstance(found, Operation):
        raise TypeError(f"expected an operation or a tensor, got {value!r}")
    return found


def _gathered(operations: list[Operation], device: str | None, name: str | None) -> Operation:
    """Return a NoOp on `device` (None: wherever the scopes ask for) that follows `operations`."""
    if not device:
        with scopes.control_dependencies(operations):
            return no_op(name=name)
    with scopes.device(device), scopes.control_dependencies(operations):
        return no_op(name=name)


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """Return the values of `tensors`, none of which is given before all have been computed.

    Args:
      tensors: tensors, operations or None; None stays None.
      name: prefix for the nodes; by default "tuple".
      control_inputs: more operations to wait for.

    Raises:
      ValueError: there is no tensor at all.

    Example:
      >>> Session().run(tuple([constant(1), constant(2)]))
      [np.int32(1), np.int32(2)]
    """
    with scopes.name_scope(name, "tuple", [t for t in tensors if t is not None]):
        waited = [_operation(each) for each in _flat(tensors)]
        if not waited:
            raise ValueError(f"tuple needs one tensor at least, got {tensors!r}")
        gate = group([*waited, *map(_operation, control_inputs or ())])
        return [_gated(each, gate) for each in tensors]


def _gated(value: Any, gate: Operation) -> Any:
    if value is None or isinstance(value, Operation):
        return gate if value is not None else None
    if hasattr(value, "dense_shape"):  # slices or sparse: the gate stands before the values
        values = with_dependencies([gate], value.values)
        return type(value)(values=values, indices=value.indices, dense_shape=value.dense_shape)
    return with_dependencies([gate], value)


# watching

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
    if not condition:
        shown = " ".join(f"[{summary(each, summarize)}]" for each in data)
        raise InvalidArgumentError(f"assertion failed: {shown}")


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
        summarize = 3 if summarize is None else summarize
        operation: Operation = raw.Assert(condition, list(data), summarize=summarize)
        return operation


CHECK_NUMERICS = OpDef(
    "CheckNumerics(tensor: T) -> output: T [T: type {floating}; message: string]"
)
CHECK_NUMERICS.shape(_same)


@CHECK_NUMERICS.kernel
def check_numerics_kernel(tensor: Any, *, message: bytes) -> Any:
    if not np.isfinite(tensor).all():
        kinds = ["Inf"] * bool(np.isinf(tensor).any()) + ["NaN"] * bool(np.isnan(tensor).any())
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
