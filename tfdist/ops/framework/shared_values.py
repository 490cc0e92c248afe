"""What several op families share: bare strings, missing gradients, tensors that spell shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor, constant_value


def as_elements(value: Any) -> Any:
    """Return `value` with NumPy's methods: a bare string or handle becomes an array of rank 0."""
    if hasattr(value, "dtype"):
        return value
    array = np.empty((), object)
    array[()] = value
    return array


def or_zeros(op: Operation, d_outputs: Sequence[Any]) -> list[Any]:
    """Return the gradients of the outputs of `op`, zeros for those that have none."""
    pairs = zip(op.outputs, d_outputs, strict=True)
    return [raw.ZerosLike(output) if d is None else d for output, d in pairs]


def partial_shape(tensor: Tensor) -> Shape:
    """Return what is known of the shape that an integer vector spells, None if not even its length.

    `[tf.shape(x)[0], 10]` spells (?, 10): what a Reshape or Fill makes of it has ten columns,
    whatever is fed.
    """
    known = _partial(tensor)
    if known is None or known.ndim != 1:
        return None
    return tuple(None if dim is None or dim < 0 else int(dim) for dim in known)


def refine(result: Tensor, spelled: Any) -> Tensor:
    """Return `result` with what is known of its shape where a constant did not tell all of it.

    Args:
      result: a tensor of the shape that `spelled` spells.
      spelled: an integer vector.
    """
    shape = result.plain_shape
    if shape is None or None in shape:
        result.set_shape(partial_shape(spelled))
    return result


def _partial(tensor: Tensor) -> Any:
    """Return the elements of an integer tensor as objects, None for each unknown one."""
    value = constant_value(tensor)
    if value is not None:
        return value.astype(object)
    rule = _PARTIAL.get(tensor.op.type)
    found = rule(tensor.op) if rule else None
    if found is not None:
        return found
    shape = tensor.plain_shape
    return None if shape is None or None in shape else np.full(shape, None, object)  # type: ignore[arg-type]


def _of_shape(op: Operation) -> Any:
    shape = op.inputs[0].plain_shape
    return None if shape is None else np.array(shape, object)


def _of_parts(op: Operation, count: int, join: Callable[..., Any]) -> Any:
    parts = [_partial(tensor) for tensor in op.inputs[:count]]
    return None if any(part is None for part in parts) else join(parts, 0)


def _of_slice(op: Operation) -> Any:
    known = _partial(op.inputs[0])
    bounds = [constant_value(tensor) for tensor in op.inputs[1:]]
    if known is None or any(bound is None for bound in bounds):
        return None
    rule = op.op_def.kernels["CPU"]
    masks = {key: op.get_attr(key) for key in rule.keywords}
    return np.asarray(rule.function(known, *bounds, **masks), object)


def _of_reshape(op: Operation) -> Any:
    known, shape = _partial(op.inputs[0]), constant_value(op.inputs[1])
    return None if known is None or shape is None else known.reshape(shape)


_PARTIAL: dict[str, Callable[[Operation], Any]] = {
    "Shape": _of_shape,
    "Cast": lambda op: _partial(op.inputs[0]),
    "Identity": lambda op: _partial(op.inputs[0]),
    "Pack": lambda op: _of_parts(op, len(op.inputs), np.stack),
    "ConcatV2": lambda op: _of_parts(op, len(op.inputs) - 1, np.concatenate),
    "Reshape": _of_reshape,
    "StridedSlice": _of_slice,
}
