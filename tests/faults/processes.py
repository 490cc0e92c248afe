"""Processes of the bench: servers (`tfdist serve`) and clients, started, signalled and ended.

Everything has a lifeline: standard input of a process ends with the bench, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.faults import probes
from tests.ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
START = 90.0  # seconds that a process may take until its first line
END = 5.0  # seconds that a process may take to end by itself


class Process:
    """A child process whose standard output is read line by line.

    Args:
      words: its command line.
      log: file for what it writes to standard error.
      environment: variables that it has besides those of this process.
    """

    def __init__(self, words: list[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        apart = {**os.environ, **environment}.get("TEST_APART", "").split()
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*apart, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, "PYTHONPATH": path, **environment}, start_new_session=True,
            )  # fmt: skip
        self.pid = self._process.pid
        self._text = b""

    def line(self, patience: float = START) -> str:
        """Return the next line that it prints, "" if it has ended without one.

        Raises:
          AssertionError: there is none in `patience` seconds.
        """
        assert self._process.stdout is not None
        deadline = time.monotonic() + patience
        while b"\n" not in self._text:
            left = deadline - time.monotonic()
            assert left > 0, f"no line from process {self.pid} in {patience:g} s: {self.logged()}"
            if select.select([self._process.stdout], [], [], left)[0]:
                more = os.read(self._process.stdout.fileno(), 65_536)
                if not more:
                    return ""
                self._text += more
        line, _, self._text = self._text.partition(b"\n")
        return line.decode()

    def lines_now(self) -> list[str]:
        """Return the lines that it has printed by now and nobody has read."""
        assert self._process.stdout is not None
        while select.select([self._process.stdout], [], [], 0)[0]:
            more = os.read(self._process.stdout.fileno(), 65_536)
            if not more:
                break
            self._text += more
        *lines, self._text = self._text.split(b"\n")
        return [line.decode() for line in lines]

    def tell(self, text: str) -> None:
        """Write a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n".encode())
        self._process.stdin.flush()

    def signal(self, number: int) -> float:
        """Send it a signal; returns `time.monotonic()` of just before."""
        moment = time.monotonic()
        self._process.send_signal(number)
        return moment

    def kill(self) -> float:
        """End it with SIGKILL; returns `time.monotonic()` of just before."""
        return self.signal(signal.SIGKILL)

    def freeze(self) -> float:
        """Stop it with SIGSTOP; returns `time.monotonic()` of just before."""
        return self.signal(signal.SIGSTOP)

    def thaw(self) -> float:
        """Let it go on; returns `time.monotonic()` of just before."""
        return self.signal(signal.SIGCONT)

    @property
    def is_running(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def exit_code(self, patience: float = END) -> int:
        """Return how it ended: a code, or minus the signal, waiting for it if need be."""
        return self._process.wait(patience)

    def end(self) -> None:
        """End it by its lifeline, or by SIGKILL, and forget it.

        Raises:
          AssertionError: it had to be killed.
        """
        self.thaw()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended
            self._process.stdin.close()
        try:
            self._process.wait(END)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
            raise AssertionError(f"process {self.pid} did not end: {self.logged()}") from None
        finally:
            self._process.stdout.close()

    def logged(self) -> str:
        """Return the end of what it wrote to standard error."""
        return self.log.read_text(errors="replace")[-2000:] or "its log is empty"


class Task:
    """A task of a cluster whose server is, or will be, a process.

    Args:
      cluster: addresses by job, as this task sees them.
      job: its job.
      index: its index.
      folder: for its log.
      environment: further variables of its process.

    Attributes:
      name: "/job:J/task:I".
      address: "HOST:PORT" at which it serves.
      process: its server, None before the start.
      words: its command line.
    """

    def __init__(
        self,
        cluster: Mapping[str, list[str]],
        job: str,
        index: int,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.name = f"/job:{job}/task:{index}"
        self.address = cluster[job][index]
        self.process: Process | None = None
        self.words = [
            *(sys.executable, "-m", "tfdist", "serve", "--parent", str(os.getpid())),
            *("--cluster", json.dumps(cluster), "--job", job, "--task", str(index)),
        ]
        self._log = folder / f"{job}{index}.log"
        self._environment = environment

    @property
    def target(self) -> str:
        """Return "grpc://HOST:PORT", for a session."""
        return f"grpc://{self.address}"

    @property
    def pattern(self) -> str:
        """Return what a message that names this task matches."""
        return self.name.replace("/task", "(/replica:0)?/task") + r"(?!\d)"

    @property
    def where(self) -> str:
        """Return what a message that names this task's address matches."""
        return re.escape(self.address)

    def begin(self) -> None:
        """Start the server, without waiting until it is ready."""
        self.process = Process(self.words, self._log, self._environment)

    def wait_ready(self) -> None:
        """Wait until the server says that it serves."""
        assert self.process is not None
        line = self.process.line()
        assert "serves at" in line, f"{self.name} did not start: {self.process.logged()}"

    def restart(self) -> None:
        """Start a new server in the place of one that has ended, and wait until it is ready."""
        self.end()
        self.begin()
        self.wait_ready()

    def end(self) -> None:
        """End the server; nothing happens if there is none."""
        if self.process is not None:
            process, self.process = self.process, None
            process.end()

    def kill(self) -> float:
        """End the server with SIGKILL; returns `time.monotonic()` of just before."""
        return self.running.kill()

    def freeze(self) -> float:
        """Stop the server with SIGSTOP; returns `time.monotonic()` of just before."""
        return self.running.freeze()

    def thaw(self) -> float:
        """Let the server go on; returns `time.monotonic()` of just before."""
        return self.running.thaw()

    @property
    def running(self) -> Process:
        """Return the server's process."""
        assert self.process is not None, f"{self.name} was not started"
        return self.process

    @property
    def pid(self) -> int:
        """Return the server's process id."""
        return self.running.pid

    def waits(self) -> list[str]:
        """Return what the steps of this task wait for."""
        return probes.waits(self.address, self.name)


def free_addresses(count: int) -> list[str]:
    """Return addresses on the loopback that nobody listens on."""
    return [f"127.0.0.1:{port}" for port in free_ports(count)]
