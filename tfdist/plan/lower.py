"""Control-flow lowering: branches and loops proven to be Python's `if` and `while`.

A loop whose frame is whole in a partition, and in which nothing waits, sends or receives, becomes
one node, `_Loop`, that holds what runs in it; branches become predicates (`branch_predicates`).
What remains is a partition without control flow, which is compiled. Otherwise the partition runs by
token-based dataflow (`tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import EXITS, MERGES, NEXT_ITERATIONS, RECEIVES, SENDS, SWITCHES, Node
from tfdist.plan.branch_predicates import NotProvenError, guard_of, guarded, guards_after
from tfdist.plan.frames import Path, frames_of
from tfdist.plan.partitioning.cutter import ALIVE
from tfdist.plan.prune import prune
from tfdist.plan.step_plan import Partition

LOOP = "_Loop"


class Variable(NamedTuple):
    """A variable of a loop.

    Attributes:
      merge: the `Merge` at which an iteration begins.
      switch: the `Switch` behind it, None if nobody takes the value but the condition.
      next: the `NextIteration`, source of the back edge.
    """

    merge: Node
    switch: Node | None
    next: Node


class Loop(NamedTuple):
    """What runs in a loop.

    Attributes:
      variables: in the order of the first inputs of the `_Loop` node, and of its outputs.
      enters: for each input of the node, the `Enter` that brings it in.
      condition: the `LoopCond`, which takes whether there is another iteration.
      head: what runs before the condition is looked at, inputs first, guarded.
      body: what runs after that.
      inner: all nodes, for those who look up types.
    """

    variables: tuple[Variable, ...]
    enters: tuple[Node, ...]
    condition: Node
    head: tuple[Node, ...]
    body: tuple[Node, ...]
    inner: tuple[Node, ...]


def loop_of(node: Node) -> Loop:
    """Return what runs in a `_Loop`."""
    found: Loop = node.attrs["loop"]
    return found


class Lowered(NamedTuple):
    """What became of a partition.

    Attributes:
      partition: with a node for each loop that is proven, and if it is whole, with guards.
      is_whole: whether nothing is left for tokens.
    """

    partition: Partition
    is_whole: bool


def lower(partition: Partition) -> Lowered:
    """Return `partition` with as many loops as nodes, and branches as guards, as can be proven."""
    lowering = _Lowering(partition)
    try:
        return Lowered(partition._replace(nodes=tuple(lowering.whole())), True)
    except NotProvenError:
        pass
    try:
        return Lowered(partition._replace(nodes=tuple(lowering.rest())), False)
    except InvalidArgumentError:  # a loop takes what it gives, which as one node it cannot
        return Lowered(partition, False)


def inner_nodes(nodes: Iterable[Node]) -> list[Node]:
    """Return `nodes` with those inside of loops."""
    found = []
    for node in nodes:
        found.append(node)
        if node.op == LOOP:
            found += inner_nodes(loop_of(node).inner)
    return found


class _Lowering:
    """Turns one loop after the other into a node, the innermost first."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._fed = frozenset(partition.feeds)
        self._frames = frames_of(partition.nodes, self._fed)
        self._frame: dict[Path, list[Node]] = {}
        for node in partition.nodes:
            self._frame.setdefault(self._frames.runs_in[node.name], []).append(node)

        self._kept: set[Path] = set()  # loops that are left to tokens
        for path in sorted(self._frame, key=len, reverse=True):
            if path:
                self._fold(path)

    def whole(self) -> list[Node]:
        """Return the nodes of a partition without loops, guarded.

        Raises:
          NotProvenError: there are loops or branches that are not proven.
        """
        if self._kept:
            raise NotProvenError(f"loops are left: {self._kept}")
        nodes = guarded(_inputs_first(self._frame[()]), self._fed)
        self._check(nodes)
        return nodes

    def rest(self) -> list[Node]:
        """Return the nodes outside of the loops that were folded."""
        named = {node.name: node for nodes in self._frame.values() for node in nodes}
        return prune(named, named, self._fed)

    def _check(self, nodes: Sequence[Node]) -> None:
        dead = guards_after(nodes)
        fetched = set(self._partition.fetches) - self._fed
        if not fetched.isdisjoint(dead):
            raise NotProvenError("a fetched tensor may be dead")
        receives = any(node.op in RECEIVES and not node.attrs.get(ALIVE) for node in nodes)
        for node in nodes:
            if guard_of(node) and (node.op_def.waits or node.op in SENDS):
                raise NotProvenError(f"{node.name} waits or sends in a branch")
            if receives and node.op in MERGES:
                raise NotProvenError(f"{node.name} may take what comes dead from another task")

    def _fold(self, path: Path) -> None:
        """Replace a loop by one node in the frame around it, if that is proven to be the same."""
        if any(kept[: len(path)] == path for kept in self._kept):
            return
        around = self._frame.setdefault(path[:-1], [])
        enters = [node for node in around if self._frames.gives_to.get(node.name) == path]
        try:
            self._frame[path[:-1]] = _Folder(path, enters, self._frame[path]).replace(around)
            del self._frame[path]
        except NotProvenError:
            self._kept.add(path)


class _Folder:
    """One loop."""

    def __init__(self, path: Path, enters: list[Node], nodes: list[Node]) -> None:
        self._path = path
        self._nodes = {node.name: node for node in nodes}
        conditions = [node for node in nodes if node.op == "LoopCond"]
        if len(conditions) != 1:
            raise NotProvenError(f"{path} has {len(conditions)} conditions here")
        self._condition = conditions[0]
        firsts = {node.name: node for node in enters if not node.attrs["is_constant"]}
        self._merges = [self._loop_merge(node, firsts) for node in nodes if self._turns(node)]
        if len(self._merges) != len(firsts):
            raise NotProvenError(f"{path} has an Enter that begins no variable")
        first_of = {merge.inputs[0][0]: merge for merge in self._merges}
        constants = [node for node in enters if node.attrs["is_constant"]]
        self._enters = [firsts[name] for name in first_of] + constants
        self._merges = list(first_of.values())
        self._switches = self._find_switches()
        self._exits = [node for node in nodes if node.op in EXITS]

    def replace(self, around: list[Node]) -> list[Node]:
        """Return the frame around the loop with one node for it."""
        inside = {node.name for node in self._enters}
        kept = [node for node in around if node.name not in inside]
        return [*kept, self._node(), *self._outlets()]

    def _node(self) -> Node:
        head, body = self._parts()
        loop = Loop(
            variables=tuple(self._variable(merge) for merge in self._merges),
            enters=tuple(self._enters),
            condition=self._condition,
            head=tuple(head),
            body=tuple(body),
            inner=(*self._enters, *self._nodes.values()),
        )
        control = dict.fromkeys(name for enter in self._enters for name in enter.control)
        return Node(
            self._name,
            LOOP,
            tuple(enter.inputs[0] for enter in self._enters),
            tuple(control),
            self._condition.device,
            {"loop": loop, "Tout": [merge.attrs["T"] for merge in self._merges]},
        )

    @property
    def _name(self) -> str:
        return f"_loop/{self._condition.name}"

    def _outlets(self) -> list[Node]:
        """Return nodes that have the names of the Exits, and give the loop's outputs."""
        position = {self._switch_name(merge): i for i, merge in enumerate(self._merges)}
        outlets = []
        for node in self._exits:
            name, port = node.inputs[0]
            if port != 0 or name not in position or node.control:
                raise NotProvenError(f"{node.name} leaves the loop from within")
            source = ((self._name, position[name]),)
            outlets.append(node._replace(op="Identity", inputs=source))
        return outlets

    def _turns(self, node: Node) -> bool:
        """Return whether `node` is a Merge at which iterations begin."""
        makers = [self._nodes.get(name) for name, _ in node.inputs]
        return node.op in MERGES and any(m is not None and m.op in NEXT_ITERATIONS for m in makers)

    def _loop_merge(self, node: Node, firsts: dict[str, Node]) -> Node:
        is_plain = (
            len(node.inputs) == 2
            and node.inputs[0][0] in firsts
            and firsts[node.inputs[0][0]].op != "RefEnter"  # the loop-carried variable is a value
            and self._nodes[node.inputs[1][0]].op in NEXT_ITERATIONS
            and not node.control
        )
        if not is_plain:
            raise NotProvenError(f"{node.name} does not begin the iterations of a variable")
        return node

    def _find_switches(self) -> dict[str, Node]:
        """Return the `Switch` of each variable, by the name of its `Merge`."""
        found: dict[str, Node] = {}
        merges = {merge.name for merge in self._merges}
        for node in self._nodes.values():
            if node.op in SWITCHES and node.inputs[1][0] == self._condition.name:
                name, port = node.inputs[0]
                if port or name not in merges or name in found:
                    raise NotProvenError(f"{node.name} does not end the iterations of a variable")
                found[name] = node
        return found

    def _switch_name(self, merge: Node) -> str:
        switch = self._switches.get(merge.name)
        return switch.name if switch else ""

    def _variable(self, merge: Node) -> Variable:
        following = self._nodes[merge.inputs[1][0]]
        return Variable(merge, self._switches.get(merge.name), following)

    def _parts(self) -> tuple[list[Node], list[Node]]:
        """Return what runs before the condition, and what runs after it, guarded."""
        frame = {node.name for node in (*self._merges, *self._switches.values(), *self._exits)}
        frame.add(self._condition.name)
        inside = {
            switch.name for switch in self._switches.values()
        }  # what runs in full iterations only
        work = {name: self._after_switches(node) for name, node in self._nodes.items()
                if name not in frame and node.op not in NEXT_ITERATIONS}  # fmt: skip
        self._check_inputs(work)
        head, body = [], []
        for node in _inputs_first(work.values()):
            if node.op_def.waits or node.op in SENDS:
                raise NotProvenError(f"{node.name} waits or sends")
            if inside.isdisjoint(_above(node)):
                if len(node.control) < len(self._nodes[node.name].control):
                    raise NotProvenError(f"{node.name} runs where an iteration ends")
                head.append(node)
            else:
                inside.add(node.name)
                body.append(node)
        self._check_ends(inside)
        sources = (*self._enters, *self._merges, *self._switches.values())
        head = guarded(head, sources=sources)
        body = guarded(body, sources=sources, before=head)
        self._check_alive([*head, *body])
        return head, body

    def _after_switches(self, node: Node) -> Node:
        """Return a node that waits for no switch: an iteration runs after them anyway."""
        switches = {switch.name for switch in self._switches.values()}
        return node._replace(control=tuple(name for name in node.control if name not in switches))

    def _check_inputs(self, work: Mapping[str, Node]) -> None:
        """Check that nobody needs of a loop's own nodes anything besides its variables."""
        constants = [node for node in self._enters if node.attrs["is_constant"]]
        begun = {node.name for node in (*constants, *self._merges)}
        given = {(name, 0) for name in begun}
        given |= {(switch.name, 1) for switch in self._switches.values()}
        ends = [node for node in self._nodes.values() if node.op in NEXT_ITERATIONS]
        for node in (*work.values(), *ends, self._condition):
            for endpoint in node.inputs:
                if endpoint[0] not in work and endpoint not in given:
                    raise NotProvenError(f"{node.name} takes what leaves the loop")
        for node in work.values():
            for name in node.control:
                if name not in work and name not in begun:
                    raise NotProvenError(f"{node.name} waits for {name}, which ends an iteration")

    def _check_ends(self, inside: set[str]) -> None:
        if self._condition.inputs[0][0] in inside:
            raise NotProvenError("a condition depends on what runs after it")
        for node in self._nodes.values():
            if node.op in NEXT_ITERATIONS and inside.isdisjoint(_above(node)):
                raise NotProvenError(f"{node.name} runs in the last iteration too")

    def _check_alive(self, nodes: list[Node]) -> None:
        """Check that what makes iterations takes and waits for nothing that may be dead."""
        dead = guards_after(nodes)
        ends = [self._variable(merge).next for merge in self._merges]
        if any(end.inputs[0] in dead for end in (*ends, self._condition)):
            raise NotProvenError("a variable of the loop may be dead")
        certain = {node.name for node in nodes if not guard_of(node)}
        if not certain.issuperset(name for end in ends for name in end.control):
            raise NotProvenError("an iteration of the loop waits for what may be dead")
        if any(node.control for node in (self._condition, *self._switches.values())):
            raise NotProvenError("the end of the loop waits for what may be dead")


def _inputs_first(nodes: Iterable[Node]) -> list[Node]:
    """Return `nodes` inputs first: folded loops stand at the end of their frame."""
    named = {node.name: node for node in nodes}
    order: list[Node] = []
    done: set[str] = set()
    stack: list[tuple[str, bool]] = [(name, False) for name in reversed(named)]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            order.append(named[name])
        elif name not in done:
            done.add(name)
            stack.append((name, True))
            node = named[name]
            stack += [(each, False) for each in _above(node) if each in named]
    return order


def _above(node: Node) -> tuple[str, ...]:
    """Return the nodes that `node` waits for."""
    return (*(name for name, _ in node.inputs), *node.control)
