"""Calls by gRPC that all wait on the loop's thread, however many processes are called.

`GrpcCaller` has a thread for each connection on which something is under way, which looks five
times a second whether it is to end. Here a hundred links, each with its `Attach`, need none.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from tfdist.base.inboxes import get_in_time
from tfdist.errors import OpError
from tfdist.runtime.step.interrupts import LOOK_UP
from tfdist.wire.codec.codec import check_size
from tfdist.wire.common.calls import Done, Pieces, as_op_error, joined
from tfdist.wire.common.loop import LOOP, guarded
from tfdist.wire.grpc.client import Attempt, GrpcCaller, elsewhere
from tfdist.wire.grpc.options import grpc

_CLOSING = 1.0  # seconds that whoever closes a connection waits for its end


class LoopCaller(GrpcCaller):
    """As `GrpcCaller`, on a connection that the loop serves.

    In a fork of a process that has used such connections, gRPC's own thread for them is missing:
    there, all is as with `GrpcCaller`.
    """

    def __init__(self, address: str, peer: str = "tfdist") -> None:
        super().__init__(address, peer)
        self._is_held = False  # the loop
        self._loop_channel: Any = None  # this, and what follows, is touched on the loop only
        self._running: dict[_LoopCall, asyncio.Task[None]] = {}

    def call(
        self,
        path: str,
        request: Pieces,
        timeout: float | None = None,
        wait_for_ready: bool = False,
    ) -> memoryview:
        """See `GrpcCaller.call`; this must not be called on the loop."""
        answers: SimpleQueue[memoryview | OpError] = SimpleQueue()
        cancel = self.begin(path, request, answers.put, timeout, wait_for_ready)
        try:
            answer = _awaited(answers)
        except BaseException:
            cancel()
            raise
        try:
            if isinstance(answer, OpError):
                raise answer
            return answer
        finally:
            del answer  # an error must not keep the frame that it is raised through

    def begin(
        self,
        path: str,
        request: Pieces,
        done: Done,
        timeout: float | None = None,
        wait_for_ready: bool = False,
    ) -> Callable[[], None]:
        """See `GrpcCaller.begin`; an answer is told on the loop, an error is not."""
        if HISTORY.is_fork_of_user:
            return super().begin(path, request, done, timeout, wait_for_ready)
        attempt = Attempt(path, timeout, wait_for_ready, time.monotonic())
        begun = _LoopCall(self, attempt, done)
        try:
            check_size(request, f"a message to {self.address}")
            self._start_soon(begun, bytes(joined(request)))
        except OpError as error:
            begun.fail(error)
        return partial(LOOP.soon, begun.cancel)

    def _start_soon(self, begun: _LoopCall, message: bytes) -> None:
        """Have a call start on the loop, which runs until this is closed.

        Raises:
          CancelledError: it is.
        """
        with self._lock:  # else the loop might end before it has started
            if self._is_closed:
                raise self.closed_error()
            if not self._is_held:
                LOOP.hold()
                self._is_held = True
            LOOP.soon(self._start, begun, message)

    def close(self) -> None:
        """End all calls with CancelledError, and the connection."""
        super().close()
        with self._lock:
            is_held, self._is_held = self._is_held, False
        if not is_held or HISTORY.is_fork_of_user:
            return
        is_closed = threading.Event()
        LOOP.soon(self._close, is_closed.set)
        if not LOOP.is_current:
            is_closed.wait(_CLOSING)

    # on the loop

    def _start(self, begun: _LoopCall, message: bytes) -> None:
        if self._is_closed:
            begun.fail(self.closed_error())
            return
        try:
            if self._loop_channel is None:
                HISTORY.is_user = True
                self._loop_channel = self.way.open(grpc.aio)
            task = asyncio.ensure_future(begun.run(self._loop_channel, message))
        except Exception as error:  # somebody waits for an outcome, whatever it is
            begun.fail(as_op_error(error))
            return
        self._running[begun] = task
        task.add_done_callback(lambda _: self._running.pop(begun))

    def _close(self, told: Callable[[], None]) -> None:
        closing = asyncio.ensure_future(self._end())
        closing.add_done_callback(lambda _: told())
        closing.add_done_callback(lambda _: LOOP.release())

    async def _end(self) -> None:
        for begun in self._running:
            begun.cancel()
        await asyncio.gather(*self._running.values())
        channel, self._loop_channel = self._loop_channel, None
        if channel is not None:
            await channel.close()


class _LoopCall:
    """A call on the loop; its outcome is told once."""

    def __init__(self, caller: LoopCaller, attempt: Attempt, done: Done) -> None:
        self._caller, self._attempt, self._done = caller, attempt, done
        self._rpc: Any = None
        self._is_cancelled = False

    async def run(self, channel: grpc.aio.Channel, message: bytes) -> None:
        """Make the call and tell its outcome."""
        attempt = self._attempt
        try:
            if self._is_cancelled:
                raise asyncio.CancelledError
            self._rpc = channel.unary_unary(attempt.path)(
                message, timeout=attempt.timeout, wait_for_ready=attempt.wait_for_ready
            )
            del message
            answer = await self._rpc
        except grpc.RpcError as failed:  # to find out about it may take a moment
            elsewhere(partial(self._tell_failure, failed))
        except asyncio.CancelledError:
            self.fail(self._caller.closed_error())
        else:
            guarded(partial(self._done, memoryview(answer)))
        finally:
            self._rpc = None  # whoever keeps `cancel` does not keep the answer

    def _tell_failure(self, failed: grpc.RpcError) -> None:
        self._done(self._caller.error_of(failed, self._attempt))

    def fail(self, error: OpError) -> None:
        """Tell an error."""
        elsewhere(partial(self._done, error))

    def cancel(self) -> None:
        """Cancel the call, if it has not ended."""
        self._is_cancelled = True
        if self._rpc is not None:
            self._rpc.cancel()


def _awaited(answers: SimpleQueue[memoryview | OpError]) -> memoryview | OpError:
    while True:  # gRPC's own deadline ends this; a signal may come just before a wait
        try:
            return get_in_time(answers, LOOK_UP)
        except Empty:
            continue


class _History:
    """Whether this process has used gRPC's loops, or one that it was forked from."""

    is_user = is_fork_of_user = False

    def fork(self) -> None:
        """Note that this is a new process, whose only thread is that which forked."""
        self.is_fork_of_user = self.is_user


HISTORY = _History()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=HISTORY.fork)
