"""Factors that many products turn: laid out once in the way in which these read them.

The gradient of an unrolled recurrent cell multiplies by the same weights, turned, in every step.
BLAS takes up to twice as long for such a factor as for one that lies turned in memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from tfdist.base.aliases import Array
from tfdist.graph.records import Node
from tfdist.plan.branch_predicates import guard_of
from tfdist.plan.compiling.node_bindings import NodeBindings
from tfdist.plan.prune import Endpoint

_FEWEST_PRODUCTS = 16  # of one factor; a copy is slow where NumPy has to skip from row to row
_MOST_ELEMENTS = 1 << 18
_ROWS = 16  # turned at a time: the columns that they make fill lines of the cache


def often_turned(bindings: NodeBindings, nodes: Iterable[Node]) -> set[Endpoint]:
    """Return the factors that are worth a copy; none in a trace, which shows nodes only."""
    if bindings.traced:
        return set()
    counts = Counter(map(turned_factor, nodes))
    return {
        endpoint
        for endpoint, count in counts.items()
        if endpoint and count >= _FEWEST_PRODUCTS and _is_small(bindings.full_shape(endpoint))
    }


def turned_factor(node: Node) -> Endpoint | None:
    """Return the second factor of a product that always runs, if it is the only one turned."""
    if node.op != "MatMul" or guard_of(node):
        return None
    is_meant = node.attrs["transpose_b"] and not node.attrs["transpose_a"]
    return node.inputs[1] if is_meant else None


def _is_small(shape: tuple[int, ...] | None) -> bool:
    return shape is not None and math.prod(shape) <= _MOST_ELEMENTS


def laid_out(factor: Array) -> Array:
    """Return the same matrix, column after column in memory."""
    made = np.empty(factor.shape[::-1], factor.dtype)
    for start in range(0, len(factor), _ROWS):
        made[:, start : start + _ROWS] = factor[start : start + _ROWS].T
    return made.T
