"""The task's end of an exchange: bind, tell, be told the cluster, serve, until the end."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator

from tfdist.base.extras import installed
from tfdist.errors import DeadlineExceededError, FailedPreconditionError
from tfdist.launch.end_signals import let_signals_end_the_process, wakeup
from tfdist.launch.exchange.addresses import spec_of
from tfdist.launch.exchange.channel import Channel
from tfdist.launch.exchange.messages import (
    Bound,
    Cluster,
    Ended,
    FromTask,
    Lease,
    Serves,
    Stop,
    ToTask,
)
from tfdist.launch.exchange.own_certificate import OwnCertificate
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.open_files import allow_many_files
from tfdist.wire.server import Server, bind, device_config


def take_part(channel: Channel, seat: Seat) -> None:
    """Be a task of a cluster whose addresses come over a channel, until the end is asked for.

    Raises:
      FailedPreconditionError: whoever started the tasks gave up; the message says why.
      DeadlineExceededError: the cluster was not told in time.
      OpError: the port cannot be had.
    """
    allow_many_files()
    with wakeup() as signals:
        member = _Member(channel, seat, signals)
        cause = "was stopped"
        try:
            member.run()
        except BaseException as error:
            cause = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
            raise
        finally:
            let_signals_end_the_process()
            member.close()
            with contextlib.suppress(OSError):  # nobody reads any more
                channel.say(Ended(cause))


class _Member:
    """A task's side of the exchange.

    Args:
      channel: to whoever started it.
      seat: which task it is.
      signals: descriptor that is readable when somebody asked for the end.
    """

    def __init__(self, channel: Channel, seat: Seat, signals: int) -> None:
        self._channel, self._seat, self._signals = channel, seat, signals
        self._deadline = time.monotonic() + seat.patience
        self._server: Server | None = None
        self._grace = 0.0
        self._came: deque[ToTask | FromTask] = deque()
        self._certificate = OwnCertificate(seat.host)
        self._endpoint = bind(f"{seat.host}:{seat.port}")

    def run(self) -> None:
        """Take part until the end is asked for."""
        self._say(Bound(
            f"{self._seat.host}:{self._endpoint.port}", os.getpid(), socket.gethostname(),
            software(), self._certificate.request,
        ))  # fmt: skip
        for message in self._messages():
            match message:
                case Cluster():
                    self._renew(message.lease)
                    self._join(message)
                case Lease():
                    self._renew(message.seconds)
                case Stop():
                    self._grace = message.grace
                    if message.cause:
                        raise FailedPreconditionError(message.cause)
                    return

    def close(self) -> None:
        """Stop the server and free the port."""
        if self._server is None:
            self._endpoint.close()
        else:
            self._server.stop(self._grace)

    def _join(self, told: Cluster) -> None:
        self._certificate.take(told)
        spec = spec_of(told.addresses)
        if self._server is not None:
            self._server.move(spec)
            return
        self._server = Server(
            spec, self._seat.job, self._seat.task,
            config=device_config(self._seat.cpus, self._seat.gpus),
            _endpoint=self._endpoint, _only_serves=True,
        )  # fmt: skip
        self._server.task.may_be_disturbed = True  # by whoever started it
        log(f"{self._seat.name} serves at {self._server.target} (pid {os.getpid()})")
        self._say(Serves())

    def _say(self, message: FromTask) -> None:
        try:
            self._channel.say(message)
        except OSError as error:
            raise FailedPreconditionError(
                f"{self._seat.name}: whoever started it does not listen any more ({error})"
            ) from None

    def _renew(self, lease: float) -> None:
        self._deadline = time.monotonic() + lease if lease else float("inf")

    def _messages(self) -> Iterator[ToTask | FromTask]:
        """Yield what comes, until a signal, the end of the channel, or of the lease.

        Raises:
          DeadlineExceededError: the time is over.
        """
        while True:
            while self._came:
                yield self._came.popleft()
            if not self._channel.is_open:
                return
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise DeadlineExceededError(self._overdue())
            if self._is_asked_to_end(left):
                self._grace = self._seat.grace
                return
            self._came.extend(self._channel.heard())

    def _is_asked_to_end(self, left: float) -> bool:
        """Wait for something to come, and return whether it is a signal."""
        readers = [each for each in (self._signals, self._channel.reader) if each is not None]
        patience = min(left, self._channel.interval or left, 3600.0)
        return self._signals in select.select(readers, [], [], patience)[0]

    def _overdue(self) -> str:
        if self._server is None:
            return (
                f"{self._seat.name}: nobody told the addresses of the cluster in "
                f"{self._seat.patience:g} s: other tasks have not started, or cannot tell theirs"
            )
        return f"{self._seat.name}: whoever started it has not been heard of: its lease is over"


def software() -> str:
    """Return the versions that should be alike in all tasks: "tfdist 1.0, Python 3.11"."""
    major, minor, _ = platform.python_version_tuple()
    return f"tfdist {installed('tfdist')}, Python {major}.{minor}"


def log(text: str) -> None:
    """Write a line to the log, which standard error is."""
    print(f"tfdist: {text}", file=sys.stderr, flush=True)
