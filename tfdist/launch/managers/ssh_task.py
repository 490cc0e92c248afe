"""One task over ssh: the command, and what goes over its streams."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfdist.errors import InvalidArgumentError
from tfdist.launch.exchange.child import serve_command
from tfdist.launch.exchange.messages import (
    LARGEST,
    Bound,
    Ended,
    FromTask,
    Stop,
    ToTask,
    decode,
    encode,
)
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.managers.seam import Listener
from tfdist.launch.managers.ssh_hosts import SshHost
from tfdist.launch.server_process import last_lines, own_environment

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection, SSHClientProcess, SSHReader

# Other tasks reach the host as this connection did; an address of IPv6 needs brackets.
_HOST = """set -- $SSH_CONNECTION; case "$3" in *:*) h="[$3]";; *) h="$3";; esac; """
_HERE = "HOST-OF-THE-CONNECTION"
_PASSED_ON = ("TFDIST_REMOTE", "TFDIST_TIMEOUTS")


class SshTask:
    """A task; its methods that are coroutines belong to the loop of the connection.

    Args:
      seat: which task.
      host: where it runs.
      group: which connection of that host's it uses.
      log: file for what it writes.
      listener: is told what it says.

    Attributes:
      host: see above; may be changed before `run`.
      pid: its process id there, 0 before it has told it.
    """

    def __init__(
        self, seat: Seat, host: SshHost, group: int, log: Path, listener: Listener
    ) -> None:
        self.seat, self.host, self.group, self.log = seat, host, group, log
        self.pid = 0
        self._listener = listener
        self._process: SSHClientProcess[str] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Task[None] | None = None
        self._is_closing = False

    async def run(self, connection: SSHClientConnection) -> None:
        """Start it; what it says is told from then on."""
        self._loop = asyncio.get_running_loop()
        self._process = await connection.create_process(
            command_of(self.seat, self.host), encoding="utf-8", errors="replace"
        )
        self._over = asyncio.create_task(self._follow(self._process))

    def say(self, message: ToTask) -> None:
        """Send a message, from any thread; nothing happens where it has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._write, encode(message) + "\n")

    def _write(self, text: str) -> None:
        if self._process is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(text)

    async def stop(self, grace: float, patience: float) -> None:
        """Have it end, and wait for that, `patience` seconds at most."""
        self._is_closing = True
        if self._process is None or self._over is None:
            return
        self._write(encode(Stop(grace)) + "\n")
        await asyncio.wait([self._over], timeout=patience)
        self._process.close()
        self._over.cancel()

    async def _follow(self, process: SSHClientProcess[str]) -> None:
        """Tell what it says, then how it ended."""
        logged = asyncio.create_task(self._write_log(process.stderr))
        cause = await self._listen(process.stdout)
        await logged
        done = await process.wait(check=False)
        code = f"SIG{done.exit_signal[0]}" if done.exit_signal else done.exit_status
        said = "; ".join(last_lines(self.log, 2))
        if code is None:
            cause = cause or "its connection was lost"
        self._tell(Ended(cause or f"exited ({code})" + (f": {said}" if code else "")))

    async def _listen(self, stdout: SSHReader[str]) -> str:
        """Tell what it says up to its end, and return the cause of that, "" if it told none."""
        async for line in _lines(stdout):
            if not line.strip():  # what comes before the end is one, too
                continue
            try:
                message = decode(line)
            except InvalidArgumentError as error:
                return error.message
            if isinstance(message, Ended):
                return message.cause
            if isinstance(message, Bound):
                self.pid = message.pid
            self._tell(message)  # type: ignore[arg-type]
        return ""

    async def _write_log(self, stderr: SSHReader[str]) -> None:
        with open(self.log, "a", encoding="utf-8") as file:
            async for line in _lines(stderr):
                file.write(line[:LARGEST])
                file.flush()

    def _tell(self, message: FromTask) -> None:
        if not self._is_closing:
            self._listener.heard(self.seat.name, message)


async def _lines(reader: SSHReader[str]) -> AsyncIterator[str]:
    """Yield what comes, until the stream or the connection ends."""
    import asyncssh

    with contextlib.suppress(asyncssh.Error, OSError):
        async for line in reader:
            yield line


def command_of(
    seat: Seat, host: SshHost, environment: Callable[[], dict[str, str]] | None = None
) -> str:
    """Return the command that is a task, for whatever login shell there is.

    Args:
      seat: which task.
      host: where it runs.
      environment: of this process.
    """
    known = (environment or own_environment)()
    passed = {name: known[name] for name in _PASSED_ON if known.get(name)}
    if host.python == SshHost("").python and "PYTHONPATH" in known:  # the same files as here
        passed["PYTHONPATH"] = known["PYTHONPATH"]
    seat = replace(seat, host=host.address or _HERE)
    command = shlex.join(serve_command(seat, python=host.python)).replace(_HERE, '"$h"')
    settings = "".join(f"{name}={shlex.quote(value)} " for name, value in passed.items())
    return f"exec sh -c {shlex.quote(f'{_HOST}{settings}exec {command}')}"
