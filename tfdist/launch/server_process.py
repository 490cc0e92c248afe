"""One server in a process of its own, seen from the process that started it.

It is a `tfdist serve` or, where an engine says so, one of TensorFlow itself; the gate of a private
network is a child of the same kind. The child's standard output brings one line, when it is ready;
its standard error is the log. Its standard input is its lifeline: a line "SECONDS" on it asks the
child to end within that grace, and the end of the stream, which comes however this process ends, is
the same as a grace of 0. A child that this process forks without exec holds the stream open, so the
server looks at its parent's id as well (see `serve`). `PR_SET_PDEATHSIG` would be simpler, but it
fires when the *thread* that started the server ends.

The child has a session of its own: Ctrl-C in a terminal is not for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import DeadlineExceededError, UnavailableError, UnimplementedError
from tfdist.launch import crash
from tfdist.launch.cell_channel import CellChannel, CellResult
from tfdist.launch.engines import TFDIST, TensorFlowEngine
from tfdist.launch.forked_process import Process, forked
from tfdist.launch.open_files import is_readable
from tfdist.runtime.step.interrupts import LOOK_UP

START_TIMEOUT = 30.0  # seconds
PATIENCE = 2.0  # seconds that a server gets to end, beyond its grace, before it is killed
TAIL = 64 * 1024  # bytes of a log that are read at most
PACKAGE_FOLDER = Path(__file__).parents[2]

Environment = Callable[[], Mapping[str, str]]


class ChildProcess:
    """A process that this one starts and ends, and that says when it is ready.

    Args:
      name: of what it is, for messages.
      command: its program and arguments.
      environment: returns its environment variables, at each start.
      log: file that what it writes is added to; its folder exists.

    Attributes:
      log: the file.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Environment, log: Path
    ) -> None:
        self.log = log
        self._name = name
        self._command = list(command)
        self._environment = environment
        self._process: Process | None = None
        self._end: weakref.finalize[..., ChildProcess] | None = None
        self._log_before = 0  # bytes of the log when the process began

    @property
    def pid(self) -> int | None:
        """Return the process id, None before the start."""
        return self._process.pid if self._process else None

    @property
    def _code(self) -> int:
        return (self._process.returncode if self._process else None) or 0

    @property
    def is_running(self) -> bool:
        """Return whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def state(self) -> str:
        """Return "up", "exited (CODE)", "exited (SIGKILL)", "not started" or what `crash` says."""
        if self._process is None:
            return "not started"
        if self.is_running:
            return "up"
        return self.crash or f"exited ({_code_text(self._code)})"

    @property
    def crash(self) -> str:
        """Return "crashed (SIGSEGV) in OP", without the op if it was in none; "" if it did not."""
        signal_name = "" if self.is_running else _code_text(self._code)
        if signal_name not in crash.SIGNALS:
            return ""
        place = crash.place_of(crash.frames_of(log_since(self.log, self._log_before)))
        return f"crashed ({signal_name}) in {place}" if place else f"crashed ({signal_name})"

    def begin(self) -> None:
        """Start the process, without waiting until the server is ready.

        Raises:
          OSError: the log cannot be written, or the system starts no more processes.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        log = os.open(self.log, flags, 0o600)
        self._log_before = os.fstat(log).st_size
        try:
            self._process = self._begun(log)
        finally:
            os.close(log)
        self._end = weakref.finalize(self, _end_all, os.getpid(), [self._process])
        self._end.atexit = False  # the lifeline ends then, too

    def _begun(self, log: int) -> Process:
        """Return the process, which has just begun."""
        return subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            env=self._environment(), start_new_session=True,
        )  # fmt: skip

    def wait_ready(self, timeout: float = START_TIMEOUT) -> str:
        """Wait until it is ready and return the line that says so; Ctrl-C ends the wait.

        Args:
          timeout: seconds.

        Raises:
          UnavailableError: the process ended; the message has the end of its log.
          DeadlineExceededError: it is not ready in time; it goes on.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        where = self._name
        try:
            line = _first_line(self._process.stdout.fileno(), timeout)
        except TimeoutError:
            log = self._end_of_log()
            raise DeadlineExceededError(f"{where} was not ready in {timeout:g} s: {log}") from None
        if not line:
            end([self._process])  # it ends by itself, or has closed its output
            raise UnavailableError(f"{where} did not start: {self.state}: {self._end_of_log()}")
        self._process.stdout.close()
        return line.decode(errors="replace").rstrip()

    def start(self, timeout: float = START_TIMEOUT) -> str:
        """Start it and wait until it is ready; see `begin` and `wait_ready`."""
        self.begin()
        try:
            return self.wait_ready(timeout)
        except BaseException:
            self.kill()
            raise

    def wait_end(self, timeout: float) -> bool:
        """Wait for its end, `timeout` seconds at most, and return whether it has ended."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout)
        return not self.is_running

    def logs(self, lines: int = 20) -> list[str]:
        """Return the last lines of its log."""
        return last_lines(self.log, lines)

    def stop(self, grace: float | None = None) -> None:
        """End the process; nothing happens if it has ended.

        Args:
          grace: seconds that running steps may still take; none by default.
        """
        if self._process is not None:
            end([self._process], grace or 0.0)

    def kill(self) -> None:
        """End the process with SIGKILL: it cannot do anything about it."""
        if self._process is not None:
            self._process.kill()
            _reap(self._process)

    def _end_of_log(self) -> str:
        return "; ".join(self.logs(3)) or "its log is empty"


class ServerProcess(ChildProcess):
    """A server that this process starts and ends.

    Args:
      cluster: all tasks; this one's port is not 0.
      job: of this task.
      task: its index in the job.
      log: file that what the server writes is added to; its folder exists.
      cpus: CPU devices.
      engine: where TensorFlow itself comes from, if the server is to be one of it.
      gpus: simulated GPUs.

    Attributes:
      task_name: "/job:J/task:I".
      address: "HOST:PORT".
      runs: what serves: "tfdist", or "TensorFlow" with its version as soon as it has told that.
      is_foreign: whether it is a server of TensorFlow.
    """

    def __init__(
        self,
        cluster: ClusterSpec,
        job: str,
        task: int,
        log: Path,
        cpus: int = 1,
        engine: TensorFlowEngine | None = None,
        gpus: int = 0,
    ) -> None:
        self.task_name = f"/job:{job}/task:{task}"
        self.address = cluster.task_address(job, task)
        self.runs = TFDIST if engine is None else engine.name
        self.is_foreign = engine is not None
        self._arguments = _arguments(cluster, job, task, cpus, gpus)
        command = [sys.executable, "-m", "tfdist", *self._arguments, "--parent", str(os.getpid())]
        environment: Environment = own_environment
        if engine is not None:
            command = engine.command(cluster.as_dict(), job, task, cpus)
            environment = engine.environment
        self._cells: CellChannel | None = None
        super().__init__(f"{self.task_name} at {self.address}", command, environment, log)

    def _begun(self, log: int) -> Process:
        """See `ChildProcess`: ours are forked where that is possible, which is quicker."""
        if self.is_foreign:
            return super()._begun(log)
        ours, theirs = socket.socketpair()
        self._give_up_cells()
        self._cells = CellChannel(ours, self.task_name)
        weakref.finalize(self, ours.close)
        with theirs:
            cells = theirs.fileno()
            found = forked(self._arguments, self._environment(), log, cells)
            return found or subprocess.Popen(
                [*self._command, "--cells", str(cells)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, env=self._environment(),
                start_new_session=True, pass_fds=[cells],
            )  # fmt: skip

    def run_cell(self, code: str, write: Callable[[str], None]) -> CellResult:
        """Run code in the process; see `CellChannel.run`.

        Raises:
          UnimplementedError: it is a server of TensorFlow.
        """
        if self.is_foreign or self._cells is None:
            raise UnimplementedError(
                f"{self.task_name} is a server of TensorFlow: it runs no cells"
            )
        return self._cells.run(code, write)

    def stop(self, grace: float | None = None) -> None:
        """See `ChildProcess.stop`."""
        super().stop(grace)
        self._give_up_cells()

    def kill(self) -> None:
        """See `ChildProcess.kill`."""
        super().kill()
        self._give_up_cells()

    def _give_up_cells(self) -> None:
        if self._cells is not None:
            self._cells.close()

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT", for `tf.Session`."""
        return f"grpc://{self.address}"

    def wait_ready(self, timeout: float = START_TIMEOUT) -> str:
        """See `ChildProcess.wait_ready`."""
        line = super().wait_ready(timeout)
        if self.is_foreign:  # "TensorFlow VERSION serves ..."
            self.runs = line.partition(" serves ")[0]
        return line

    def __repr__(self) -> str:
        return f"<ServerProcess {self.task_name} {self.state} at {self.target}>"


def _arguments(cluster: ClusterSpec, job: str, task: int, cpus: int, gpus: int) -> list[str]:
    spec = json.dumps(cluster.as_dict())
    return [
        *("serve", "--cluster", spec, "--job", job, "--task", str(task), "--cpus", str(cpus)),
        *(("--gpus", str(gpus)) if gpus else ()),
    ]


def end(processes: list[Process], grace: float = 0.0) -> None:
    """End servers: ask all of them, wait, and kill those that do not end.

    Args:
      processes: of servers that this process started.
      grace: seconds that running steps may still take.
    """
    for process in processes:
        _ask(process, grace)
    deadline = time.monotonic() + grace + PATIENCE
    try:
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
    finally:  # Ctrl-C comes here too
        for process in processes:
            process.kill()  # nothing happens to those that have ended
            _reap(process)


def end_servers(servers: Sequence[ChildProcess]) -> None:
    """End servers, all at once; see `end`."""
    end([server._process for server in servers if server._process is not None])


def last_lines(log: Path, lines: int) -> list[str]:
    """Return the last lines of a file, none if there is no such file."""
    return log_since(log, 0).splitlines()[-lines:] if lines > 0 else []


def log_since(log: Path, begin: int) -> str:
    """Return the last part of a file that comes after the byte `begin`, "" if there is no such."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(begin, log.stat().st_size - TAIL))
        return file.read().decode(errors="replace")


def _code_text(code: int) -> str:
    """Return an exit code, or the name of the signal that ended the process."""
    try:
        return signal.Signals(-code).name
    except ValueError:  # no signal, or one without a name
        return str(code)


def own_environment() -> dict[str, str]:
    """Return the environment of a child that finds the tfdist that this process runs."""
    if PACKAGE_FOLDER.name in ("site-packages", "dist-packages"):
        return dict(os.environ)
    path = [str(PACKAGE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)}


def _first_line(descriptor: int, timeout: float) -> bytes:
    """Return what comes up to the end of a line; b"" if the stream ends before."""
    deadline, line = time.monotonic() + timeout, b""
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        # in short waits: a signal that comes just before a wait does not end it
        if is_readable(descriptor, min(left, LOOK_UP)):
            more = os.read(descriptor, 4096)
            if not more:
                return b""
            line += more
    return line


def _ask(process: Process, grace: float) -> None:
    if process.stdin is None or process.stdin.closed:
        return
    with contextlib.suppress(OSError):  # it has ended
        process.stdin.write(f"{grace:g}\n".encode())
        process.stdin.flush()
    with contextlib.suppress(OSError):
        process.stdin.close()


def _reap(process: Process) -> None:
    process.wait()
    for stream in filter(None, [process.stdin, process.stdout]):
        with contextlib.suppress(OSError):
            stream.close()


def _end_all(owner: int, processes: list[Process]) -> None:
    if os.getpid() == owner:  # not in a child that was forked
        end(processes)
