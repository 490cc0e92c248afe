"""The frames' calling half: calls to the process that listens at the end of a way.

A caller that waits has a connection of its own and reads it on its own thread, which no other
thread has to wake: to give up is to close the connection. Calls whose answers go to a callback
share one connection, which the loop reads.
"""

from __future__ import annotations

import copy
import errno
import itertools
import math
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from tfdist.errors import (
    CancelledError,
    DeadlineExceededError,
    OpError,
    UnavailableError,
)
from tfdist.runtime.resources.exhausted import no_room
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Frame, Kind
from tfdist.wire.common.calls import Done, Pieces, size
from tfdist.wire.common.loop import LOOP, guarded
from tfdist.wire.common.status import from_status
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.connection import Connection, abandon_in_child
from tfdist.wire.frames.shared_memory import POOL
from tfdist.wire.frames.signs_of_life import ServerWatch
from tfdist.wire.frames.waiting import wait_at, wait_for
from tfdist.wire.frames.way import Way, connected, unreachable

_MOST_KEPT = 4  # connections that wait for the next call
_ALONE = 5.0  # seconds without a try where there was no further connection
_MOST_BUSY = 128  # connections of calls that wait; further ones share one


class FramesCaller:
    """Calls to the process at the end of a way (`tfdist.wire.common.calls.Caller`).

    Args:
      way: to a listener.
      lost: makes the error of the calls that end because the process is gone.
      greeting: path and message of what each connection says first, without answer.

    Raises:
      UnavailableError: nobody listens there, or somebody who is not to be trusted.
    """

    def __init__(
        self,
        way: Way,
        lost: Callable[[], OpError] | None = None,
        greeting: tuple[str, bytes] | None = None,
    ) -> None:
        self._way, self._greeting = way, greeting
        self._lost = lost
        self._lock = threading.Lock()
        self._ending: OpError | None = None  # why there are no more calls
        self._is_abandoned = False
        self._alone_until = 0.0  # calls share a connection, as there was no further one
        self._kept: list[Connection] = []
        self._busy: set[Connection] = set()
        self._numbers = itertools.count(1)
        self._pending: dict[int, Done] = {}
        self._leaving: set[int] = set()  # those of them that may not have left
        self._on_lost: list[Callable[[], None]] = []
        shared = connected(way, greeting)
        if shared is None:
            raise UnavailableError(unreachable(way, os.strerror(errno.EMFILE)))
        self._shared = shared
        shared.send_buffer.is_shared = True
        self._watch = ServerWatch(
            shared.peer.process, lambda: self.heard, self._ask_for_sign, self._is_silent
        )
        abandon_in_child(self)
        LOOP.soon(self._begin_to_read)

    @property
    def is_local(self) -> bool:
        """Return whether the process is one of this host."""
        return self._shared.peer.process > 0

    @property
    def heard(self) -> float:
        """Return when something arrived last, or was taken there (`time.monotonic`)."""
        connections = [self._shared, *list(self._busy), *list(self._kept)]
        return max(max(each.heard, each.send_buffer.moved) for each in connections)

    def on_lost(self, told: Callable[[], None]) -> None:
        """Have `told` called, on the loop, when the process is gone; at once if it is."""
        self._on_lost.append(told)
        if self._ending is not None:
            self._tell_lost()

    def call(self, path: str, request: Pieces, timeout: float | None = None) -> memoryview:
        """Return the answer; see `Caller.call`."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        try:
            connection = self._take()
            if connection is None:
                return self._call_shared(path, request, deadline)
            return _message(self._call_alone(connection, path, request, deadline))
        except TimeoutError:
            raise DeadlineExceededError(
                f"{self._shared.peer} did not answer {path} within {timeout} seconds; the call "
                "was cancelled there"
            ) from None

    def begin(self, path: str, request: Pieces, done: Done) -> Callable[[], None]:
        """Begin a call; see `Caller.begin`.

        `done` runs on the loop and must return at once.
        """
        number = next(self._numbers)
        self._leaving.add(number)  # before `_lose` can find it
        self._pending[number] = done
        try:
            self._shared.request(number, path, request)
        except UnavailableError as error:
            self._pending.pop(number, None)
            self._tell_unsent(self._unsent(self._end_of(error)), done)
        except BaseException:  # Ctrl-C: nobody knows whether it was sent
            self._pending.pop(number, None)
            LOOP.soon(self._send_cancel, number)
            raise
        finally:
            self._leaving.discard(number)
        if self._ending is not None:
            self._finish_elsewhere(number, copy.copy(self._ending))
        return partial(self._cancel, number, path)

    def notify(self, path: str, request: Pieces) -> None:
        """Send what needs no answer; see `Caller.notify`."""
        try:
            self._shared.notify(path, request)
        except UnavailableError:
            pass

    def close(self, why: OpError | None = None) -> None:
        """End all calls; with CancelledError, or with `why`."""
        error = why or CancelledError(f"the connection to {self._way} was closed on this side")
        self._on_lost.clear()
        with self._lock:
            self._ending = self._ending or error
            busy, kept, self._kept = list(self._busy), self._kept, []
        for connection in busy:
            connection.shut()  # its thread wakes
        for connection in kept:
            connection.close()
        self._shared.shut()
        LOOP.soon(self._lose, error)

    def abandon(self) -> None:
        """Let go of what belongs to the parent of this forked process."""
        self._lock = threading.Lock()
        self._is_abandoned = True
        self._ending = UnavailableError(
            f"the connection to {self._way} belongs to the process that this one was forked "
            "from; make sessions after the fork"
        )
        self._kept, self._busy, self._pending, self._on_lost = [], set(), {}, []
        self._leaving = set()

    # calls that wait

    def _take(self) -> Connection | None:
        """Return a connection for one call, or None if there are too many, or no further one."""
        with self._lock:
            self._check_open()
            connection = self._kept.pop() if self._kept else None
            is_full = len(self._busy) >= _MOST_BUSY or time.monotonic() < self._alone_until
            if connection is None and is_full:
                return None
            if connection is not None:
                self._busy.add(connection)
                return connection
        try:
            connection = connected(self._way, self._greeting)  # others do not wait for that
        except UnavailableError:  # if the process is gone, the shared one says so
            connection = None
        if connection is None:
            self._alone_until = time.monotonic() + _ALONE
            return None
        with self._lock:
            if self._ending is None:
                self._busy.add(connection)
                return connection
        connection.close()
        with self._lock:
            self._check_open()
        return None

    def _check_open(self) -> None:
        if self._ending is not None:
            raise self._unsent(copy.copy(self._ending))

    def _call_alone(
        self, connection: Connection, path: str, request: Pieces, deadline: float
    ) -> Frame:
        has_left = False
        try:
            self._make_room(request)
            connection.request(1, path, request)
            has_left = True
            answer = wait_at(connection, deadline)
        except BaseException as error:
            LOOP.soon(connection.close)  # that cancels the call; a second Ctrl-C does not get there
            with self._lock:
                self._busy.discard(connection)
            if isinstance(error, UnavailableError):
                end = self._end_of(error)
                raise (end if has_left else self._unsent(end)) from None
            raise
        self._keep(connection)
        return answer

    def _call_shared(self, path: str, request: Pieces, deadline: float) -> memoryview:
        answers: SimpleQueue[memoryview | OpError] = SimpleQueue()
        cancel = self.begin(path, request, answers.put)
        try:
            answer = wait_for(answers, deadline)
        except BaseException:
            cancel()
            raise
        try:
            if isinstance(answer, OpError):
                raise answer
            return answer
        finally:
            del answer  # an error must not keep the frame that it is raised through

    def _keep(self, connection: Connection) -> None:
        with self._lock:
            self._busy.discard(connection)
            if self._ending is None and len(self._kept) < _MOST_KEPT:
                self._kept.append(connection)
                return
        connection.close()

    def _make_room(self, request: Pieces) -> None:
        """Read from connections that nobody reads now which segments are free again."""
        length = size(request)
        if length < shared_memory.LARGE or not self.is_local:
            return
        if POOL.has(length, self._shared.peer.user):
            return
        with self._lock:
            for connection in list(self._kept):
                if not _drained(connection):
                    self._kept.remove(connection)
                    connection.close()

    def _tell_unsent(self, error: OpError, done: Done) -> None:
        """Raise the error of a call that did not leave, if it may leave on another connection."""
        if error.never_left and isinstance(error, UnavailableError):
            raise error
        _on_a_thread(partial(done, error))

    def _unsent(self, error: OpError) -> OpError:
        """Return the error of a call that did not leave; in a fork no other connection is tried."""
        error.never_left = not self._is_abandoned
        return error

    def _end_of(self, error: UnavailableError) -> OpError:
        """Return why there is no answer: this side's own reason comes first."""
        if self._ending is not None:
            return copy.copy(self._ending)
        return error if self._lost is None else self._lost()

    # calls whose answers go to a callback; all of this on the loop

    def _begin_to_read(self) -> None:
        self._shared.read_with(self._readable)
        if self.is_local:
            self._watch.begin()

    def _ask_for_sign(self) -> None:
        self._send_alone(Kind.ALIVE, 1)

    def _is_silent(self) -> None:
        with self._lock:
            busy = list(self._busy)
        for connection in busy:
            connection.shut()  # its thread wakes
        self._lose(self._end_of(UnavailableError(f"{self._shared.peer} is silent: it is frozen")))

    def _readable(self) -> None:
        try:
            self._take_answers()
            while self._shared.has_more:
                self._take_answers()
        except BlockingIOError:
            pass
        except UnavailableError as error:
            self._lose(self._end_of(error))

    def _take_answers(self) -> None:
        for frame in self._shared.receive():
            self._answered(frame)

    def _answered(self, frame: Frame) -> None:
        if frame.kind == Kind.INTERIM and not frame.flags & frames.DROPPED:
            done = self._pending.get(frame.number)
            if done is not None:
                guarded(partial(done, frame.body))
            return
        if frame.kind == Kind.ALIVE:
            return
        if frame.kind not in (Kind.ANSWER, Kind.ERROR, Kind.INTERIM):
            raise UnavailableError(f"a server sends no frames of kind {frame.kind}")
        try:
            answer: memoryview | OpError = _message(frame)
        except OpError as error:
            answer = error
        self._finish(frame.number, answer)

    def _finish(self, number: int, answer: memoryview | OpError) -> None:
        done = self._pending.pop(number, None)
        if done is not None:
            guarded(partial(done, answer))

    def _finish_elsewhere(self, number: int, answer: OpError) -> None:
        """End a call that `_lose` may have missed; the loop may not run any more."""
        if number in self._pending:
            _on_a_thread(partial(self._finish, number, answer))

    def _cancel(self, number: int, path: str) -> None:
        if number in self._pending:
            self._send_cancel(number)
            LOOP.soon(self._finish, number, CancelledError(f"the call of {path} was cancelled"))

    def _send_cancel(self, number: int) -> None:
        self._send_alone(Kind.CANCEL, number)

    def _send_alone(self, kind: Kind, number: int) -> None:
        try:
            self._shared.send(kind, number)
        except UnavailableError:
            pass  # then `_lose` ends the call

    def _lose(self, error: OpError) -> None:
        with self._lock:
            error = self._ending = self._ending or error
        self._watch.stop()
        self._shared.close()
        for number in [each for each in list(self._pending) if each not in self._leaving]:
            self._finish(number, copy.copy(error))
        self._tell_lost()

    def _tell_lost(self) -> None:
        while self._on_lost:
            guarded(self._on_lost.pop())


def _on_a_thread(tell: Callable[[], object]) -> None:
    threading.Thread(target=guarded, args=(tell,), name="tfdist-call", daemon=True).start()


def _message(frame: Frame) -> memoryview:
    """Return the message of an answer; raise the error that it is."""
    if frame.flags & frames.DROPPED:
        raise no_room(frames.dropped_length(frame.body))
    if frame.kind == Kind.ERROR:
        raise from_status(*frames.status_of(frame.body))
    return frame.body


def _drained(connection: Connection) -> bool:
    """Take in what has arrived at an idle connection; return whether it is still of use."""
    try:
        while not connection.receive():
            pass
    except BlockingIOError:
        return True
    except UnavailableError:
        pass
    return False
