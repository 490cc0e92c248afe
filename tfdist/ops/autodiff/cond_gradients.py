"""The gradient of a cond: another one, whose branches go backwards through those of the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.contexts import enclosing
from tfdist.graph.handles import source_of
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.records import SWITCHES
from tfdist.ops.autodiff.backward import Arrived, Call, Level, Ways
from tfdist.ops.autodiff.backward_contexts import BackwardBranch
from tfdist.ops.autodiff.backward_steps import Block, Trace, home_of
from tfdist.ops.autodiff.backward_sums import of_shape, total, zeros_for
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.framework.indexed_slices import (
    IndexedSlices,
    common_index_type,
    no_rows,
    with_indices,
)


class _Side:
    """One side of a cond.

    Attributes:
      branch: that side.
      level: what a walk through it sees.
      leaves: what stands there for tensors from outside: tensor inside -> tensor outside.
    """

    def __init__(self, call: Call, branch: Branch) -> None:
        self.branch, self.level = branch, Level(call, branch)
        self.leaves = {
            leaf: leaf.op.inputs[0] for leaf in branch.brought.values() if leaf.op.type in SWITCHES
        }
        if isinstance(branch, BackwardBranch):
            self.leaves |= {tensor: tensor for tensor in branch.direct}

    def inner(self, output: Tensor) -> Tensor | None:
        """Return what gives an output of the cond in this side, None if it is in the other one.

        An output is a result of both sides, or a tensor inside of one that is taken by nodes
        which are dead when it is.
        """
        merges = self.branch.merges
        if output in merges:
            return self.branch.results[merges.index(output)]
        is_here = any(each is self.branch for each in enclosing(home_of(output)))
        return output if is_here else None

    def inner_of(self, outputs: Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """Return (output, what gives it in this side) for the outputs that this side gives."""
        pairs = [(output, self.inner(output)) for output in outputs]
        return [(output, tensor) for output, tensor in pairs if tensor is not None]

    def ways(self, outside: set[Tensor], ends: Iterable[Tensor]) -> Ways:
        """Return the ways from what stands for tensors of `outside` to `ends`."""
        wanted = [leaf for leaf, source in self.leaves.items() if source in outside]
        return self.level.ways(self.level.above(ends), wanted)

    def total(self, source: Tensor, arrived: Arrived) -> Any:
        """Return the gradient of an input of the cond by this side, None if there is none."""
        found = [arrived.settle(leaf) for leaf, each in self.leaves.items() if each is source]
        parts = [part for part in found if part is not None]
        return total(parts, self.level.call.graph) if parts else None


class _CondTrace(Trace):
    """The ways through both sides."""

    def __init__(
        self, needed: tuple[bool, ...], sides: Sequence[_Side], ways: Sequence[Ways]
    ) -> None:
        super().__init__(needed)
        self._sides, self.ways = sides, ways

    def gives(self, tensor: Tensor) -> bool:
        """See `Trace.gives`."""
        return any(
            ways.reaches(inner)
            for side, ways in zip(self._sides, self.ways, strict=True)
            if (inner := side.inner(tensor)) is not None
        )


class Cond(Block):
    """A cond as one step of a walk."""

    def __init__(self, call: Call, branch: Branch) -> None:
        assert branch.other is not None
        self._call, self._branch = call, branch
        self._sides = [_Side(call, branch.other), _Side(call, branch)]
        self.inputs = tuple(
            dict.fromkeys([source for side in self._sides for source in side.leaves.values()])
        )

    def trace(self, candidates: tuple[bool, ...], used: Iterable[Tensor]) -> Trace | None:
        """See `Block.trace`."""
        outside = {t for t, wanted in zip(self.inputs, candidates, strict=True) if wanted}
        all_ways, begin, reached = [], False, set[Tensor]()
        for side in self._sides:
            ends = [inner for _, inner in side.inner_of(used)]
            ways = side.ways(outside, ends)
            beginnings = ways.beginnings(ends)
            begin = begin or bool(beginnings)
            reached |= {side.leaves[leaf] for leaf in beginnings if leaf in side.leaves}
            all_ways.append(ways)
        needed = tuple([tensor in reached and tensor in outside for tensor in self.inputs])
        return _CondTrace(needed, self._sides, all_ways) if begin else None

    def visit(self, totals: dict[Tensor, Any], trace: Any) -> Sequence[Any]:
        """See `Block.visit`."""
        backward = self._backward()
        arrived = []
        for side, back, ways in zip(self._sides, backward, trace.ways, strict=True):
            with back.entered():
                starts = [(inner, totals[output]) for output, inner in side.inner_of(totals)]
                arrived.append(side.level.walk(ways, starts))
        return [
            self._merged(tensor, backward, arrived) if needed else None
            for tensor, needed in zip(self.inputs, trace.needed, strict=True)
        ]

    def _backward(self) -> list[BackwardBranch]:
        """Return the branches for the gradients, [false, true]."""
        graph, context = self._call.graph, self._call.graph._context
        forward = [side.branch for side in self._sides]
        pred = forward[0].pred if context is None else context.inside(forward[0].pred)
        pivots = [branch.pivot.outputs[0] for branch in forward if branch.pivot is not None]
        if pred is not forward[0].pred:
            with graph.name_scope(f"{forward[0].name}_grad"):
                switched = raw.Switch(pred, pred)
                pivots = [raw.Identity(switched[0], name="switch_f"),
                          raw.Identity(switched[1], name="switch_t")]  # fmt: skip
        sides = [BackwardBranch(branch, pred, pivot)
                 for branch, pivot in zip(forward, pivots, strict=True)]  # fmt: skip
        sides[0].other, sides[1].other = sides[1], sides[0]
        sides[1].merges = sides[0].merges
        return sides

    def _merged(
        self, tensor: Tensor, backward: list[BackwardBranch], arrived: list[Arrived]
    ) -> Any:
        """Return the gradient of an input after both sides."""
        parts = []
        for side, back, each in zip(self._sides, backward, arrived, strict=True):
            with back.entered():
                parts.append(side.total(tensor, each))
        there = [part for part in parts if part is not None]
        if not there or self._is_dead_too(tensor):
            return there[0] if there else None
        leaf = next(
            leaf for side in self._sides for leaf, each in side.leaves.items() if each is tensor
        )
        with self._call.beside(leaf.op), self._call.graph.name_scope(f"{leaf.op.name}_grad"):
            if all(isinstance(part, IndexedSlices) for part in there):
                return _merged_slices(tensor, backward, parts)
            return of_shape(_merged_tensor(tensor, backward, parts), tensor, "the gradient")

    def _is_dead_too(self, tensor: Tensor) -> bool:
        """Return whether an input is dead, or unused, when the side that takes it is."""
        if any(side.leaves.get(tensor) is tensor for side in self._sides):
            return True
        if tensor.dtype is not dtypes.resource or source_of(tensor) is not None:
            return False
        if getattr(self._branch, "loop", None) is None:
            raise ValueError(
                f"the gradient of a gradient that was computed inside of cond {self._branch.name!r}"
                " cannot lead to a loop outside of it: compute the first gradient outside"
            )
        return True  # each element of a stack is taken in the branch that pushed it


def _merged_tensor(
    tensor: Tensor, backward: Sequence[BackwardBranch], parts: Sequence[Any]
) -> Tensor:
    results = []
    for side, part in zip(backward, parts, strict=True):
        with side.entered():
            results.append(zeros_for(tensor) if part is None else part._as_tensor(False))
    return _merge(backward, results)


def _merged_slices(
    tensor: Tensor, backward: Sequence[BackwardBranch], parts: Sequence[Any]
) -> IndexedSlices:
    index_type = common_index_type([part for part in parts if part is not None])
    slices = []
    for side, part in zip(backward, parts, strict=True):
        with side.entered():
            slices.append(with_indices(part or no_rows(tensor, index_type), index_type))
    values = _merge(backward, [each.values for each in slices])
    indices = _merge(backward, [each.indices for each in slices])
    return IndexedSlices(values, indices, shape_of(tensor))


def _merge(sides: Sequence[BackwardBranch], results: Sequence[Tensor]) -> Tensor:
    """Return the result of the side that is taken."""
    for side, result in zip(sides, results, strict=True):
        side.results.append(_held(side, side.inside(result)))
    merged: Tensor = raw.Merge([side.results[-1] for side in sides], name="cond_grad")[0]
    sides[0].merges.append(merged)
    return merged


def _held(side: BackwardBranch, tensor: Tensor) -> Tensor:
    """Return a tensor with the value of `tensor` that belongs to `side`."""
    if side.holds(tensor.op):
        return tensor
    with side.entered():
        own: Tensor = raw.Identity(tensor)
    return own
