"""What the colours of a graph's picture mean: devices, kinds of ops, time, or memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from tfdist.plots.graph.data import GraphNode
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import OKABE_ITO, tint
from tfdist.plots.shared.tables import bytes_text, duration_text
from tfdist.plots.shared.themes import panel
from tfdist.tracing.device_names import device_order, short_device
from tfdist.tracing.steps.node_row import NodeRow

WAYS = ("device", "op", "time", "memory")
SCALED = ("time", "memory")  # shades of one colour, by what a step told
HATCHES = ("", "////", "....", "\\\\\\\\", "----", "xxxx", "||||", "oooo", "++++")
HOT = "#D55E00"
SCALE_STEPS = 4  # shades in the legend
NOWHERE = "no device asked for"

KINDS: tuple[tuple[str, str], ...] = (  # the first whose pattern fits the op's type
    ("variable", r"Variable|ReadVariable|VarHandle|TemporaryVariable"),
    ("constant", r"Const$|.*Constant$|Fill$|ZerosLike|OnesLike"),
    ("input", r"Placeholder|.*Reader|Read|.*Dataset|.*Iterator|.*Queue|Decode|Parse|_Arg"),
    ("random", r"Random|Truncated|Multinomial|ParameterizedT"),
    ("change of a variable", r"Assign|Apply|ResourceApply|SparseApply|ResourceSparse|Scatter.*"
     r"|AssignVariableOp|ResourceScatter|Save|Restore|.*Accumulator.*"),
    ("control flow", r"Switch|Merge|Enter|Exit|NextIteration|LoopCond|If|While|Case|NoOp|Ref"
     r"|Control|TensorArray|PartitionedCall|StatefulPartitionedCall|_Send|_Recv"),
    ("shape", r"Reshape|Shape|Size|Rank|Squeeze|ExpandDims|Concat|Split|Slice|StridedSlice|Pack"
     r"|Unpack|Transpose|Tile|Pad|Broadcast|Gather|Identity|Cast|Range|StopGradient|InvertPerm"
     r"|PreventGradient|DynamicStitch|Reverse|Where|OneHot"),
    ("gradient", r".*Grad$|.*GradV\d$|.*Backprop.*|BroadcastGradientArgs"),
    ("network", r"Conv|MatMul|BatchMatMul|BiasAdd|.*Pool|Relu|Elu|Selu|Softmax|LogSoftmax"
     r"|.*CrossEntropy|FusedBatchNorm|LRN|L2Loss|DepthwiseConv|Dropout|InTopK|TopK"),
    ("summary", r".*Summary"),
)  # fmt: skip
OTHER = "arithmetic, other"
_PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in KINDS]


def kind_of(op: str) -> str:
    """Return the kind of an op, by its type."""
    found = [kind for kind, pattern in _PATTERNS if pattern.match(op)]
    return "gradient" if "gradient" in found else (found or [OTHER])[0]


@dataclass(frozen=True)
class Key:
    """A colour of the legend: what it means, and how it is drawn."""

    name: str
    colour: str
    hatch: str = ""


@dataclass(frozen=True)
class Share:
    """A part of a box in one colour."""

    key: Key
    part: float


class Paint:
    """Colours for nodes.

    Args:
      by: one of `WAYS`.
      nodes: of the graph.
      times: microseconds that nodes took, or the bytes of their outputs for "memory", by name; what
        is not in it did not run.
      with_times: whether durations are written.
    """

    def __init__(
        self,
        by: str,
        nodes: Sequence[GraphNode],
        times: Mapping[str, float] | None = None,
        with_times: bool = True,
    ) -> None:
        if by not in WAYS:
            raise ValueError(f"by {by!r}: a graph is coloured by {', '.join(WAYS)}")
        if by in SCALED and times is None:
            raise ValueError(f"by {by}: nothing was traced yet; try %trace sess.run(c)")
        self.by, self._times, self._with_times = by, times or {}, with_times
        self._nodes = nodes
        names = [] if by in SCALED else _ordered(by, nodes)
        colours = _colours(by, names)
        self.keys = {
            name: Key(_shown(by, name), colours[name], HATCHES[i % len(HATCHES)])
            for i, name in enumerate(names)
        }

    @property
    def is_scaled(self) -> bool:
        """Return whether colours are shades of one, by how much there is."""
        return self.by in SCALED

    def amount_text(self, amount: float) -> str:
        """Return a time or a size."""
        return bytes_text(amount) if self.by == "memory" else duration_text(amount)

    def scale(self, most: float) -> list[tuple[str, str]]:
        """Return (colour, what it means) from nothing to `most`."""
        if not most or not self._with_times:
            return [(_heat(1.0), "most" if self.by == "memory" else "took longest")]
        steps = [k / SCALE_STEPS for k in range(1, SCALE_STEPS + 1)]
        return [(_heat(step), self.amount_text(step * most)) for step in steps]

    def among(self, nodes: Sequence[GraphNode]) -> Paint:
        """Return the same colours for some of the nodes."""
        found = copy(self)
        found._nodes = nodes
        there = {self._name(node) for node in nodes}
        found.keys = {name: key for name, key in self.keys.items() if name in there}
        return found

    def shares(self, members: Sequence[int], most: float) -> list[Share]:
        """Return the colours of a box, largest part first.

        Args:
          members: positions of its nodes.
          most: microseconds of the box that took longest.
        """
        if self.is_scaled:
            return [Share(Key("", _heat(self.time(members) / most if most else 0.0)), 1.0)]
        counts = Counter(self._name(self._nodes[i]) for i in members)
        total = len(members)
        return [Share(self.keys[name], count / total) for name, count in counts.most_common()]

    def time(self, members: Iterable[int]) -> float:
        """Return the microseconds that nodes took together, or the bytes that they made."""
        return sum(self._times.get(self._nodes[i].name, 0.0) for i in members)

    def words(self, members: Sequence[int]) -> str:
        """Return in words what the colours of a box say: "/job:ps 3, /job:worker/task:1 2"."""
        if self.is_scaled:
            ran = [i for i in members if self._nodes[i].name in self._times]
            if not ran:
                return "did not run"
            return self.amount_text(self.time(ran)) if self._with_times else "ran"
        shares = self.shares(members, 0.0)
        if len(shares) == 1:
            return shares[0].key.name
        return ", ".join(f"{s.key.name} {round(s.part * len(members))}" for s in shares)

    def _name(self, node: GraphNode) -> str:
        return node.device if self.by == "device" else kind_of(node.op)


def times_of(rows: Iterable[NodeRow]) -> dict[str, float]:
    """Return the microseconds that each node of a step took, its runs together."""
    found: dict[str, float] = {}
    for row in rows:
        if not row.source:
            found[row.name] = found.get(row.name, 0.0) + row.duration_us
    return found


def bytes_of(rows: Iterable[NodeRow]) -> dict[str, float]:
    """Return the bytes of the outputs of each node of a step, those of its largest run."""
    found: dict[str, float] = {}
    for row in rows:
        if not row.source:
            found[row.name] = max(found.get(row.name, 0.0), row.bytes)
    return found


def _heat(share: float) -> str:
    return tint(HOT, 0.75 * share) if share else panel()


def _ordered(by: str, nodes: Sequence[GraphNode]) -> list[str]:
    if by == "device":
        devices = sorted({node.device for node in nodes}, key=device_order)
        return [*filter(None, devices), *(name for name in devices if not name)]
    there = {kind_of(node.op) for node in nodes}
    return [kind for kind in (*dict(KINDS), OTHER) if kind in there]


def _shown(by: str, name: str) -> str:
    return (short_device(name) or NOWHERE) if by == "device" else name


def _colours(by: str, names: Sequence[str]) -> dict[str, str]:
    told = [name for name in names if name not in ("", OTHER)]
    numbered = {name: OKABE_ITO[i % len(OKABE_ITO)] for i, name in enumerate(told)}
    found = device_colours(told) if by == "device" else numbered
    return {name: found.get(name, OKABE_ITO[-1]) for name in names}
