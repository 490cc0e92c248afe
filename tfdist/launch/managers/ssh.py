"""Clusters on hosts that one can log in to: each task is a command over ssh, by asyncssh.

The streams of the command are the exchange, so a lost connection is the end of standard input,
which ends the task; where even that does not arrive, its lease does.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfdist.base.extras import require
from tfdist.errors import UnavailableError
from tfdist.launch.exchange.messages import ToTask
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.managers.seam import ClusterManager, Listener, Place, Wanted
from tfdist.launch.managers.ssh_hosts import SshHost, dealt, parse_hosts
from tfdist.launch.managers.ssh_task import SshTask
from tfdist.launch.server_process import PATIENCE, last_lines
from tfdist.launch.task_names import log_name
from tfdist.wire.common.loop import LoopThread

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection

_TASKS_A_CONNECTION = 8  # sshd lets ten in by default (MaxSessions); one is for `kill`
_CONNECT = 10.0  # seconds
_ALIVE = 5.0  # seconds between two signs of life; three missing ones end a connection


class SshManager(ClusterManager):
    """Starts tasks on the hosts of a list.

    Args:
      hosts: path of the list; see `ssh_hosts`.

    Raises:
      ValueError: it makes no sense, or cannot be read.
      MissingExtra: asyncssh is not installed.
    """

    name = "ssh"
    remedy = "`ssh HOST true` has to work without a question for each host"

    def __init__(self, hosts: str) -> None:
        require("asyncssh")
        if not hosts:
            raise ValueError("which hosts? As in: %cluster start --on ssh:hosts.txt")
        path = Path(hosts).expanduser()
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
        self._hosts = parse_hosts(text, str(path))
        self._tasks: dict[str, SshTask] = {}
        self._connections: dict[tuple[SshHost, int], SSHClientConnection] = {}
        self._loop = LoopThread()
        self._logs = Path()

    def start(self, wanted: Wanted, listener: Listener) -> None:
        """See `ClusterManager.start`."""
        self._logs = Path(tempfile.mkdtemp(prefix="tfdist-ssh-"))
        self._loop.hold()
        hosts = dealt(self._hosts, len(wanted.tasks))
        before: list[SshHost] = []
        for host, (job, index) in zip(hosts, wanted.tasks, strict=True):
            on_host = before.count(host)
            before.append(host)
            port = wanted.port + on_host if wanted.port else 0
            seat = Seat(job, index, port=port, cpus=wanted.cpus, gpus=wanted.gpus)
            log = self._logs / log_name(seat.name)
            self._tasks[seat.name] = SshTask(
                seat, host, on_host // _TASKS_A_CONNECTION, log, listener
            )
        self._loop.run(self._start_all())

    async def _start_all(self) -> None:
        keys = dict.fromkeys((task.host, task.group) for task in self._tasks.values())
        await asyncio.gather(*(self._connection(*key) for key in keys))
        await asyncio.gather(*(self._run(task) for task in self._tasks.values()))

    async def _run(self, task: SshTask) -> None:
        await task.run(await self._connection(task.host, task.group))

    async def _connection(self, host: SshHost, group: int) -> SSHClientConnection:
        """Return a connection, made anew if there is none.

        Raises:
          UnavailableError: there can be none.
        """
        import asyncssh

        found = self._connections.get((host, group))
        if found is not None and not found.is_closed():
            return found
        options: dict[str, Any] = {"username": host.user} if host.user else {}
        if host.port is not None:
            options["port"] = host.port
        try:
            found = await asyncssh.connect(
                host.name, connect_timeout=_CONNECT, keepalive_interval=_ALIVE, **options
            )
        except (OSError, asyncssh.Error, TimeoutError) as error:
            told = str(error) or f"no answer in {_CONNECT:g} s"
            raise UnavailableError(f"cannot reach {host} by ssh: {told}") from None
        self._connections[host, group] = found
        return found

    def tell(self, task: str, message: ToTask) -> None:
        """See `ClusterManager.tell`."""
        with contextlib.suppress(KeyError):
            self._tasks[task].say(message)

    def place(self, task: str) -> Place:
        """See `ClusterManager.place`."""
        found = self._tasks[task]
        return Place(found.host.name, f"process {found.pid}" if found.pid else "")

    def logs(self, task: str, lines: int) -> list[str]:
        """See `ClusterManager.logs`."""
        return last_lines(self._tasks[task].log, lines)

    def kill(self, task: str) -> None:
        """See `ClusterManager.kill`."""
        found = self._tasks[task]
        self._loop.run(self._kill(found))

    async def _kill(self, task: SshTask) -> None:
        connection = await self._connection(task.host, task.group)
        await connection.run(f"kill -KILL {task.pid}", check=False)

    def restart(self, task: str) -> None:
        """See `ClusterManager.restart`: on its host, or the next one that can be reached."""
        self._loop.run(self._restart(self._tasks[task]))

    async def _restart(self, task: SshTask) -> None:
        at = self._hosts.index(task.host)
        for host in self._hosts[at:] + self._hosts[:at]:
            with contextlib.suppress(UnavailableError):
                await self._connection(host, task.group)
                task.host = host
                break
        await self._run(task)

    def close(self, grace: float = 0.0) -> None:
        """See `ClusterManager.close`."""
        if not self._tasks:
            return
        self._loop.run(self._close(list(self._tasks.values()), grace))
        self._loop.release()
        shutil.rmtree(self._logs, ignore_errors=True)

    async def _close(self, tasks: Sequence[SshTask], grace: float) -> None:
        await asyncio.gather(*(task.stop(grace, grace + PATIENCE) for task in tasks))
        for connection in self._connections.values():
            connection.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(each.wait_closed() for each in self._connections.values()))
