"""Keeps a task on its host for a notebook elsewhere: starts it, kills it, starts it again.

`srun` and `mpirun` start their processes once, and some end all of them when one has ended. So the
process that they start is this one, which stays, and the task is a child of it. Messages come and
go over the shared folder, as `shared_folder` tells, and are passed on over the child's streams.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable
from pathlib import Path

from tfdist.launch.end_signals import let_signals_end_the_process, wakeup
from tfdist.launch.exchange.channel import Channel
from tfdist.launch.exchange.child import ExchangeChild, serve_command
from tfdist.launch.exchange.messages import Cluster, Kill, Lease, Message, Start, ToTask
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.exchange.shared_folder import POLL, of_member, private_folder
from tfdist.launch.task_names import log_name


def keep(folder: Path, seat: Seat) -> None:
    """Keep a task until the end is asked for, or nothing has been heard for as long as its lease.

    Args:
      folder: of the messages; the log of the task comes there, too.
      seat: the task.

    Raises:
      PermissionDeniedError: the folder is not this user's alone.
    """
    channel = of_member(private_folder(folder), seat.name)
    log = folder / log_name(seat.name)

    def tell(message: Message) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more
            channel.say(message)

    def start() -> ExchangeChild:
        return ExchangeChild(serve_command(seat), log, tell)

    with wakeup() as signals:
        keeper = _Keeper(channel, start, seat.patience)
        try:
            keeper.run(signals)
        finally:
            let_signals_end_the_process()
            keeper.child.stop(seat.grace)


class _Keeper:
    """The state of `keep`.

    Args:
      channel: to whoever wants the task.
      start: starts it.
      patience: seconds until something has to be heard.

    Attributes:
      child: the task.
    """

    def __init__(
        self, channel: Channel, start: Callable[[], ExchangeChild], patience: float
    ) -> None:
        self._channel, self._start = channel, start
        self._deadline = time.monotonic() + patience
        self.child = start()

    def run(self, signals: int) -> None:
        """Do what comes, until a signal or the end of the lease."""
        while (left := self._deadline - time.monotonic()) > 0:
            if select.select([signals], [], [], min(POLL, left))[0]:
                return
            for message in self._channel.heard():
                self._take(message)  # type: ignore[arg-type]

    def _take(self, message: ToTask) -> None:
        match message:
            case Start():
                self.child.stop()
                self.child = self._start()
                return
            case Kill():
                self.child.kill()
                return
            case Cluster():
                self._renew(message.lease)
            case Lease():
                self._renew(message.seconds)
        with contextlib.suppress(OSError):  # it has ended
            self.child.say(message)

    def _renew(self, lease: float) -> None:
        self._deadline = time.monotonic() + lease if lease else float("inf")
