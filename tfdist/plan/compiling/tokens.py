"""Token-based (dataflow) execution: programs by which the interpreter runs branches and loops.

Each frame of a partition becomes a `Program` of its own. A node is a unit, and its outputs have
slots among the values of an iteration of its frame. What a unit gives, dead or alive, are tokens
for its consumers: those of the same iteration, of the next one (`NextIteration`), of the first
iteration of an inner frame (`Enter`), or of the iteration that surrounds the frame (`Exit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfdist.base.aliases import TensorValue
from tfdist.graph.op_def import DEAD
from tfdist.graph.records import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SENDS,
    SWITCHES,
    Node,
    is_back_edge,
)
from tfdist.plan.compiling.generate import generate
from tfdist.plan.compiling.interpret import begin, fetches_of, interpret
from tfdist.plan.compiling.node_bindings import Lines, NodeBindings, RuntimeCallbacks, is_stateful
from tfdist.plan.compiling.program import UNMEASURED, Consumers, Frame, Program, TokenFlow
from tfdist.plan.compiling.sizes import has_data_dependent_sizes
from tfdist.plan.frames import Path, frame_name, frames_of
from tfdist.plan.lower import LOOP
from tfdist.plan.prune import Endpoint
from tfdist.plan.segment import FIRST_VALUE, Layout, Unit
from tfdist.plan.step_plan import Partition, output_types

_FLOWS = {
    **dict.fromkeys(ENTERS, TokenFlow.ENTER),
    **dict.fromkeys(EXITS, TokenFlow.EXIT),
    **dict.fromkeys(NEXT_ITERATIONS, TokenFlow.NEXT_ITERATION),
}
_CONTROL = -1  # the output of a node from which a token without a value comes


class _Edge(NamedTuple):
    """One token: from an output of a unit, or from its end, to the unit that takes it."""

    port: int
    consumer: int
    is_choice: bool  # whether a Merge takes it as one of several values


@dataclass
class _Sketch:
    """A frame while its program is made."""

    path: Path
    nodes: list[Node] = field(default_factory=list)
    units: dict[str, int] = field(default_factory=dict)
    slots: dict[Endpoint, int] = field(default_factory=dict)
    edges: list[list[_Edge]] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    merged: dict[int, int] = field(default_factory=dict)
    enters: int = 0
    parallel: int = 1
    inner: list[_Sketch] = field(default_factory=list)

    def slot(self, endpoint: Endpoint) -> int:
        """Return the place of a value in this frame's iterations."""
        return self.slots.setdefault(endpoint, FIRST_VALUE + len(self.slots))

    def add(self, node: Node) -> None:
        """Make a unit of `node`."""
        self.units[node.name] = len(self.nodes)
        self.nodes.append(node)
        self.edges.append([])
        self.pending.append(0)


def build_frames(partition: Partition, callbacks: RuntimeCallbacks, traced: bool) -> Program:
    """Return `partition` as a program that runs by tokens.

    Args:
      partition: what to run.
      callbacks: what the code calls.
      traced: whether each node notes when it ran and what it made.

    Raises:
      InvalidArgumentError: frames are entangled, or a node has no kernel for its device's type.
    """
    sketcher = _Sketcher(partition)
    return _Maker(partition, callbacks, traced, sketcher.gives_to).make(sketcher.sketches[()])


class _Sketcher:
    """Finds the frames of a partition, and the tokens that go between its nodes."""

    def __init__(self, partition: Partition) -> None:
        self._frames = frames = frames_of(partition.nodes, frozenset(partition.feeds))
        self._fed = frozenset(partition.feeds)
        self.sketches: dict[Path, _Sketch] = {(): _Sketch(())}
        root = self.sketches[()]
        for endpoint in partition.feeds:
            root.slot(endpoint)
        for node in partition.nodes:
            self._open(frames.gives_to[node.name])
            self.sketches[frames.runs_in[node.name]].add(node)
        for node in partition.nodes:
            self._wire(node)
        for endpoint in partition.fetches:
            root.slot(endpoint)

    def gives_to(self, node: Node) -> _Sketch:
        """Return the frame in which the outputs of `node` live."""
        return self.sketches[self._frames.gives_to[node.name]]

    def _open(self, path: Path) -> None:
        if path not in self.sketches:
            self._open(path[:-1])
            self.sketches[path] = _Sketch(path)
            self.sketches[path[:-1]].inner.append(self.sketches[path])

    def _wire(self, node: Node) -> None:
        """Note which tokens `node` waits for, and from whom."""
        here = self.sketches[self._frames.runs_in[node.name]]
        for port in range(len(output_types(node))):
            here.slot((node.name, port))
            self.gives_to(node).slot((node.name, port))
        if node.op in MERGES:
            self._merge(here, node)
        else:
            self._take(here, node, node.inputs)
        for name in node.control:
            self._edge(here, node, name, _CONTROL)
        if node.op in ENTERS:
            inner = self.gives_to(node)
            inner.enters += 1
            inner.parallel = max(inner.parallel, node.attrs["parallel_iterations"])

    def _take(self, here: _Sketch, node: Node, inputs: Iterable[Endpoint]) -> None:
        for name, port in inputs:
            if (name, port) not in self._fed:
                self._edge(here, node, name, port)

    def _edge(self, here: _Sketch, node: Node, name: str, port: int) -> None:
        maker = self.sketches[self._frames.runs_in[name]]
        maker.edges[maker.units[name]].append(_Edge(port, here.units[node.name], False))
        here.pending[here.units[node.name]] += 1

    def _merge(self, here: _Sketch, node: Node) -> None:
        """Let a Merge wait for one value: the first live one, or the only one of an iteration."""
        unit = here.units[node.name]
        if not self._fed.isdisjoint(node.inputs):
            return  # a value is there from the beginning
        here.pending[unit] += 1
        is_loop = self._is_loop(here, node)
        for name, port in node.inputs:
            maker = self.sketches[self._frames.runs_in[name]]
            maker.edges[maker.units[name]].append(_Edge(port, unit, not is_loop))
        if not is_loop:
            here.merged[unit] = len(node.inputs)

    def _is_loop(self, here: _Sketch, node: Node) -> bool:
        makers = [here.units.get(name) for name, _ in node.inputs]
        return any(i is not None and is_back_edge(node, here.nodes[i]) for i in makers)


class _Maker:
    """Makes the programs of frames."""

    def __init__(
        self,
        partition: Partition,
        callbacks: RuntimeCallbacks,
        traced: bool,
        gives_to: Callable[[Node], _Sketch],
    ) -> None:
        self._partition, self._traced = partition, traced
        self._whole = NodeBindings(Layout(partition, (), (), (), {}, 0), callbacks, traced)
        self._gives_to = gives_to

    def make(self, sketch: _Sketch) -> Program:
        """Return the program of a frame, with those inside it."""
        inner = {each.path[-1]: self.make(each) for each in sketch.inner}
        made = self._units(sketch)
        is_root = not sketch.path
        nodes = sketch.nodes
        return Program(
            functions=tuple(function for function, _, _ in made),
            lines=tuple(lines for _, lines, _ in made),
            waits=tuple(node.op_def.waits for node in nodes),
            stores=tuple(stores for _, _, stores in made),
            dependents=(),
            pending=tuple(sketch.pending),
            start=tuple(i for i, count in enumerate(sketch.pending) if not count) * is_root,
            template=(DEAD,) * (FIRST_VALUE + len(sketch.slots)),
            feed_count=len(self._partition.feeds) * is_root,
            fetches=fetches_of(self._bindings(sketch, sketch.slots)) if is_root else (),
            nodes=tuple((node,) for node in nodes),
            is_compiled=False,
            may_run_on=_may_run_on(nodes, list(inner.values()), is_root),
            has_dynamic_sizes=is_root and has_data_dependent_sizes(self._partition),
            can_block=any(node.op_def.waits for node in self._partition.nodes),
            is_stateful=is_stateful(self._partition.nodes),
            costs=[0 for _ in nodes],
            fed=[0],
            kept={},
            frame=self._frame(sketch, inner),
        )

    def _bindings(self, sketch: _Sketch, slots: dict[Endpoint, int]) -> NodeBindings:
        layout = Layout(self._partition, (), (), (), slots, FIRST_VALUE + len(sketch.slots))
        return self._whole.laid_out(layout)

    def _units(self, sketch: _Sketch) -> list[tuple[TensorValue, Lines, tuple[int, ...]]]:
        """Return function, lines and places of the outputs of each unit of a frame."""
        # what a NextIteration gives must not be in the slot of the iteration before
        given = {(node.name, 0): sketch.slot((f"{node.name} gives", 0))
                 for node in sketch.nodes if node.op in NEXT_ITERATIONS}  # fmt: skip
        bindings = self._bindings(sketch, sketch.slots)
        onward = self._bindings(sketch, {**sketch.slots, **given})
        made: list[tuple[Any, Lines, tuple[int, ...]]] = []
        for node in sketch.nodes:
            if self._is_idle(bindings, node):
                made.append((_nothing, Lines(), (sketch.slots[node.inputs[0]],)))
                continue
            used = onward if node.op in NEXT_ITERATIONS else bindings
            stores = [used.layout.slots[node.name, i] for i in range(len(output_types(node)))]
            unit = Unit((node,), node.op_def.waits)
            made.append((*_form(unit)(used, unit), tuple(stores)))
        return made

    def _is_idle(self, bindings: NodeBindings, node: Node) -> bool:
        """Return whether nothing is to be computed: what `node` takes is led elsewhere."""
        if node.op not in _FLOWS or self._traced:
            return False
        [[_, [[_, is_read]]]] = bindings.inputs(node)
        return not is_read

    def _frame(self, sketch: _Sketch, inner: Mapping[str, Program]) -> Frame:
        nodes = sketch.nodes
        return Frame(
            name=sketch.path[-1] if sketch.path else "",
            flows=tuple(_FLOWS.get(node.op, TokenFlow.SAME) for node in nodes),
            consumers=tuple(map(self._consumers, nodes, sketch.edges)),
            merged=sketch.merged,
            runs_dead=frozenset(i for i, node in enumerate(nodes) if node.op in SENDS),
            entered={i: (frame_name(node), node.attrs["is_constant"])
                     for i, node in enumerate(nodes) if node.op in ENTERS},
            enters=sketch.enters,
            inner=dict(inner),
            parallel=sketch.parallel,
            bursts=[UNMEASURED],
        )  # fmt: skip

    def _consumers(self, node: Node, edges: list[_Edge]) -> tuple[Consumers, ...]:
        slots = self._gives_to(node).slots
        if node.op not in SWITCHES:
            return (_taken(slots[node.name, 0] if node.op in _FLOWS else None, edges),)
        parts: dict[int, list[_Edge]] = {}
        for edge in edges:
            parts.setdefault(edge.port, []).append(edge)
        return tuple(
            _taken(None if port == _CONTROL else slots[node.name, port], part)
            for port, part in parts.items()
        )


def _taken(place: int | None, edges: list[_Edge]) -> Consumers:
    counted = tuple(edge.consumer for edge in edges if not edge.is_choice)
    return Consumers(place, counted, tuple(edge.consumer for edge in edges if edge.is_choice))


def _may_run_on(nodes: Sequence[Node], inner: Sequence[Program], is_root: bool) -> bool:
    """Return whether a frame may take any time: its iterations wait for nothing, or a node may."""
    waits = is_root or any(node.op_def.waits for node in nodes)
    calls = any(node.op == LOOP or node.op_def.may_run_on for node in nodes)
    return not waits or calls or any(program.may_run_on for program in inner)


def _form(unit: Unit) -> Callable[[NodeBindings, Unit], TensorValue]:
    """Return what makes the function of a unit: a folded loop is compiled."""
    if unit.waits:
        return begin
    return generate if unit.nodes[0].op == LOOP else interpret


def _nothing(values: TensorValue) -> None:
    """Stand in for the kernel of a node that only leads a value elsewhere."""
