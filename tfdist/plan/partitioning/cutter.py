"""Cutting: nodes go to their tasks, and `_Send` and `_Recv` join what is cut.

Feeds enter and fetches leave on the client's device, the first one of the master's task: a tensor
fed to a node elsewhere is sent from there, a tensor fetched from elsewhere is received there.

Source: docs/wire.md sections 3.3 and 5.3 for the attributes of `_Send` and `_Recv`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tfdist.base import devices as device_names
from tfdist.base.dtypes import DType, bfloat16, float32
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import MERGES, SWITCHES, Node, constant_node, is_back_edge
from tfdist.plan.branch_predicates import always_run
from tfdist.plan.frames import Path, frames_of, loop_conditions, show
from tfdist.plan.partitioning.remote_loop_control import ControlLoops
from tfdist.plan.prune import Endpoint, prune
from tfdist.plan.step_plan import Partition, Signature, output_types

ALIVE = "_alive"  # attribute of a `_Recv` whose tensor is there in every step


@dataclass
class _Piece:
    """A partition while it grows."""

    nodes: list[Node] = field(default_factory=list)
    received: dict[tuple[Endpoint, str], Endpoint] = field(default_factory=dict)

    def sort(self, fed: frozenset[Endpoint]) -> None:
        """Sort topologically, where loops were completed late."""
        named = {node.name: node for node in self.nodes}
        self.nodes = prune(named, named, fed)


class Cutter:
    """Distributes nodes over tasks in topological order and joins what it cuts."""

    def __init__(
        self,
        graph: Mapping[str, Node],
        fed: frozenset[Endpoint],
        client_device: str,
        incarnations: Mapping[str, int],
        numbers: Iterator[int],
        as_bfloat16: bool,
    ) -> None:
        self._graph = graph
        self._fed = fed
        self._client = client_device
        self._incarnations = incarnations
        self._pieces: dict[str, _Piece] = {_task(client_device): _Piece()}
        self._home: dict[str, Node] = {}
        self._dummies: dict[str, Endpoint] = {}
        self._echoes: dict[str, str] = {}  # Identities of what is received as a control edge only
        self._frames: dict[str, Path] = {}  # of the nodes in loops
        self._certain: set[str] = set()  # nodes that run in every step, if there are branches
        self._control_loops: ControlLoops | None = None
        self._as_bfloat16 = as_bfloat16  # whether float32 crosses so
        self._numbers = numbers  # of the edges and the `_S` names, as TensorFlow does

    def find_loops(self, nodes: Sequence[Node], fetches: Iterable[Endpoint]) -> None:
        """Note which loop each node is in; InvalidArgumentError if one of `fetches` is in one."""
        frames = frames_of(nodes, self._fed)
        for name, port in fetches:
            path = frames.gives_to.get(name) if (name, port) not in self._fed else None
            if path:
                raise InvalidArgumentError(
                    f"fetch {name}:{port} is in {show(path)}, where it has a value in every "
                    "iteration; a value leaves a loop as one of its loop variables"
                )
        self._certain = always_run(nodes, frames, self._fed)
        self._frames = frames.gives_to
        conditions = loop_conditions(nodes, self._frames)
        self._control_loops = ControlLoops(conditions, self._add_to_loop, self._bring)

    def _add_to_loop(self, node: Node, path: Path) -> None:
        self._home[node.name] = node
        self._frames[node.name] = path
        self._piece(node.device).nodes.append(node)

    def add(self, node: Node) -> None:
        """Put `node` on its task, with what it needs from others."""
        piece = self._piece(node.device)
        if node.inputs:
            inputs = tuple([self._bring(endpoint, node.device) for endpoint in node.inputs])
            node = node._replace(inputs=inputs)
        if node.control:
            # what is not at home needs not run: a placeholder that is fed
            needed = [name for name in node.control if name in self._home]
            control = tuple([self._bring_control(name, node.device) for name in needed])
            node = node._replace(control=control)
        self._home[node.name] = node
        piece.nodes.append(node)

    def finish(self, signature: Signature) -> tuple[Partition, ...]:
        """Return the partitions, the client's first."""
        fetches = tuple([self._fetched(endpoint) for endpoint in signature.fetches])
        if self._control_loops is not None:
            self._control_loops.finish()
            for piece in self._pieces.values():
                piece.sort(self._fed)
        client = _task(self._client)
        return tuple(
            Partition(
                task,
                tuple(piece.nodes),
                signature.feeds if task == client else (),
                fetches if task == client else (),
            )
            for task, piece in self._pieces.items()
            if piece.nodes or task == client
        )

    def _fetched(self, endpoint: Endpoint) -> Endpoint:
        return endpoint if endpoint in self._fed else self._bring(endpoint, self._client)

    def _piece(self, device: str) -> _Piece:
        task = _task(device)
        piece = self._pieces.get(task)
        if piece is None:
            piece = self._pieces[task] = _Piece()
        return piece

    def _bring(self, endpoint: Endpoint, device: str) -> Endpoint:
        """Return where a node on `device` finds the tensor: itself, or a `_Recv` of it."""
        if endpoint not in self._fed and endpoint[0] not in self._home:
            return endpoint  # a back edge on the same task
        source = self._client if endpoint in self._fed else self._home[endpoint[0]].device
        if _task(source) == _task(device):
            return endpoint
        received = self._piece(device).received
        key = (endpoint, _task(device))
        if key not in received:
            constant = None if endpoint in self._fed else self._constant(endpoint[0])
            bring = self._transfer if constant is None else self._enter_there
            received[key] = bring(endpoint, source, device)
        return received[key]

    def _constant(self, name: str) -> Node | None:
        """Return the `Enter` of that name that gives the same value to every iteration, or None."""
        node = self._home[name]
        return node if node.op == "Enter" and node.attrs["is_constant"] else None

    def _enter_there(self, endpoint: Endpoint, source: str, target: str) -> Endpoint:
        """Let a loop invariant enter on another task too: it crosses once, not per iteration."""
        enter = self._graph[endpoint[0]]
        outside = self._bring(enter.inputs[0], target)
        name = f"{enter.name}_S{self._number()}"
        needed = [each for each in enter.control if each in self._home]
        control = tuple([self._bring_control(each, target) for each in needed])
        node = enter._replace(name=name, inputs=(outside,), control=control, device=target)
        self._add_to_loop(node, self._frames[enter.name])
        return name, 0

    def _transfer(self, endpoint: Endpoint, source: str, target: str) -> Endpoint:
        name = endpoint[0] if endpoint not in self._fed else f"_recv_{endpoint[0]}_{endpoint[1]}"
        common = {
            "tensor_name": f"edge_{self._number()}_{name}".encode(),
            "send_device": source.encode(),
            "send_device_incarnation": self._incarnations.get(source, 0),
            "recv_device": target.encode(),
            "client_terminated": False,
        }
        dtype = self._type(endpoint)
        is_cut = self._as_bfloat16 and dtype is float32 and endpoint not in self._dummies.values()
        sent, crosses = endpoint, dtype
        if is_cut:
            sent, crosses = self._cast(name, endpoint, (float32, bfloat16), source), bfloat16
        send = Node(
            f"{name}_S{self._number()}", "_Send", (sent,), (), source, {"T": crosses, **common}
        )
        recv_name = f"{name}_S{self._number()}"
        control = self._gate_receive(recv_name, endpoint, source, target)
        attrs = {"tensor_type": crosses, **common}
        if endpoint in self._fed or self._is_certain(endpoint):
            attrs[ALIVE] = True
        recv = Node(recv_name, "_Recv", (), control, target, attrs)
        self._piece(source).nodes.append(send)
        self._piece(target).nodes.append(recv)
        self._home[recv.name] = recv
        if is_cut:
            return self._cast(name, (recv.name, 0), (bfloat16, float32), target)
        return recv.name, 0

    def _cast(
        self, name: str, endpoint: Endpoint, types: tuple[DType, DType], device: str
    ) -> Endpoint:
        """Return a tensor in another type on its device, for what is called `name`."""
        is_cut = types[1] is bfloat16
        attrs = {"SrcT": types[0], "DstT": types[1], "Truncate": is_cut}
        made = Node(f"{name}_S{self._number()}", "Cast", (endpoint,), (), device, attrs)
        self._piece(device).nodes.append(made)
        self._home[made.name] = made
        if endpoint[0] in self._frames:
            self._frames[made.name] = self._frames[endpoint[0]]
        return made.name, 0

    def _gate_receive(
        self, recv_name: str, endpoint: Endpoint, source: str, target: str
    ) -> tuple[str, ...]:
        """Return what a `_Recv` waits for, so that it runs whenever its `_Send` does."""
        path = self._frames.get(endpoint[0]) if endpoint not in self._fed else None
        if not path or self._control_loops is None:
            return ()
        if self._home[endpoint[0]].op == "RefEnter":  # nothing else may be carried there
            self._control_loops.control(path, _task(source), source)
        self._frames[recv_name] = path
        return self._control_loops.control(path, _task(target), target)

    def _is_certain(self, endpoint: Endpoint) -> bool:
        name = endpoint[0]  # of a Switch that runs, one output is dead
        return name in self._certain and self._home[name].op not in SWITCHES

    def _type(self, endpoint: Endpoint) -> DType:
        node = self._home.get(endpoint[0]) or self._graph[endpoint[0]]
        return output_types(node)[endpoint[1]].base_dtype

    def _bring_control(self, name: str, device: str) -> str:
        """Return what a node on `device` waits for instead of `name`: a value sent after it."""
        node = self._home[name]
        if _task(node.device) == _task(device):
            return name
        gate = self._gate_instead(node, device)
        if gate:
            return gate
        if name not in self._dummies:
            empty = np.zeros(0, np.float32)
            dummy_name = f"{name}_ctrl_S{self._number()}"
            dummy = constant_node(dummy_name, empty, float32, node.device, (name,))
            self._home[dummy.name] = dummy
            self._frames[dummy.name] = self._frames.get(name, ())
            if name in self._certain:
                self._certain.add(dummy.name)
            self._piece(node.device).nodes.append(dummy)
            self._dummies[name] = (dummy.name, 0)
        received = self._bring(self._dummies[name], device)[0]
        if self._control_loops is None or name in self._certain:
            return received
        return self._dies_with(received, device)

    def _dies_with(self, received: str, device: str) -> str:
        """Return a node that is dead where what was received is.

        In TensorFlow's servers a `_Recv` itself runs, and only its value is dead; what waits for it
        runs too.
        """
        if received not in self._echoes:
            echo = Node(
                f"{received}_S{self._number()}", "Identity", ((received, 0),), (), device,
                {"T": float32},
            )  # fmt: skip
            self._add_to_loop(echo, self._frames.get(received, ()))
            self._echoes[received] = echo.name
        return self._echoes[received]

    def _gate_instead(self, node: Node, device: str) -> str:
        """Return what tells a task, as `node` does, that an iteration begins, "" if nothing."""
        path = self._frames.get(node.name)
        if not path or self._control_loops is None:
            return ""
        if node.op in MERGES and any(
            is_back_edge(node, self._graph.get(n)) for n, _ in node.inputs
        ):
            return self._control_loops.control(path, _task(device), device)[0]
        maker = self._home[node.inputs[0][0]] if node.op == "Identity" else node
        if maker.op in SWITCHES and node.inputs[0][1] and self._ends_iterations(maker, path):
            return self._control_loops.pivot(path, _task(device), device)
        return ""

    def _ends_iterations(self, switch: Node, path: Path) -> bool:
        """Return whether a `Switch` is one at which a loop ends."""
        assert self._control_loops is not None
        original = self._graph.get(switch.name)
        return original is not None and original.inputs[1] == self._control_loops.condition(path)

    def _number(self) -> int:
        return next(self._numbers)


def _task(device: str) -> str:
    return _TASKS.get(device) or _TASKS.setdefault(device, device_names.parse(device).task_name)


_TASKS: dict[str, str] = {}  # device name -> task name: a memoized pure function
