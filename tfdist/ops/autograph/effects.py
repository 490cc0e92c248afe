"""Operations that do something, in a branch or loop of nodes: they run whenever that is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.autograph.state import as_tensors
from tfdist.ops.framework.stateful_order import acts
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.tensor_array.tensor_array import TensorArray

_ENDS = {"Merge", "RefMerge", "Exit"}  # of branches and loops inside


def with_effects(build: Callable[[], Sequence[Any]]) -> tuple[list[Any], Operation]:
    """Build something that may do something when it runs, one operation after the other.

    Returns:
      What `build` gives as tensors, behind all that does something, and an operation that does
      nothing, behind all that too.
    """
    graph = scopes.get_default_graph()
    before = len(graph.get_operations())
    results = [as_tensors(each) for each in build()]
    effects = _effects(graph.get_operations()[before:], graph._context)
    with graph.control_dependencies(effects):
        if effects:
            results = [nest.map_leaves(_behind, each) for each in results]
        return results, raw.NoOp()


def _effects(made: Sequence[Operation], context: Any) -> list[Operation]:
    """Return operations of a context that do something, or in which something is done."""
    if not any(acts(each) for each in made):
        return []
    own = [each for each in made if each._context is context]
    acting = [each for each in own if acts(each)]
    for one, other in itertools.pairwise(acting):
        other._add_control_input(one)
    return [*acting, *(each for each in own if each.type in _ENDS)]


def _behind(leaf: Any) -> Any:
    return leaf if isinstance(leaf, SparseTensor | TensorArray) else raw.Identity(leaf)
