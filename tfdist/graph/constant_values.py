"""Values of tensors known without running the graph: constants, and what is made of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.aliases import Array, TensorLike, TensorValue
from tfdist.graph.operation import Operation, Tensor


def constant_value(tensor: TensorLike) -> Array | None:
    """Return the value of `tensor` if it is known without running the graph, else None."""
    op = tensor.op
    if op.type == "Const":
        value: np.ndarray[Any, Any] = op._attrs["value"]
        return value
    rule = _CONSTANT_RULES.get(op.type)
    return rule(op) if rule else None


def _shape_value(op: Operation) -> TensorValue:
    shape = op.inputs[0].plain_shape
    if shape is None or None in shape:
        return None
    return np.array(shape, op.outputs[0].dtype.as_numpy_dtype)


def _pack_value(op: Operation) -> TensorValue:
    parts = [constant_value(tensor) for tensor in op.inputs]
    if any(part is None for part in parts):
        return None
    return np.stack(parts, op._attrs["axis"])  # type: ignore[arg-type]


def _size_value(op: Operation) -> TensorValue:
    size = shapes.num_elements(op.inputs[0].plain_shape)
    return None if size is None else np.array(size, op.outputs[0].dtype.as_numpy_dtype)


def _rank_value(op: Operation) -> TensorValue:
    shape = op.inputs[0].plain_shape
    return None if shape is None else np.array(len(shape), np.int32)


def evaluated(tensor: Tensor) -> TensorValue:
    """Return the value of `tensor` if constants determine it, by whatever ops, else None.

    `constant_value` knows the ops of shape arithmetic, as TensorFlow's Python does; this is what
    TensorFlow's C library finds.
    """
    op = tensor.op
    value = constant_value(tensor)
    rule = op.op_def.kernels.get("CPU")
    if value is not None or rule is None or len(op.outputs) != 1 or not op.inputs:
        return value
    if op.op_def.is_stateful or rule.takes_context or rule.takes_out or rule.waits:
        return None
    if op.type == "PlaceholderWithDefault":  # another value may be fed
        return None
    return folded_value(op, evaluated)


def folded_value(
    op: Operation,
    value_of: Callable[[Tensor], TensorValue] = constant_value,
    most: float = 64,
) -> TensorValue:
    """Return the kernel's result on constant inputs: how shape arithmetic becomes known.

    Args:
      op: with a kernel that needs nothing else.
      value_of: gives the value of an input, None if it is not known.
      most: how many elements of an input are worth it.
    """
    values = [value_of(tensor) for tensor in op.inputs]
    if any(value is None or value.size > most for value in values):
        return None
    rest = iter(values)
    arguments = []
    for arg in op.op_def.signature.inputs:
        part = list(itertools.islice(rest, arg.count(op._attrs)))
        arguments.append(part if arg.is_list else part[0])
    rule = op.op_def.kernels["CPU"]
    return np.asarray(rule.function(*arguments, **{key: op._attrs[key] for key in rule.keywords}))


def _fill_value(op: Operation) -> TensorValue:
    """Return a few equal numbers, as the strides of a slice are by default."""
    dims = constant_value(op.inputs[0])
    return folded_value(op) if dims is not None and np.prod(dims) <= 64 else None


_CONSTANT_RULES = {
    "Fill": _fill_value,
    "Shape": _shape_value,
    "Pack": _pack_value,
    "Size": _size_value,
    "Rank": _rank_value,
    **dict.fromkeys(
        ("StridedSlice", "Range", "Cast", "Add", "AddV2", "Sub", "Mul", "FloorDiv", "FloorMod",
         "Maximum", "Minimum", "Max", "Min", "Identity", "Neg", "Prod", "Reshape", "Slice",
         "Squeeze", "ExpandDims", "ConcatV2", "GatherV2"), folded_value),
}  # fmt: skip
