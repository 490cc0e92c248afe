"""What is known of an integer tensor without running the graph, element by element.

`[tf.shape(x)[0], 10]` is no constant, but its second element is known: what a Fill, Tile or Slice
makes of it has ten columns, whatever is fed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.graph.constant_values import constant_value
from tfdist.graph.operation import Tensor


def partial_value(tensor: Tensor) -> TensorValue:
    """Return the elements of an integer tensor as objects, None for each unknown one.

    None is returned if not even the number of elements is known.
    """
    value = constant_value(tensor)
    if value is not None:
        return value.astype(object)
    rule = _RULES.get(tensor.op.type)
    found = rule(tensor) if rule else None
    if found is not None:
        return found
    shape = tensor.plain_shape
    return None if shape is None or None in shape else np.full(shape, None, object)


def outside(tensor: Tensor) -> Tensor:
    """Return the tensor outside of loops and branches that was brought in as `tensor`.

    TensorFlow finds a node's shape before it brings the inputs into the context around it.
    """
    while (op := tensor.op).type == "Switch" or (op.type == "Enter" and op.get_attr("is_constant")):
        tensor = op.inputs[0]
    return tensor


def _of_shape(tensor: Tensor) -> TensorValue:
    shape = tensor.op.inputs[0].plain_shape
    return None if shape is None else np.array(shape, object)


def _of_shapes(tensor: Tensor) -> TensorValue:
    """Return the value of an output of ShapeN, which is known whole or not at all."""
    shape = tensor.op.inputs[tensor.value_index].plain_shape
    return None if shape is None or None in shape else np.array(shape, object)


def _of_pack(tensor: Tensor) -> TensorValue:
    op = tensor.op
    parts = [_element(each) for each in op.inputs]
    axis = op.get_attr("axis")
    return None if any(part is None for part in parts) else np.stack(parts, axis=axis)


def _element(tensor: Tensor) -> TensorValue:
    """Return what is known of a part of a Pack; one number is known by constants, or not at all."""
    if tensor.plain_shape != ():
        return partial_value(tensor)
    value = constant_value(outside(tensor))
    return np.array(None, object) if value is None else value.astype(object)


def _of_concat(tensor: Tensor) -> TensorValue:
    *inputs, at = tensor.op.inputs
    parts, axis = [partial_value(each) for each in inputs], constant_value(at)
    if axis is None or any(part is None for part in parts):
        return None
    return np.concatenate(parts, axis=axis)


def _of_slice(tensor: Tensor) -> TensorValue:
    op = tensor.op
    known = partial_value(op.inputs[0])
    bounds = [constant_value(each) for each in op.inputs[1:]]
    if known is None or any(bound is None for bound in bounds):
        return None
    rule = op.op_def.kernels["CPU"]
    masks = {key: op.get_attr(key) for key in rule.keywords}
    return np.asarray(rule.function(known, *bounds, **masks), object)


def _of_enter(tensor: Tensor) -> TensorValue:
    op = tensor.op
    return partial_value(op.inputs[0]) if op.get_attr("is_constant") else None


_RULES: dict[str, Callable[[Tensor], Any]] = {
    "Shape": _of_shape,
    "ShapeN": _of_shapes,
    "Pack": _of_pack,
    "ConcatV2": _of_concat,
    "Enter": _of_enter,
    "StridedSlice": _of_slice,
}
