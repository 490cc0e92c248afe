"""What a graph tells of a handle: type and shape of the resource variable behind it.

A handle itself is a scalar. Its variable is found by the way that the handle has come: from its
VarHandleOp into branches, loops and functions.
"""

from __future__ import annotations

from typing import NamedTuple

from tfdist.base.dtypes import DType, resource
from tfdist.base.shapes import Shape
from tfdist.graph.operation import Tensor

# Ops whose every output is their first input.
_HANDS_ON = frozenset({"Enter", "Exit", "Identity", "NextIteration", "Switch"})


class Handled(NamedTuple):
    """What is known of the variable behind a handle."""

    dtype: DType
    shape: Shape


def handled_by(handle: Tensor) -> Handled | None:
    """Return what is known of the variable behind `handle`, None if it cannot be told which.

    Args:
      handle: a resource tensor.
    """
    source = source_of(handle)
    if source is None:
        return None
    attrs = source.op._attrs
    return Handled(attrs["dtype"], attrs["shape"].as_tuple())


def value_behind(tensor: Tensor) -> Handled:
    """Return type and shape of the values that gradients of `tensor` are of.

    Args:
      tensor: any; for the handle of a variable, the variable is meant.
    """
    if tensor.dtype is resource:
        return handled_by(tensor) or Handled(resource, None)
    return Handled(tensor.dtype.base_dtype, tensor.plain_shape)


def source_of(handle: Tensor) -> Tensor | None:
    """Return the output of the VarHandleOp that `handle` comes from, None if it is not told."""
    while handle.op.type != "VarHandleOp":
        if handle.op.type in _HANDS_ON:
            handle = handle.op.inputs[0]
            continue
        outside = _captured(handle)
        if outside is None:
            return None
        handle = outside
    return handle


def _captured(inside: Tensor) -> Tensor | None:
    """Return the tensor outside of a function that stands behind one inside."""
    captures = getattr(inside.graph, "captures", {})
    return next((outer for outer, inner in captures.items() if inner is inside), None)
