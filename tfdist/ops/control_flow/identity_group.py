"""Nodes that order and gate others: identity, group, tuple."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfdist.base import nest
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor

__all__ = [
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


def same(input: Any) -> Any:
    return input


def _passes_on(signature: str) -> OpDef:
    """Return an op that gives its only input, of whatever type and shape."""
    op_def = OpDef(signature)
    op_def.shape(same)
    op_def.kernel(same)
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
IDENTITY_N.shape(same)
IDENTITY_N.kernel(same)
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
      output_tensor: a tensor, or IndexedSlices, whose values wait then.
      name: of the node; by default "control_dependency".

    Example:
      >>> Session().run(with_dependencies([no_op()], 3))
      np.int32(3)
    """
    with scopes.name_scope(name, "control_dependency", [output_tensor]) as scope:
        is_slices = hasattr(output_tensor, "indices") and hasattr(output_tensor, "_as_tensor")
        tensor = convert.convert_to_tensor(output_tensor.values if is_slices else output_tensor)
        with scopes.colocate_with(tensor), scopes.control_dependencies(dependencies):
            waited = identity(tensor, name=scope)
    if not is_slices:
        return waited
    return type(output_tensor)(waited, output_tensor.indices, output_tensor.dense_shape)


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
        if isinstance(value, Mapping):
            yield from _flat(value.values())
        elif nest.is_nested(value):
            yield from _flat(value)
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
