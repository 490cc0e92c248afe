"""Server: a task of a cluster at a port of this host.

The port is bound when the server is made, so that nobody else can take it and a second server
for it is an error at once. Other processes call there; calls from this process do not go through
it, unless they are asked to.

Source: TF 1.15 API documentation, tf.train.Server.
"""

from __future__ import annotations

import atexit
import math
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tfdist.cluster.spec import ClusterLike, ClusterSpec, warn_of_shared_addresses
from tfdist.errors import InvalidArgumentError, NotFoundError, UnavailableError
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import device_options
from tfdist.runtime.step.interrupts import LOOK_UP
from tfdist.runtime.step.peers import OwnPeers
from tfdist.runtime.task.memory_guard import guard_memory, leave_memory
from tfdist.runtime.task.peers import LocalTask
from tfdist.runtime.task.task import Task, task_name
from tfdist.tracing.simulated import SIMULATED
from tfdist.wire.services.endpoint import Endpoint

if TYPE_CHECKING:
    from tfdist.wire.peers.remote_peers import RemotePeers

# A server lives until it is stopped or the process ends, even if no name holds it any more.
_running: set[Server] = set()


class Server:
    """One task of a cluster, in this process.

    Args:
      server_or_cluster_def: a ClusterSpec, ClusterDef or dict of the cluster, or a ServerDef.
      job_name: the job of this task; may be left out if the cluster has one job only.
      task_index: its index; may be left out if the job has one task only.
      protocol: "grpc".
      config: a ConfigProto; `device_count={"CPU": n}` sets the number of CPU devices.
      start: whether to start at once.
      inproc: whether tasks and sessions of this process call each other directly; with False
        their calls go over the network, as between processes.

    Raises:
      InvalidArgumentError: the cluster has no such job or task.
      AlreadyExistsError: the port is taken.
      PermissionDeniedError: the address can be reached from other machines, and nobody allowed
        that.
      NotFoundError: there is no such protocol.
      ValueError: job or task cannot be left out.
    """

    def __init__(
        self,
        server_or_cluster_def: pb.ServerDef | ClusterLike,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: pb.ConfigProto | None = None,
        start: bool = True,
        inproc: bool = True,
        _endpoint: Endpoint | None = None,
        _only_serves: bool = False,
    ) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol)
        if config is not None:
            self._server_def.default_session_config.MergeFrom(pb.reparse(config))
        spec = ClusterSpec(self._server_def.cluster)
        self._job, self._index = self._server_def.job_name, self._server_def.task_index
        warn_of_shared_addresses(spec)
        address = _own_address(spec, self._job, self._index)
        options = device_options(self._server_def.default_session_config)
        self._endpoint = _endpoint or bind(address)
        self._finalizer = weakref.finalize(self, self._endpoint.close)
        host = address.rpartition(":")[0] or "localhost"
        self._address = f"{host}:{self._endpoint.port}"
        addresses = {task_name(job, i): where for job, i, where in spec.tasks()}
        addresses[task_name(self._job, self._index)] = self.address
        peers = partial(_peers, inproc)
        self._task = Task(self._job, self._index, addresses, options, peers)
        self._inproc, self._only_serves = inproc, _only_serves
        self._stopped = threading.Event()
        self._started = False
        if start:
            self.start()

    @property
    def server_def(self) -> pb.ServerDef:
        """Return the ServerDef that describes this server."""
        return self._server_def

    @property
    def address(self) -> str:
        """Return "HOST:PORT" with the port that is really bound."""
        return self._address

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT", for `tf.Session`."""
        return f"grpc://{self.address}"

    @property
    def task_name(self) -> str:
        """Return "/job:J/task:I"."""
        return f"/job:{self._job}/task:{self._index}"

    @property
    def task(self) -> Task:
        """Return the task that this server makes reachable."""
        return self._task

    @property
    def is_running(self) -> bool:
        """Return whether it was started and not stopped."""
        return self._started and not self._stopped.is_set()

    def start(self) -> None:
        """Start the server; nothing happens if it is running.

        Raises:
          UnavailableError: it was stopped; a stopped server cannot come back.
        """
        if self._stopped.is_set():
            raise UnavailableError(f"server {self.target} was stopped; make a new one")
        if self._started:
            return
        guard_memory(self._task, self._only_serves)
        try:
            self._endpoint.open(self._task)
        except BaseException:
            leave_memory(self._task)
            raise
        if self._inproc:
            self._task.start()
        self._started = True
        _running.add(self)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the server stops.

        Args:
          timeout: seconds to wait at most; for ever by default. Ctrl-C ends the wait.

        Returns:
          Whether it has stopped.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        # in short waits: a signal that comes just before a wait does not end it
        while not self._stopped.wait(max(0.0, min(LOOK_UP, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                return False
        return True

    def stop(self, grace: float | None = None) -> None:
        """Stop the server and free its port; sessions that span it are aborted.

        Args:
          grace: seconds that running steps may still take; none by default.
        """
        if self._stopped.is_set():
            return
        self._endpoint.drain(f"the server at {self.address} stops")
        if grace:
            self._task.wait_idle(grace)
        self._task.stop()
        self._finalizer()
        leave_memory(self._task)
        _running.discard(self)
        self._stopped.set()

    def move(self, cluster: ClusterSpec) -> None:
        """Have the other tasks reached where they are now: some have come back elsewhere.

        Args:
          cluster: with the tasks that this server was made with.
        """
        addresses = {task_name(job, i): where for job, i, where in cluster.tasks()}
        cast("RemotePeers", self._task.peers).move(addresses)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped" if self._started else "not started"
        return f"<tf.train.Server {self.task_name} {state} at {self.target}>"

    @staticmethod
    def create_local_server(config: pb.ConfigProto | None = None, start: bool = True) -> Server:
        """Return a server that is a cluster of its own, at a free port.

        Example:
          >>> with Server.create_local_server() as server:
          ...     Session(server.target).run(constant("hello"))
          b'hello'
        """
        spec = ClusterSpec({"local": ["localhost:0"]})
        return Server(spec, protocol="grpc", config=config, start=start)


def start_servers(
    jobs: Mapping[str, int],
    ports: Sequence[int] | None = None,
    cpus: int = 1,
    inproc: bool = True,
    gpus: int = 0,
) -> list[Server]:
    """Return running servers for all tasks of a cluster on this host.

    All ports are bound before the first address is told.

    Args:
      jobs: number of tasks by job.
      ports: one per task, jobs sorted by name; free ones by default.
      cpus: CPU devices per task.
      inproc: whether they call each other directly; see `Server`.
      gpus: simulated GPUs per task.

    Raises:
      AlreadyExistsError: a port is taken; no server is left behind.
    """
    names = [(job, index) for job in sorted(jobs) for index in range(jobs[job])]
    bound: list[Any] = []
    try:
        for port in ports or [0] * len(names):
            bound.append(bind(f"127.0.0.1:{port}"))
        spec: dict[str, list[str]] = {job: [] for job in jobs}
        for (job, _), each in zip(names, bound, strict=True):
            spec[job].append(f"127.0.0.1:{each.port}")
    except BaseException:
        for each in bound:
            each.close()
        raise
    config = device_config(cpus, gpus)
    return [
        Server(spec, job, index, config=config, inproc=inproc, _endpoint=each)
        for (job, index), each in zip(names, bound, strict=True)
    ]


def device_config(cpus: int = 1, gpus: int = 0) -> pb.ConfigProto | None:
    """Return the ConfigProto of a server with `cpus` CPUs and `gpus` simulated GPUs."""
    config = pb.ConfigProto(device_count={"CPU": cpus})
    if gpus:
        config.device_count["GPU"] = gpus
        config.gpu_options.allocator_type = SIMULATED
    return config


def bind(address: str) -> Endpoint:
    """Return an `endpoint.Endpoint` that holds the port of `address`, or raise as that does."""
    from tfdist.wire.services.endpoint import Endpoint  # gRPC takes long to import

    return Endpoint(address)


def _peers(direct: bool, addresses: Mapping[str, str], own: tuple[str, LocalTask]) -> OwnPeers:
    from tfdist.wire.peers.renamed_peers import ServerPeers  # gRPC takes long to import

    return ServerPeers(addresses, own, direct)


@atexit.register
def _stop_all() -> None:
    """Leave no thread behind that would run while the interpreter is taken down."""
    for server in list(_running):
        server.stop()


def _server_def(
    given: pb.ServerDef | ClusterLike,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
) -> pb.ServerDef:
    if hasattr(given, "DESCRIPTOR") and given.DESCRIPTOR.name == "ServerDef":
        server_def = pb.ServerDef()
        server_def.CopyFrom(pb.reparse(given))
    else:
        cluster = ClusterSpec(given)  # type: ignore[arg-type]  # no ServerDef: see above
        server_def = pb.ServerDef(cluster=cluster.as_cluster_def(), task_index=-1)
    server_def.job_name = job_name or server_def.job_name or _only_job(server_def)
    if task_index is not None:
        server_def.task_index = task_index
    elif server_def.task_index < 0:
        server_def.task_index = _only_task(server_def)
    server_def.protocol = protocol or server_def.protocol or "grpc"
    if server_def.protocol != "grpc":
        raise NotFoundError(f"a server's protocol is 'grpc', not {server_def.protocol!r}")
    return server_def


def _only_job(server_def: pb.ServerDef) -> str:
    jobs: list[str] = [job.name for job in server_def.cluster.job]
    if len(jobs) != 1:
        raise ValueError(f"job_name must be given: the cluster has the jobs {sorted(jobs)}")
    return jobs[0]


def _only_task(server_def: pb.ServerDef) -> int:
    job = next((job for job in server_def.cluster.job if job.name == server_def.job_name), None)
    tasks = sorted(job.tasks) if job else []
    if len(tasks) > 1:
        raise ValueError(
            f"task_index must be given: job {server_def.job_name!r} has the tasks {tasks}"
        )
    return tasks[0] if tasks else 0


def _own_address(spec: ClusterSpec, job: str, index: int) -> str:
    if job not in spec.jobs:
        raise InvalidArgumentError(f"job {job!r} is not in the cluster; it has {spec.jobs}")
    if index not in spec.task_indices(job):
        raise InvalidArgumentError(
            f"task {index} is not in job {job!r}; it has {spec.task_indices(job)}"
        )
    return spec.task_address(job, index)
