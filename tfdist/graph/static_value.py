"""The values that functions may refuse while they build a graph.

`constant_value` of `operation` knows more, for shapes; TensorFlow's C library does, too. What fails
by such a value while the graph is built would fail there only when it runs.
"""

from __future__ import annotations

import math

import numpy as np

from tfdist.base.aliases import TensorValue
from tfdist.graph.constant_values import constant_value, folded_value
from tfdist.graph.operation import Tensor

_OF_ITSELF = frozenset({"Const", "Rank", "Shape", "Size"})
_OF_INPUTS = frozenset({
    "Cast", "Concat", "ConcatOffset", "ConcatV2", "Equal", "NotEqual", "Pack", "Range",
})  # fmt: skip


def static_value(tensor: Tensor) -> TensorValue:
    """Return the value of `tensor` if TensorFlow's Python knows it while building, else None.

    It knows constants, what shapes say, and a few ops on these; it does not see through Identity,
    arithmetic or slices.
    """
    op = tensor.op
    if op.type in _OF_ITSELF:
        return constant_value(tensor)
    if op.type == "Fill":
        return _filled(tensor)
    is_seen = op.type in _OF_INPUTS and len(op.outputs) == 1 and not op._attrs.get("axis")
    return folded_value(op, static_value, math.inf) if is_seen else None


def _filled(tensor: Tensor) -> TensorValue:
    """Return what a Fill gives if its shape is known, however, and its value is."""
    shape, value = tensor.plain_shape, static_value(tensor.op.inputs[1])
    if value is None or shape is None or None in shape:
        return None
    return np.full(shape, value, value.dtype)
