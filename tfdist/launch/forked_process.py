"""Processes that begin with all that a server needs imported: forks of a `fork_server`.

There is one fork server at a time, started when a server is first wanted. A fork has the
environment and the folder that its fork server began with, so when those change, a new one follows.
Where there are no descriptors of processes (before Linux 5.3, elsewhere), none is started.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Protocol

from tfdist.launch import fork_server
from tfdist.launch.open_files import is_readable
from tfdist.runtime.step.interrupts import LOOK_UP

_COMMAND = ["-m", "tfdist", "fork"]


class Process(Protocol):
    """What is asked of a child, as `subprocess.Popen` tells it."""

    pid: int
    returncode: int | None

    @property
    def stdin(self) -> IO[bytes] | None: ...

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """End it with SIGKILL; nothing happens if it has ended."""


class ForkedProcess:
    """A fork: the child of a fork server, and so no child of this process. Any thread may ask it.

    Args:
      pid: of the process.
      process: its descriptor, which no later process of that id can take.
      exit_code: descriptor to which the fork server writes how it ended.
      stdin: the other end of its standard input.
      stdout: the other end of its standard output.
    """

    def __init__(
        self, pid: int, process: int, exit_code: int, stdin: IO[bytes], stdout: IO[bytes]
    ) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self.returncode: int | None = None
        self._lock = threading.RLock()  # held while descriptors are used that its end closes
        self._process = open(process, "rb", buffering=0)
        self._exit_code = open(exit_code, "rb", buffering=0)

    def poll(self) -> int | None:
        """See `Process.poll`."""
        with self._lock:
            if self.returncode is None and is_readable(self._process.fileno()):
                told = self._exit_code.read(16)
                # who has killed the fork server has ended its children
                self.returncode = int(told) if told else -signal.SIGKILL
                self._process.close()
                self._exit_code.close()
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """See `Process.wait`."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            # in short waits: a signal that comes just before a wait does not end it
            with contextlib.suppress(ValueError):  # closed: another thread saw its end
                is_readable(self._process.fileno(), min(left, LOOK_UP))
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """See `Process.kill`."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self.poll() is None:
                signal.pidfd_send_signal(self._process.fileno(), signal.SIGKILL)


class _ForkServer:
    """This process's end of a fork server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.began_with = _surroundings(environment)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests = ours
        with theirs:
            self._pid = os.posix_spawn(
                sys.executable, [sys.executable, *_COMMAND], environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
            )  # fmt: skip

    def fork(self, arguments: Sequence[str], log: int, cells: int) -> ForkedProcess:
        """Return a new process.

        Raises:
          OSError: the fork server has ended, or the system starts no more processes.
        """
        stdin, to_stdin = os.pipe()
        from_stdout, stdout = os.pipe()
        from_exit_code, exit_code = os.pipe()
        ours, text = [to_stdin, from_stdout, from_exit_code], _file_with(json.dumps(arguments))
        try:
            theirs = [text, stdin, stdout, log, exit_code, cells]
            socket.send_fds(self._requests, [fork_server.MESSAGE], theirs)
            pid, [process], _, _ = socket.recv_fds(self._requests, 16, 1)
        except (OSError, ValueError, KeyboardInterrupt) as error:
            for each in ours:
                os.close(each)
            if isinstance(error, KeyboardInterrupt):
                raise
            raise OSError("the fork server has ended") from None
        finally:
            for each in (text, stdin, stdout, exit_code):
                os.close(each)
        return ForkedProcess(
            int(pid), process, from_exit_code, open(to_stdin, "wb"), open(from_stdout, "rb")
        )

    def close(self) -> None:
        """Let it end, as soon as all its children have."""
        self.let_go()
        _closed.append(self._pid)

    def let_go(self) -> None:
        """Close the socket of this process."""
        self._requests.close()


_lock = threading.Lock()
_current: _ForkServer | None = None
_closed: list[int] = []  # process ids of fork servers that may not have ended yet


def forked(
    arguments: Sequence[str], environment: Mapping[str, str], log: int, cells: int
) -> Process | None:
    """Return a process that does what `tfdist ARGUMENTS --parent PID` does.

    Args:
      arguments: of the command.
      environment: of the process.
      log: descriptor of its standard error; it has pipes for the other two.
      cells: descriptor of the socket that brings it code; see `cells`.

    Returns:
      None where none can be forked.
    """
    global _current
    if not hasattr(os, "pidfd_open"):
        return None
    with _lock:
        _reap()
        if _current is not None and _current.began_with != _surroundings(environment):
            _give_up()
        try:
            _current = _current or _ForkServer(environment)
            return _current.fork(arguments, log, cells)
        except OSError:
            _give_up()
            return None
        except BaseException:  # an answer that nobody took would be taken for the next one
            _give_up()
            raise


def _give_up() -> None:
    global _current
    if _current is not None:
        _current.close()
        _current = None


def _reap() -> None:
    """Let the system forget the fork servers that have ended."""
    for pid in list(_closed):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                continue
        _closed.remove(pid)


def _forget_in_child() -> None:
    """In a fork of this process: its parent's fork server is not its own."""
    global _current, _lock
    if _current is not None:
        _current.let_go()
    _current, _lock = None, threading.Lock()
    _closed.clear()


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_give_up)


def _surroundings(environment: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    return os.getcwd(), dict(environment)


def _file_with(text: str) -> int:
    """Return the descriptor of a file in memory: a message would be bounded."""
    descriptor = os.memfd_create("arguments")
    with open(descriptor, "w", encoding="utf-8", closefd=False) as file:
        file.write(text)
    return descriptor
