"""A task as a child process whose standard input and output are its exchange."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tfdist.errors import InvalidArgumentError
from tfdist.launch.exchange.messages import Ended, Message, Stop, decode, encode
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.server_process import PATIENCE, own_environment

Heard = Callable[[Message], None]


class ExchangeChild:
    """A process `tfdist serve --exchange stdio`.

    Args:
      command: its program and arguments; see `serve_command`.
      log: file that its standard error is added to; its folder exists.
      heard: gets each message, on a thread of the child's; the last one is `Ended`.
      environment: of the process; by default this one's, with the tfdist that runs here.

    Attributes:
      log: the file.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        heard: Heard,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log, self._heard = log, heard
        with open(log, "ab") as file:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file,
                env=own_environment() if environment is None else environment,
                start_new_session=True,
            )  # fmt: skip
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._listen, name="tfdist-exchange", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Return its exit code, None while it runs."""
        return self._process.poll()

    def say(self, message: Message) -> None:
        """Send a message; OSError where it has ended."""
        stdin = self._process.stdin
        assert stdin is not None
        with self._lock:
            if stdin.closed:
                raise BrokenPipeError(f"process {self.pid} has ended")
            stdin.write(encode(message).encode() + b"\n")
            stdin.flush()

    def wait(self, timeout: float) -> bool:
        """Wait for its end, `timeout` seconds at most, and return whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)
        return self.code is not None

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()

    def stop(self, grace: float = 0.0) -> None:
        """Ask for its end, wait, and kill it if it does not come; its messages end, too."""
        with contextlib.suppress(OSError):
            self.say(Stop(grace))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace + PATIENCE)
        self._process.kill()
        self.join()

    def join(self) -> None:
        """Wait for its end; nothing is heard of it after that."""
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _listen(self) -> None:
        """Hand on what it says, then how it ended."""
        cause = ""
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            try:
                message = decode(line)
            except InvalidArgumentError as error:
                self._process.kill()
                cause = error.message
                break
            if isinstance(message, Ended):
                cause = message.cause
            else:
                self._heard(message)
        code = self._process.wait()
        stdout.close()
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._heard(Ended(cause or f"exited ({code})"))


def serve_command(seat: Seat, exchange: str = "stdio", python: str = sys.executable) -> list[str]:
    """Return the command that is a task: "python -m tfdist serve --exchange stdio ...".

    Args:
      seat: which task.
      exchange: "stdio", or the folder of messages.
      python: the interpreter on the task's host.
    """
    numbers = {
        "--task": seat.task, "--port": seat.port, "--cpus": seat.cpus, "--gpus": seat.gpus,
        "--grace": seat.grace, "--patience": seat.patience,
    }  # fmt: skip
    options = [text for name, value in numbers.items() for text in (name, f"{value:g}")]
    place = ["--exchange", os.fspath(exchange), "--job", seat.job, "--host", seat.host]
    return [python, "-m", "tfdist", "serve", *place, *options]
