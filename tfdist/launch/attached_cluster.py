"""Clusters that others started, and that this process only uses.

Another kernel's cluster is found by its connection file; one that a script, a batch system or
TensorFlow itself started, by a file with its addresses or by the address of one of its tasks.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfdist.base import devices as device_names
from tfdist.cluster.resolve import parse_cluster
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
    UnimplementedError,
)
from tfdist.launch.clusters import LOG_LINES, Cluster, TaskRow, find_cluster, port_of, register
from tfdist.launch.connection_file import Connection, find, logs_folder, read
from tfdist.launch.outcome import Outcome, cause_of
from tfdist.launch.probe import PATIENCE, Answer, answers_at
from tfdist.launch.process_cluster import ProcessCluster, read_logs
from tfdist.launch.task_names import log_name
from tfdist.wire.common.identity_folder import read_identity
from tfdist.wire.common.security import numeric_host, split_address
from tfdist.wire.common.tls import use_identity

_TARGET = re.compile(r"(grpc://)?[^/=]+:\d+")

# What to do about a cluster that cannot be attached, where the cause does not say it.
REMEDIES: dict[type[Exception], str] = {
    FailedPreconditionError: "",
    PermissionDeniedError: "",
    UnavailableError: "start it there, or correct the address",
}
FORMS = "attach takes the name of a cluster, FILE.json, grpc://HOST:PORT or worker=HOST:PORT,..."

Ask = Callable[[Sequence[str]], Mapping[str, Answer]]


@dataclass(frozen=True)
class RemoteServer:
    """A server that another process started.

    Attributes:
      task_name: "/job:J/task:I".
      address: "HOST:PORT".
      pid: of its own process on this host, None if it has none or that is not known.
    """

    task_name: str
    address: str
    pid: int | None = None

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT", for `tf.Session`."""
        return f"grpc://{self.address}"

    @property
    def is_running(self) -> bool:
        """Return True: whether it answers is another question, see `AttachedCluster.status`."""
        return True


class AttachedCluster(Cluster):
    """A cluster that this process did not start and does not stop.

    Args:
      name: by which it is known here.
      spec: tasks and addresses, as far as they are known.
      connection: what its connection file says, or None without one.
      ask: returns what is told at the addresses that answer.

    Raises:
      OpError: what has to be shown to its servers is of no use.
    """

    kind = "attached"
    _end = "was let go of, or who started it is gone; %cluster attach finds what runs"
    servers: Sequence[RemoteServer]

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        connection: Connection | None = None,
        ask: Ask = answers_at,
    ) -> None:
        jobs = {job: spec.num_tasks(job) for job in spec.jobs}
        cpus, gpus = (connection.cpus, connection.gpus) if connection else (1, 0)
        super().__init__(name, jobs, cpus, gpus)
        pids = connection.processes if connection else {}
        self.servers = tuple(
            RemoteServer(task := f"/job:{job}/task:{index}", address, pids.get(task))
            for job, index, address in spec.tasks()
        )
        self.connection = connection
        self._ask = ask
        if connection is not None and connection.identity is not None:
            addresses = [server.address for server in self.servers]
            use_identity(read_identity(connection.identity), at=addresses)
            self._resources.callback(use_identity, None, addresses)

    @property
    def is_running(self) -> bool:
        """Return whether it is attached, and the process that started it is not known as gone."""
        is_orphan = self.connection is not None and self.connection.owner.is_gone
        return self._close.alive and not is_orphan

    def target(self, job: str | None = None, task: int = 0) -> str:
        """Return "grpc://..." of a task; see `Cluster.target`."""
        if job is None and task == 0 and len(self.servers) == 1:  # which need not be task 0
            (_, task, _), *_ = self.spec.tasks()
        return super().target(job, task)

    def kill(self, task: str) -> None:
        """Raise UnimplementedError; see `Cluster.kill`."""
        raise self._only_processes("kill", "only who started the servers can")

    def restart(self, task: str) -> None:
        """Raise UnimplementedError; see `Cluster.restart`."""
        raise self._only_processes("restart", "only who started the servers can")

    def _check_kind(self) -> None:
        raise UnimplementedError(
            f"cluster {self.name!r} is attached, and only %cluster start may disturb what it "
            "started: do it where the cluster was started, or start one here with %cluster start "
            "--name mine"
        )

    def status(self) -> list[TaskRow]:
        """Return one row per task; all are asked, for a second at most."""
        self._look_at_processes()
        answers = self._ask([server.address for server in self.servers])
        return [self._row_told(server, answers.get(server.address)) for server in self.servers]

    def _look_at_processes(self) -> None:
        """Learn the process ids anew: who started the servers may have restarted some."""
        known = self.connection
        if known is None or known.path is None:
            return
        with contextlib.suppress(OSError, OpError):
            found = read(known.path)
            if found.owner == known.owner:
                self.servers = tuple(
                    replace(each, pid=found.processes.get(each.task_name)) for each in self.servers
                )

    def _row_told(self, server: RemoteServer, answer: Answer | None) -> TaskRow:
        state = "does not answer" if answer is None else "up"
        devices, runs = answer or Answer((), "")
        names = tuple(name.rpartition("/device:")[2].lower() for name in devices)
        return TaskRow(server.task_name, state, names, server.address, server.pid, runs)

    def logs(self, task: str | None = None, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines that servers wrote; see `Cluster.logs`."""
        return read_logs(self.log_files(task), task and self.server(task).task_name, lines)

    def log_files(self, task: str | None = None) -> dict[str, Path]:
        """See `Cluster.log_files`."""
        known = self.connection
        if known is None or known.path is None or known.kind != ProcessCluster.kind:
            raise self._only_processes("logs", "only who started the servers has them")
        folder = logs_folder(known.name, known.owner, known.path.parent)
        servers = self.servers if task is None else [self.server(task)]
        return {each.task_name: folder / log_name(each.task_name) for each in servers}

    def __repr__(self) -> str:
        state = super().__repr__().rstrip(">").replace("running", "attached")
        if self.connection is None:
            return f"{state}>"
        return f"{state}, {self.connection.kind} of process {self.connection.owner.pid}>"


def attach(what: str | None = None, name: str | None = None, ask: Ask = answers_at) -> Outcome:
    """Use a cluster that another process started, until `stop`, which leaves it running.

    Args:
      what: name of a running cluster of this user; the path of a connection file or of a JSON file
        with the addresses; addresses as "ps=HOST:PORT;worker=HOST:PORT"; or "grpc://HOST:PORT" of
        one task. By default the only cluster of this user that runs.
      name: by which it is known here; by default its own.
      ask: returns what is told at the addresses that answer.
    """
    try:
        connection, spec, own_name = _found(what, ask)
    except (OpError, OSError) as error:
        return Outcome("failed", None, cause_of(error), REMEDIES.get(type(error), FORMS))
    known = find_cluster(name or own_name)
    if known is not None and known.spec == spec:
        return Outcome("reused", known)
    if known is not None:
        cause = f"another cluster {known.name!r} runs here already"
        return Outcome("failed", None, cause, "--name gives this one another name")
    try:
        cluster = AttachedCluster(name or own_name, spec, connection, ask)
    except (OpError, OSError) as error:
        return Outcome("failed", None, cause_of(error), "")
    register(cluster)
    return Outcome("attached", cluster)


def spec_of(what: str) -> ClusterSpec:
    """Return the tasks and addresses of a cluster that `attach` could take.

    Raises:
      OpError: there is no such cluster.
    """
    return _found(what, answers_at)[1]


def _found(what: str | None, ask: Ask) -> tuple[Connection | None, ClusterSpec, str]:
    """Return (connection, addresses, name) of a cluster that `attach` is asked for."""
    if what is not None and _TARGET.fullmatch(what):
        address = what.removeprefix("grpc://")
        return None, _spec_of_task(address, ask), address
    if what is not None and (what.startswith("{") or "=" in what):
        return None, _spec(what), "attached"
    if what is None or not _is_path(what):
        connection = find(what)
    elif _is_connection(Path(what).expanduser()):
        connection = read(Path(what).expanduser())
    else:
        return None, _spec(what), Path(what).stem
    _check_host(connection)
    return connection, connection.spec, connection.name


def _is_path(what: str) -> bool:
    """Return whether somebody means a file; names of clusters may have dots, too."""
    path = Path(what)
    return path.suffix == ".json" or "/" in what or (path.suffix != "" and path.is_file())


def _spec(what: str) -> ClusterSpec:
    found = parse_cluster(what, "attach", lambda path: Path(path).expanduser().read_text("utf-8"))
    if found.cluster is None:
        raise InvalidArgumentError(f"{found.place} has no cluster; it has a task only")
    return found.cluster


def _is_connection(path: Path) -> bool:
    """Return whether a file is a connection file, and so has to be nobody else's."""
    try:
        return {"version", "owner"} <= set(json.loads(path.read_text("utf-8")))
    except (TypeError, ValueError):
        return False


def _spec_of_task(address: str, ask: Ask) -> ClusterSpec:
    """Return the cluster of the one task at `address`: nobody tells where the others are."""
    answer = ask([address]).get(address)
    if not (answer and answer.devices):
        raise _absent(address)
    named = device_names.parse(answer.devices[0])
    assert named.job is not None
    return ClusterSpec({named.job: {named.task: address}})


def _absent(address: str) -> OpError:
    host, _ = split_address(address)
    if numeric_host(host) is None:
        return InvalidArgumentError(f"{address} is no HOST:PORT: there is no host {host!r}")
    return UnavailableError(f"no server answers at {address} within {PATIENCE:g} s")


def _check_host(connection: Connection) -> None:
    near = [address for _, _, address in connection.spec.tasks() if _is_loopback(address)]
    if near and not connection.owner.is_here:
        raise FailedPreconditionError(
            f"cluster {connection.name!r} runs on {connection.owner.host}, at addresses that only "
            f"that host can reach, such as {near[0]}"
        )


def _is_loopback(address: str) -> bool:
    host = address.removesuffix(f":{port_of(address)}").strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")
