"""Clusters on this host whose servers have processes of their own.

They crash one by one, use several cores, and can be killed and started anew: that is what they are
for. They end with the process that started them, however it ends. Some or all of them may be
servers of TensorFlow itself (`engines`), which share a private network.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import UnavailableError
from tfdist.launch.cell_channel import CellResult
from tfdist.launch.clusters import LOG_LINES, Cluster, TaskRow
from tfdist.launch.connection_file import logs_folder
from tfdist.launch.disturb_call import tell_disturbances
from tfdist.launch.engines import TENSORFLOW, TensorFlowEngine, required_python
from tfdist.launch.outcome import ClusterRequest
from tfdist.launch.owner import this_process
from tfdist.launch.ports import LOOPBACK, KeptPorts
from tfdist.launch.private_network import PrivateNetwork
from tfdist.launch.probe import answers_at
from tfdist.launch.server_process import ServerProcess, end_servers, last_lines
from tfdist.launch.task_names import log_name, short_name
from tfdist.session.postmortem import tell_of_losses
from tfdist.tracing.disturbances import Disturbance
from tfdist.wire.common.absences import tell_of_absences

_DYING = 0.5  # seconds that a process may take to end when its connections are lost


class ProcessCluster(Cluster):
    """Servers in processes that this process started."""

    kind = "processes"
    where = " in processes of their own"
    servers: Sequence[ServerProcess] = ()
    _network: PrivateNetwork | None = None

    def __init__(self, wanted: ClusterRequest) -> None:
        super().__init__(wanted.name, wanted.jobs, wanted.cpus, wanted.gpus)
        self.engines = wanted.engines
        self._timeout = wanted.timeout
        try:
            self._start_servers(wanted)
        except BaseException:
            for server in self.servers:
                server.kill()  # there are no steps yet that could end
            self._close()
            raise

    def _start_servers(self, wanted: ClusterRequest) -> None:
        self._ports = KeptPorts(len(wanted.tasks), wanted.port)
        self._resources.callback(self._ports.close)
        self._logs = logs_folder(wanted.name, this_process())
        self._logs.mkdir(mode=0o700, exist_ok=True)
        self._resources.callback(rmtree, self._logs, ignore_errors=True)
        engine = self._tensorflow(wanted) if TENSORFLOW in wanted.engines.values() else None
        self.servers = tuple(
            self._server(wanted, job, index, engine if wanted.engines[job] == TENSORFLOW else None)
            for job, index in wanted.tasks
        )
        self._resources.callback(end_servers, self.servers)
        self._resources.callback(tell_of_losses(partial(crashes_in, self.servers)))
        self._resources.callback(tell_of_absences(partial(absences_in, self.servers)))
        self._ports.let_servers_bind()
        for server in self.servers:  # all at once, then wait for each
            server.begin()
        for number, server in enumerate(self.servers):
            if engine is not None:  # ours are quick
                wanted.progress(f"{number} of {len(self.servers)} servers are ready")
            server.wait_ready(self._timeout)
        if engine is not None:
            wanted.progress(f"all {len(self.servers)} servers are ready")

    def _tensorflow(self, wanted: ClusterRequest) -> TensorFlowEngine:
        """Return where servers of TensorFlow come from, with a network for them if need be."""
        python = required_python(wanted.python)
        if wanted.trust_network:
            return TensorFlowEngine(python)
        ports: dict[bool, list[int]] = {True: [], False: []}
        for (job, _), port in zip(wanted.tasks, self._ports.numbers, strict=True):
            ports[wanted.engines[job] == TENSORFLOW].append(port)
        self._network = PrivateNetwork(ports[True], ports[False], self._logs / "gate.log")
        self._resources.callback(self._network.close)
        return TensorFlowEngine(python, self._network.entrance)

    def _server(
        self, wanted: ClusterRequest, job: str, index: int, engine: TensorFlowEngine | None
    ) -> ServerProcess:
        addresses: dict[str, list[str]] = {job: [] for job in wanted.jobs}
        for (name, _), port in zip(wanted.tasks, self._ports.numbers, strict=True):
            addresses[name].append(f"{LOOPBACK}:{port}")
        log = self._logs / log_name(f"/job:{job}/task:{index}")
        return ServerProcess(
            ClusterSpec(addresses), job, index, log, wanted.cpus, engine, wanted.gpus
        )

    @property
    def is_running(self) -> bool:
        """Return whether it was not stopped: it outlives single tasks."""
        return self._close.alive

    def status(self) -> list[TaskRow]:
        """Return one row per task; those that have not ended are asked, for a second at most."""
        answering = answers_at(s.address for s in self.servers if s.is_running)
        return [
            self._row(
                server, self._state(server, server.address in answering), server.pid, server.runs
            )
            for server in self.servers
        ]

    def _tell(self, disturbances: Sequence[Disturbance]) -> None:
        ours = [each for each in self.servers if each.is_running and not each.is_foreign]
        tell_disturbances({each.task_name: each.address for each in ours}, disturbances)

    def _state(self, server: ServerProcess, answers: bool) -> str:
        state = server.state if self.is_running else "stopped"
        return "does not answer" if state == "up" and not answers else state

    def logs(self, task: str | None = None, lines: int = LOG_LINES) -> list[str]:
        """Return the last lines that servers wrote; see `Cluster.logs`."""
        return read_logs(self.log_files(task), task and self.server(task).task_name, lines)

    def log_files(self, task: str | None = None) -> dict[str, Path]:
        """See `Cluster.log_files`."""
        servers = self.servers if task is None else [self.server(task)]
        return {server.task_name: server.log for server in servers}

    def run_on(self, task: str, code: str, write: Callable[[str], None]) -> CellResult:
        """Run code in the process of a task; see `Cluster.run_on`."""
        return self.server(task).run_cell(code, write)  # type: ignore[no-any-return]

    def kill(self, task: str) -> None:
        """Kill the process of a task, as a fault would; see `Cluster.kill`."""
        self.server(task).kill()

    def restart(self, task: str) -> None:
        """Start a task anew at its address, without its variables; see `Cluster.restart`."""
        if self._network is not None and not self._network.is_open:
            raise UnavailableError(
                "the gate of TensorFlow's servers has ended, its log is gate.log"
            )
        server = self.server(task)
        server.stop()
        server.start(self._timeout)
        if self.disturbances:
            self._tell(self.disturbances)
        self.publish()

    def revive(self) -> str:
        """Start the tasks that have ended, and return a sentence about that, or ""."""
        ended = [server for server in self.servers if not server.is_running]
        states = ", ".join(f"{server.task_name}, which had {server.state}" for server in ended)
        for server in ended:
            self.restart(server.task_name)
        return f"started anew: {states}" if ended else ""

    def _processes(self) -> dict[str, int]:
        return {s.task_name: s.pid for s in self.servers if s.pid is not None}


def crashes_in(servers: Sequence[ServerProcess], message: str) -> str:
    """Return which servers crashed, and in which op, that the message of an error names."""
    named = [server for server in servers if server.address in message]
    # a connection is lost a moment before its process has ended
    crashed = [server for server in named if server.wait_end(_DYING) and server.crash]
    return "\n".join(
        f"{server.task_name} {server.crash}; its traceback is in {server.log}" for server in crashed
    )


def absences_in(servers: Sequence[ServerProcess], addresses: Collection[str]) -> str:
    """Return which servers of a cluster are absent, if one of its addresses is among these."""
    if not any(server.address in addresses for server in servers):
        return ""
    answering = answers_at(server.address for server in servers if server.is_running)
    states = {
        short_name(server.task_name): server.state if not server.is_running else "does not answer"
        for server in servers
        if server.address not in answering
    }
    if not states:
        return ""
    told = ", ".join(f"{task} ({state})" for task, state in states.items())
    commands = "; ".join(f"%cluster restart {task}" for task in states)
    return f"absent: {told}. Interrupt this, and start anew what is missing: {commands}"


def read_logs(files: Mapping[str, Path], task: str | None, lines: int) -> list[str]:
    """Return the last lines of logs.

    Args:
      files: by task.
      task: whose log is read; by default all, each line with its task before it.
      lines: of each, at most.
    """
    if task is not None:
        return last_lines(files[task], lines)
    return [f"{name}: {line}" for name, log in files.items() for line in last_lines(log, lines)]
