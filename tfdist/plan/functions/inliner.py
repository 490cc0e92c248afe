"""The inliner: puts the nodes of functions' bodies into the places of their calls.

What each kind of call becomes is said elsewhere (`inline`, `branching`); here is what they share:
names, devices, gates, and the bodies themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfdist.base import devices
from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import ARGUMENT, Body, Library, NameAttrList
from tfdist.graph.op_def import lookup
from tfdist.graph.records import ENTERS, Node
from tfdist.plan.attributes import check_attrs
from tfdist.plan.functions.bodies import Bodies, depths_of
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import output_types

_MOST = 1_000_000  # nodes that calls may become in all: a small graph could ask for any number


class Place(NamedTuple):
    """Where the nodes of a body go.

    Attributes:
      prefix: of their names.
      device: that is asked for where they ask for none.
      group: colocation groups of the caller.
      gate: nodes to wait for, for what takes nothing from within.
      outside: tensors that are there whether or not the place's nodes run.
      in_flow: the calls among the nodes that stand in a branch or loop: the gate says too little
        for them.
      chain: functions that are being called, the outermost first.
      is_placed: whether `device` is where they run, whatever they ask for.
    """

    prefix: str = ""
    device: str = ""
    group: tuple[bytes, ...] = ()
    gate: tuple[str, ...] = ()
    outside: frozenset[Endpoint] = frozenset()
    in_flow: frozenset[str] = frozenset()
    chain: tuple[str, ...] = ()
    is_placed: bool = False


class Ran(NamedTuple):
    """What a body gives.

    Attributes:
      results: its results.
      effects: nodes that have run when it has done all it does to state.
    """

    results: list[Endpoint]
    effects: list[str]


Form = Callable[["Inliner", Node, Place], None]


class Inliner:
    """Turns calls into nodes.

    Attributes:
      made: the nodes so far.
      bodies: the functions as calls see them.

    Args:
      nodes: new nodes of a graph.
      library: the functions that they may call.
      graph: the nodes that are there already, by name.
      forms: for each op that calls functions, what adds the nodes that stand for it.
      by_name: the same for nodes whose op is a function's name.
    """

    def __init__(
        self, nodes: Sequence[Node], library: Library, graph: Mapping[str, Node],
        forms: Mapping[str, Form], by_name: Form,
    ) -> None:  # fmt: skip
        self.made: list[Node] = []
        self._known: dict[str, Node | None] = {**graph, **{node.name: node for node in nodes}}
        self._forms, self._by_name = forms, by_name
        self.bodies = Bodies(library, forms)

    def add_all(self, nodes: Sequence[Node], is_placed: bool) -> None:
        """Add the nodes of a graph, or what they become; see `inline`."""
        calls = [node.name for node in nodes if self.bodies.is_call(node)]
        depths = depths_of(calls, self._known)
        inside = frozenset([name for name in calls if depths[name]])
        place = Place(in_flow=inside, is_placed=is_placed)
        sizes = [self.bodies.size(node) for node in nodes if self.bodies.is_call(node)]
        if sum(sizes) > _MOST:
            raise _too_many()  # at once: a few functions that call each other twice make 2**64
        for node in nodes:
            self.add(node, place)

    # nodes

    def add(self, node: Node, place: Place) -> None:
        """Add a node of `place`, or what it becomes if it is a call."""
        if not self.bodies.is_call(node):
            self.emit(node, place)
            return
        try:
            node = node._replace(inputs=self._values(node, place))
            if node.op in self.bodies.library.functions:
                self._by_name(self, node, place)
            else:
                check_attrs(node)
                self._forms[node.op](self, node, place)
        except InvalidArgumentError as error:
            raise (error if error.node_name else _at(node, error.message)) from None
        except (TypeError, ValueError) as error:
            raise _at(node, str(error)) from None

    def emit(self, node: Node, place: Place) -> str:
        """Add an ordinary node of `place`, gated if it needs that; returns its name."""
        if place.gate and not node.control and place.outside.issuperset(node.inputs):
            node = node._replace(control=place.gate)
        self.made.append(node)
        self._known[node.name] = node
        if len(self.made) > _MOST:
            raise _too_many()
        return node.name

    def new(
        self, name: str, op: str, inputs: Iterable[Endpoint], place: Place, call: Node,
        control: Iterable[str] = (), beside: str = "", **attrs: AttrValue,
    ) -> str:  # fmt: skip
        """Add a node that stands for a part of a call.

        Args:
          name: inside of the call.
          op: what it does.
          inputs: of it.
          place: where it belongs.
          call: whose device it asks for.
          control: nodes that it waits for.
          beside: the node whose device it shares, whatever the caller asks for.
          **attrs: of it.

        Returns:
          Its full name.
        """
        device = "" if beside and not place.is_placed else call.device
        if beside:
            attrs["_class"] = [f"loc:@{beside}".encode()]
        elif "_class" in call.attrs:
            attrs["_class"] = call.attrs["_class"]
        full = self.unique(f"{call.name}/{name}")
        return self.emit(Node(full, op, tuple(inputs), tuple(control), device, attrs), place)

    def unique(self, name: str) -> str:
        """Return `name`, or one like it if there is such a node."""
        found, number = name, 0
        while found in self._known:
            number += 1
            found = f"{name}_{number}"
        self._known[found] = None
        return found

    def node(self, name: str) -> Node | None:
        """Return the node `name` if it is there already."""
        return self._known.get(name)

    def finish(self, call: Node, ran: Ran, types: Sequence[DType], place: Place) -> None:
        """Add the node that has the call's name and gives its results."""
        if len(types) != len(ran.results):
            raise InvalidArgumentError(
                f"it gives {len(types)} results, but its function gives {len(ran.results)}"
            )
        control = tuple(dict.fromkeys([*ran.effects, *call.control]))
        attrs: dict[str, Any] = {"_class": call.attrs["_class"]} if "_class" in call.attrs else {}
        op, device = "NoOp", call.device
        if types:
            op, attrs["T"] = identity_of(types)
            first = self.node(ran.results[0][0])
            # what nobody pinned stays where its value is
            device = device or (first.device if first is not None else "")
        results = tuple(ran.results)
        self.emit(Node(call.name, op, results, control, device, attrs, call.shapes), place)

    def _values(self, node: Node, place: Place) -> tuple[Endpoint, ...]:
        """Return the inputs of a call; a variable is read for it, once."""
        return tuple(
            [
                (self._read(each, node, place), 0) if self._is_variable(each) else each
                for each in node.inputs
            ]
        )

    def _is_variable(self, endpoint: Endpoint) -> bool:
        node = self.node(endpoint[0])
        if node is None or self.bodies.is_call(node):
            return False
        if not any(arg.is_ref for arg in lookup(node.op).signature.outputs):
            return False
        types = output_types(node)
        return endpoint[1] < len(types) and types[endpoint[1]].is_ref

    def _read(self, endpoint: Endpoint, call: Node, place: Place) -> str:
        variable = self.node(endpoint[0])
        assert variable is not None
        dtype = output_types(variable)[endpoint[1]].base_dtype
        return self.new(
            "read", "Identity", [endpoint], place, call, call.control, variable.name, T=dtype
        )

    # bodies

    def within(self, call: Node, place: Place, name: str = "", **changes: AttrValue) -> Place:
        """Return the place of a body that `call` runs, under NAME if it runs several."""
        prefix = f"{call.name}/{name}" if name else call.name
        group = tuple(call.attrs.get("_class", ()))
        return place._replace(prefix=prefix, device=call.device, group=group, **changes)

    def run(
        self, function: NameAttrList, inputs: Sequence[Endpoint], types: Sequence[DType],
        place: Place,
    ) -> Ran:  # fmt: skip
        """Add the nodes of a function's body; returns what it gives.

        Args:
          function: which one.
          inputs: its arguments.
          types: of the arguments.
          place: where its nodes go.
        """
        body, calls = self.bodies.needed(function, place.chain)
        if [dtype.base_dtype for dtype in types] != [dtype.base_dtype for dtype in body.inputs]:
            raise InvalidArgumentError(
                f"function {function.name!r} takes {_show(body.inputs)}, but is given "
                f"{_show(types)}"
            )
        mover = _Mover(self, body, inputs, place)
        inside = frozenset([mover.names[name] for name in calls])
        place = place._replace(chain=(*place.chain, function.name), in_flow=inside)
        for node in body.nodes:
            self.add(mover.moved(node), place)
        results = [mover.endpoint(each) for each in body.results]
        return Ran(results, [mover.names[name] for name in body.control_results])


class _Mover:
    """Moves the nodes of a body to their place."""

    def __init__(
        self, inliner: Inliner, body: Body, inputs: Sequence[Endpoint], place: Place
    ) -> None:
        self._inputs, self._place = inputs, place
        self.names = {
            node.name: inliner.unique(f"{place.prefix}/{node.name}") for node in body.nodes
        }

    def endpoint(self, endpoint: Endpoint) -> Endpoint:
        """Return where an input of the body's nodes is found outside."""
        name, port = endpoint
        return self._inputs[port] if name == ARGUMENT else (self.names[name], port)

    def moved(self, node: Node) -> Node:
        """Return `node` as it stands in its place."""
        place, attrs = self._place, dict(node.attrs)
        groups = [self._group(each) for each in attrs.pop("_class", ())]
        groups = [each for each in groups if each] or ([] if node.device else list(place.group))
        if groups:
            attrs["_class"] = groups
        if node.op in ENTERS:  # a loop of its own for each call
            attrs["frame_name"] = f"{place.prefix}/".encode() + attrs["frame_name"]
        control = [each for name in node.control for each in self._control(name)]
        return Node(
            self.names[node.name],
            node.op,
            tuple([self.endpoint(each) for each in node.inputs]),
            tuple(dict.fromkeys(control)),
            place.device if place.is_placed else devices.merge(place.device, node.device),
            attrs,
        )

    def _control(self, name: str) -> tuple[str, ...]:
        """Return what to wait for instead of `name`: an argument is there with the gate."""
        if name in self.names:
            return (self.names[name],)
        return self._place.gate or (self._inputs[int(name[1:])][0],)

    def _group(self, group: bytes) -> bytes:
        other = group.decode().removeprefix("loc:@")
        return f"loc:@{self.names[other]}".encode() if other in self.names else b""


def identity_of(types: Sequence[DType]) -> tuple[str, AttrValue]:
    """Return the op that hands on tensors of `types` (one at least), and its attribute T."""
    return ("Identity", types[0]) if len(types) == 1 else ("IdentityN", list(types))


def _too_many() -> InvalidArgumentError:
    return InvalidArgumentError(f"calls of functions make more than {_MOST} nodes")


def _at(node: Node, message: str) -> InvalidArgumentError:
    text = f"node {node.name!r} ({node.op}): {message}"
    return InvalidArgumentError(text).at_node(node.name, "")


def _show(types: Iterable[DType]) -> str:
    return f"({', '.join(dtype.name for dtype in types)})"
