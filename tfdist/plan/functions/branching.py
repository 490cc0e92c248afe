"""Lowering of functional branches and loops to TensorFlow 1's nodes, as of `cond` and `while_loop`.

A branch's arguments come through a `Switch` each, its results through a `Merge`; a branch that
does something to state is joined by a `Merge` that only tells that it is done. In a loop, an
argument that each iteration hands on as it is enters once, as a constant of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType, bool_, int32
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import ARGUMENT, Body
from tfdist.graph.records import Node
from tfdist.plan.functions.inliner import Inliner, Place, Ran
from tfdist.plan.prune import Endpoint

# What runs on one side of a branch: takes the arguments there, and the place.
Side = Callable[[list[Endpoint], Place], Ran]


def branch(inliner: Inliner, node: Node, place: Place) -> None:
    """Add the nodes of an `If`."""
    attrs, types = node.attrs, _input_types(node, node.attrs["Tin"], 1)

    def run(name: str) -> Side:
        function = attrs[f"{name}_branch"]
        return lambda inputs, inside: inliner.run(
            function, inputs, types, inliner.within(node, inside, name)
        )

    pred = _truth(inliner, node, node.inputs[0], attrs["Tcond"], place)
    brancher = _Brancher(inliner, node, place)
    ran = brancher.choose(pred, node.inputs[1:], types, (run("else"), run("then")))
    inliner.finish(node, ran, attrs["Tout"], place)


def case(inliner: Inliner, node: Node, place: Place) -> None:
    """Add the nodes of a `Case`: branches in branches, of which the last takes all that remains."""
    functions = node.attrs["branches"]
    types = _input_types(node, node.attrs["Tin"], 1)

    def run(number: int) -> Side:
        return lambda inputs, inside: inliner.run(
            functions[number], inputs[1:], types, inliner.within(node, inside, f"branch{number}")
        )

    def choose(number: int) -> Side:
        if number == len(functions) - 1:
            return run(number)
        return lambda inputs, inside: _Brancher(inliner, node, inside, f"{number}/").choose(
            _equals(inliner, node, inputs[0], number, inside),
            inputs, [int32, *types], (choose(number + 1), run(number)),
        )  # fmt: skip

    ran = choose(0)(list(node.inputs), place)
    inliner.finish(node, ran, node.attrs["Tout"], place)


def _input_types(node: Node, types: Sequence[DType], before: int = 0) -> list[DType]:
    if len(node.inputs) != before + len(types):
        raise InvalidArgumentError(
            f"it takes {before + len(types)} inputs, but has {len(node.inputs)}"
        )
    return list(types)


def _truth(inliner: Inliner, call: Node, value: Endpoint, dtype: DType, place: Place) -> Endpoint:
    """Return a value as the truth that TensorFlow sees in it: not zero, not empty."""
    maker = inliner.node(value[0])
    shapes = maker.shapes if maker is not None else ()
    is_scalar = shapes[value[1]] == () if value[1] < len(shapes) else False
    if dtype is bool_ and (is_scalar or call.attrs.get("_lower_using_switch_merge") is True):
        return value
    return inliner.new("ToBool", "ToBool", [value], place, call, call.control, T=dtype), 0


def _equals(inliner: Inliner, call: Node, index: Endpoint, number: int, place: Place) -> Endpoint:
    constant = inliner.new(
        f"{number}/index", "Const", (), place, call, value=np.array(number, np.int32), dtype=int32
    )
    return inliner.new(f"{number}/Equal", "Equal", [index, (constant, 0)], place, call, T=int32,
                       incompatible_shape_error=True), 0  # fmt: skip


class _Brancher:
    """Makes one choice between two sides.

    Args:
      inliner: adds the nodes.
      call: the node that chooses.
      place: where it is.
      scope: of names inside the call.
    """

    def __init__(self, inliner: Inliner, call: Node, place: Place, scope: str = "") -> None:
        self._inliner, self._call, self._place, self._scope = inliner, call, place, scope

    def choose(
        self, pred: Endpoint, inputs: Sequence[Endpoint], types: Sequence[DType],
        sides: tuple[Side, Side],
    ) -> Ran:  # fmt: skip
        """Add both sides, the one for false first in `sides`; returns what the taken one gives."""
        control = self._call.control
        switch = self._new("Switch", "Switch", [pred, pred], control=control, T=bool_)
        pivots = [self._new(f"switch_{'ft'[port]}", "Identity", [(switch, port)], T=bool_)
                  for port in (0, 1)]  # fmt: skip
        held = self._new("pred_id", "Identity", [pred], control=control, T=bool_)
        data = [
            self._new(f"Switch_{i}", "Switch", [each, (held, 0)], beside=each[0], T=dtype)
            for i, (each, dtype) in enumerate(zip(inputs, types, strict=True), 1)
        ]
        ran = [
            side(
                [(name, port) for name in data],
                self._place._replace(gate=(pivots[port],), outside=frozenset()),
            )
            for port, side in enumerate(sides)
        ]
        return Ran(self._merged(ran), self._done(pivots, ran))

    def _merged(self, ran: Sequence[Ran]) -> list[Endpoint]:
        types = self._call.attrs["Tout"]
        counts = [len(each.results) for each in ran]
        if counts != [len(types)] * 2:
            raise InvalidArgumentError(f"it gives {len(types)} results, its branches {counts}")
        pairs = zip(*(each.results for each in ran), types, strict=True)
        return [(self._new("Merge", "Merge", (f, t), N=2, T=dtype), 0) for f, t, dtype in pairs]

    def _done(self, pivots: Sequence[str], ran: Sequence[Ran]) -> list[str]:
        """Return nodes that run when the taken side has done all it does to state."""
        if not any(each.effects for each in ran):
            return []
        ends = [
            (self._new("done", "Identity", [(pivot, 0)], control=each.effects, T=bool_), 0)
            for pivot, each in zip(pivots, ran, strict=True)
        ]
        return [self._new("done", "Merge", ends, N=2, T=bool_)]

    def _new(self, name: str, op: str, inputs: Sequence[Endpoint], **more: AttrValue) -> str:
        name = self._scope + name
        return self._inliner.new(name, op, inputs, self._place, self._call, **more)


def loop(inliner: Inliner, node: Node, place: Place) -> None:
    """Add the nodes of a `While`."""
    _Looper(inliner, node, place).add()


class _Looper:
    """Makes one loop."""

    def __init__(self, inliner: Inliner, call: Node, place: Place) -> None:
        self._inliner, self._call, self._place = inliner, call, place
        self._types = _input_types(call, call.attrs["T"])
        self._starts = list(call.inputs)
        body = inliner.bodies.needed(call.attrs["body"], place.chain).body
        self._variables = [i for i in range(len(self._types)) if not _hands_on(body, i)]
        if not self._variables:  # a loop needs a loop-carried value
            self._variables = [len(self._types)]
            value = np.array(0, np.int32)
            start = self._new("start", "Const", (), place, call.control, value=value, dtype=int32)
            self._starts.append((start, 0))

    def add(self) -> None:
        """Add the loop's nodes."""
        types = [*self._types, int32]
        enters = [self._enter(i, types[i]) for i in range(len(self._starts))]
        constants = frozenset([(enter, 0) for enter in enters])
        merges = {}
        for i in self._variables:  # names the source of the back edge, which is made later
            following = (self._inliner.unique(f"{self._call.name}/NextIteration"), 0)
            merges[i] = self._new("Merge", "Merge", [(enters[i], 0), following], self._place,
                                  N=2, T=types[i]), following[0]  # fmt: skip
        heads = [(merges[i][0] if i in merges else enter, 0) for i, enter in enumerate(enters)]
        first = merges[self._variables[0]][0]
        going = self._condition(heads, self._inside("cond", first, constants))
        switches = {i: self._new("Switch", "Switch", [(merge, 0), (going, 0)], self._place,
                                 beside=merge, T=types[i])
                    for i, (merge, _) in merges.items()}  # fmt: skip
        inner = {i: self._new("Identity", "Identity", [(switch, 1)], self._place, T=types[i])
                 for i, switch in switches.items()}  # fmt: skip
        tails = [(inner.get(i, enter), 0) for i, enter in enumerate(enters)]
        inside = self._inside("body", inner[self._variables[0]], constants)
        self._turn(tails, inside, {i: name for i, (_, name) in merges.items()})
        results = [
            (self._new("Exit", "Exit", [(switches[i], 0)], self._place, T=types[i]), 0)
            if i in switches else start for i, start in enumerate(self._starts)
        ]  # fmt: skip
        ran = Ran(results[: len(self._types)], [name for name, _ in results[len(self._types) :]])
        self._inliner.finish(self._call, ran, self._types, self._place)

    def _enter(self, i: int, dtype: DType) -> str:
        """Bring a start into the loop: for its first iteration, or as a constant for all."""
        return self._new(
            "Enter", "Enter", [self._starts[i]], self._place, self._call.control,
            T=dtype, frame_name=self._call.name.encode(), is_constant=i not in self._variables,
            parallel_iterations=self._call.attrs.get("parallel_iterations", 10),
        )  # fmt: skip

    def _inside(self, name: str, gate: str, constants: frozenset[Endpoint]) -> Place:
        place = self._place._replace(gate=(gate,), outside=constants)
        return self._inliner.within(self._call, place, name)

    def _condition(self, inputs: list[Endpoint], inside: Place) -> str:
        """Add what tells whether there is another iteration; returns the LoopCond."""
        count = len(self._types)
        ran = self._inliner.run(self._call.attrs["cond"], inputs[:count], self._types, inside)
        function = self._inliner.bodies.needed(self._call.attrs["cond"], self._place.chain).body
        if len(ran.results) != 1:
            raise InvalidArgumentError(f"its condition gives {len(ran.results)} results, not one")
        free = self._call._replace(control=())  # what it waits for has been waited for outside
        pred = _truth(self._inliner, free, ran.results[0], function.outputs[0], inside)
        pred = self._after(ran.effects, pred, bool_, inside)
        return self._new("LoopCond", "LoopCond", [pred], inside)

    def _turn(self, inputs: list[Endpoint], inside: Place, names: dict[int, str]) -> None:
        """Add what an iteration does, up to the NextIterations that are called `names`."""
        count = len(self._types)
        ran = self._inliner.run(self._call.attrs["body"], inputs[:count], self._types, inside)
        if len(ran.results) != count:
            raise InvalidArgumentError(
                f"its body gives {len(ran.results)} results for {count} variables"
            )
        last = [*ran.results, *inputs[count:]]
        effects = ran.effects
        for i, name in names.items():
            dtype = [*self._types, int32][i]
            value = self._after(effects, last[i], dtype, inside)
            effects = []
            node = Node(name, "NextIteration", (value,), (), self._call.device, {"T": dtype})
            self._inliner.emit(node, inside)

    def _after(self, effects: list[str], value: Endpoint, dtype: DType, inside: Place) -> Endpoint:
        """Return `value`, there only when `effects` have run."""
        if not effects:
            return value
        return self._new("done", "Identity", [value], inside, effects, T=dtype), 0

    def _new(
        self, name: str, op: str, inputs: Sequence[Endpoint], place: Place,
        control: Sequence[str] = (), **more: AttrValue,
    ) -> str:  # fmt: skip
        return self._inliner.new(name, op, inputs, place, self._call, control, **more)


def _hands_on(body: Body, i: int) -> bool:
    """Return whether an iteration gives its argument `i` as it is to the next one."""
    if i >= len(body.results):
        return False
    nodes = {node.name: node for node in body.nodes}
    endpoint = body.results[i]
    while endpoint[0] != ARGUMENT:
        node = nodes[endpoint[0]]
        if node.op != "Identity" or node.control:
            return False
        endpoint = node.inputs[0]
    return endpoint == (ARGUMENT, i)
