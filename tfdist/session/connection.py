"""Connection: a session at its master: which nodes it has sent, what it asked for."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakValueDictionary, finalize

from tfdist.base.aliases import TensorValue
from tfdist.base.settings import setting
from tfdist.cluster.spec import ClusterSpec
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.records import Node, records
from tfdist.plan.place import place
from tfdist.plan.place_reasons import Placement
from tfdist.plan.prune import Endpoint, prune
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Device, device_options
from tfdist.runtime.step.requests import PreparedStep, SessionOptions
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.master import Master
from tfdist.runtime.task.peers import task_at
from tfdist.runtime.task.task import local_task
from tfdist.session.blocks import blocks_of
from tfdist.session.message_limits import check_fetches
from tfdist.session.recording import PlacedNode
from tfdist.tracing.calls import note
from tfdist.tracing.simulated import marked
from tfdist.wire.codec.metadata import run_metadata

if TYPE_CHECKING:
    from tfdist.wire.peers.remote_master import RemoteMaster, RemoteStep

NO_DEVICES: Mapping[str, str] = {}
UNTOLD = Placement("", "the server does not tell")  # real TensorFlow's does not


def find_master(target: str, config: pb.ConfigProto | None = None) -> Master | RemoteMaster:
    """Return the master behind a session's target.

    Args:
      target: "" for one of its own in this process, or "grpc://HOST:PORT".
      config: a ConfigProto that says which devices its own task has, and how long a server is
        waited for, or None.

    Returns:
      A `Master`, or a `RemoteMaster` for a server that is not called directly.

    Raises:
      DeadlineExceededError: no server answers there within the config's timeout.
      UnavailableError: no server answers there.
    """
    if not target:
        return local_task(device_options(config)).master
    address = target.removeprefix("grpc://")
    task = task_at(address)
    if task is not None:
        return task.master
    from tfdist.wire.peers.remote_master import RemoteMaster  # gRPC takes long to import

    return RemoteMaster(address, _timeout(config))


_graphs: WeakValueDictionary[str, Graph] = WeakValueDictionary()  # by handle of the session


def graph_of_session(handle: str) -> Graph | None:
    """Return the graph of a session of this process, or None."""
    return _graphs.get(handle)


class RunSettings(NamedTuple):
    """What is wanted of a step besides its values.

    Attributes:
      timeout: milliseconds; 0 or None for no limit.
      traced: whether every node is noted.
      options: RunOptions or None.
    """

    timeout: float | None
    traced: bool
    options: pb.RunOptions | None

    @property
    def seconds(self) -> float | None:
        """Return the limit in seconds, or None."""
        return self.timeout / 1000 if self.timeout and self.timeout > 0 else None


class Result(Protocol):
    """What a step gave (`StepResult`, `RemoteResult`)."""

    @property
    def values(self) -> list[TensorValue]:
        """Return what was fetched, in the signature's order."""


class RunStep(Protocol):
    """Runs a prepared step; see `runtime.task.master.Master.run_step`."""

    def __call__(
        self,
        feeds: list[TensorValue],
        timeout: float | None,
        traced: bool,
        *again: Callable[[], bool],
    ) -> Result:
        """Run the step once, or as long as `again` says so."""


class Prepared(NamedTuple):
    """A step that is ready to run.

    Attributes:
      signature: what it feeds and fetches.
      keeps_feeds: whether a kernel may hold on to an array that it is given.
      run: runs it.
      observe: runs it, and gives a RunMetadata besides.
    """

    signature: Signature
    keeps_feeds: bool
    run: RunStep
    observe: Callable[[list[TensorValue], RunSettings], tuple[list[TensorValue], pb.RunMetadata]]


def _prepared_here(master: Master, step: PreparedStep) -> Prepared:
    def observe(
        feeds: list[TensorValue], asked: RunSettings
    ) -> tuple[list[TensorValue], pb.RunMetadata]:
        result = master.run_step(step, feeds, asked.seconds, asked.traced)
        return result.values, run_metadata(step, result, asked.options)

    return Prepared(step.signature, step.keeps_feeds, partial(master.run_step, step), observe)


def _prepared_there(master: RemoteMaster, step: RemoteStep) -> Prepared:
    def observe(
        feeds: list[TensorValue], asked: RunSettings
    ) -> tuple[list[TensorValue], pb.RunMetadata]:
        told = master.run_step(step, feeds, asked.seconds, asked.traced, asked.options)
        return told.values, told.metadata

    return Prepared(step.signature, step.keeps_feeds, partial(master.run_step, step), observe)


class Connection:
    """A session that is open at its master.

    Args:
      target: see `find_master`.
      graph: that the session runs.
      config: a ConfigProto or None.
      devices: by name of the node, where those are to run that ask for none themselves.
    """

    def __init__(
        self,
        target: str,
        graph: Graph,
        config: pb.ConfigProto | None,
        devices: Mapping[str, str] = NO_DEVICES,
    ) -> None:
        self.master = find_master(target, config)
        called = time.time_ns()
        self.handle = self.master.create_session(_options(config))
        note(self.handle, "CreateSession", "", called)
        self._graph, self._node_devices = graph, devices
        _graphs[self.handle] = graph
        self._logs_placement = config is not None and config.log_device_placement
        self._fitting: set[Signature] = set()  # those whose answers fit into a message
        self._sent = 0
        self._version = 0

    @property
    def is_here(self) -> bool:
        """Return whether the master is in this process."""
        return isinstance(self.master, Master)

    def extend(self) -> None:
        """Send the nodes that were added to the graph since the last time."""
        new = self._graph.operations_since(self._sent)
        if not new:
            return
        library = self._graph.library
        called = time.time_ns()
        self._version = self.master.extend_session(
            self.handle, self._records(new), self._version, library=library
        )
        note(self.handle, "ExtendSession", "", called)
        self._sent += len(new)
        if self._logs_placement:
            self._log_placement(new)

    def _records(self, operations: Iterable[Operation]) -> tuple[Node, ...]:
        """Return what is sent of operations: with a device, where one is given for them."""
        found = records(operations)
        if not self._node_devices:
            return found
        given = self._node_devices.get
        return tuple([node._replace(device=node.device or given(node.name, "")) for node in found])

    def prepare(self, signature: Signature) -> Prepared:
        """Return a step; a master of this process has planned and registered it.

        Raises:
          InvalidArgumentError: a server of TensorFlow could not answer with what is fetched.
        """
        if isinstance(self.master, Master):
            return _prepared_here(self.master, self.master.prepare(self.handle, signature))
        if signature not in self._fitting:
            if not self.master.is_ours:  # ours refuse by themselves
                check_fetches(self._fetched(signature))
            self._fitting.add(signature)
        return _prepared_there(self.master, self.master.prepare(self.handle, signature))

    def _fetched(self, signature: Signature) -> list[Tensor]:
        operation = self._graph.get_operation_by_name
        return [operation(name).outputs[port] for name, port in signature.fetches]

    def set_up_partial_run(self, signature: Signature) -> str:
        """Return the handle of a run that `go_on` feeds and fetches."""
        return self.master.partial_runs.set_up(self.handle, signature)

    def go_on(
        self,
        name: str,
        feeds: dict[Endpoint, TensorValue],
        fetches: tuple[Endpoint, ...],
        timeout: float | None,
    ) -> list[TensorValue]:
        """Feed and fetch some tensors of a partial run, within `timeout` seconds."""
        return self.master.partial_runs.go_on(self.handle, name, feeds, fetches, timeout)

    def devices(self) -> list[Device]:
        """Return the devices that the session spans."""
        return self.master.devices(self.handle)

    def placed(self, signature: Signature | None) -> Iterator[PlacedNode]:
        """Yield the nodes that a step of `signature` needs, or all, with their devices."""
        nodes = {node.name: node for node in records(self._graph.get_operations()[: self._sent])}
        placement = self.master.placement(self.handle) or self._foretold(nodes)
        wanted: Iterable[Node] = nodes.values()
        if signature is not None:
            roots = itertools.chain((name for name, _ in signature.fetches), signature.targets)
            wanted = prune(nodes, roots, frozenset(signature.feeds))
        wanted = list(wanted)
        within = blocks_of(wanted)
        for node in wanted:
            there = placement.get(node.name, UNTOLD)
            inputs = (*(name for name, _ in node.inputs), *(f"^{name}" for name in node.control))
            yield PlacedNode(
                node.name, node.op, node.device, there.device, there.reason, inputs,
                within.get(node.name, ()),
            )  # fmt: skip

    def _foretold(self, nodes: Mapping[str, Node]) -> dict[str, Placement]:
        """Return where TensorFlow's server, which does not tell, will run nodes: as ours would."""
        if isinstance(self.master, Master) or not nodes:
            return {}
        found = place(list(nodes.values()), nodes, {}, self.master.ranked(self.handle))
        return {
            name: each._replace(reason=f"{each.reason} (foretold)") for name, each in found.items()
        }

    def in_one_process(self) -> bool:
        """Return whether all tasks of the session are in this process."""
        if not isinstance(self.master, Master):
            return False
        tasks = {device.spec.task_name for device in self.devices()}
        addresses = self.master.peers.addresses
        return all(task_at(addresses[task]) is not None for task in tasks & set(addresses))

    def own_task(self) -> str:
        """Return the name of the master's task; "" if the server does not tell."""
        return self.master.task

    def unit_costs(self) -> list[UnitCost]:
        """Return what units of the session's steps took lately, as far as its tasks tell."""
        return self.master.unit_costs(self.handle)

    def closes_with(self, session: object) -> finalize[[str], object]:
        """Return what closes the session at its master, called or when `session` is garbage.

        It holds no part of the graph, which may lead back to the session.
        """
        return finalize(session, self.master.close_session, self.handle)

    def _log_placement(self, new: Iterable[Operation]) -> None:
        placement = self.master.placement(self.handle)
        for op in new:
            device = placement.get(op.name, UNTOLD).device
            sys.stderr.write(f"{op.name}: ({op.type}): {marked(device, device)}\n")


def _options(config: pb.ConfigProto | None) -> SessionOptions:
    default = setting("TFDIST_DEFAULT_DEVICE")
    if config is None:
        return SessionOptions(default_device=default)
    return SessionOptions(
        config.allow_soft_placement,
        default,
        tuple(config.device_filters),
        config.isolate_session_state,
        _timeout(config),
        ClusterSpec(config.cluster_def) if config.HasField("cluster_def") else None,
        config.graph_options.enable_bfloat16_sendrecv,
    )


def _timeout(config: pb.ConfigProto | None) -> float | None:
    """Return how many seconds an operation may take, None if that is not said."""
    timeout = 0 if config is None else config.operation_timeout_in_ms
    return timeout / 1000 if timeout > 0 else None
