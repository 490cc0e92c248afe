"""Link: the transport to one other process, chosen at first use, and whether that is alive.

A tfdist server of this host is called by frames at the socket that its address names. Everybody
else is reached by gRPC, and a tfdist server by frames besides, which is much quicker: it says where
in its answer to `Hello`; where that does not lead to it (a firewall), gRPC it is. Real TensorFlow
does not know that call, and gets gRPC and nothing else.

To another host, an `Attach` call stays open as long as the other process lives: it ends when that
process does, and by gRPC's keepalive when it is frozen or out of reach (a half-open connection).
Then all calls under way fail, and the next one looks for the process anew. On a busy machine a sign
of life may be late: where frames still come, the process lives, and is attached to again. Frames
between processes of one host need no such call (`wire.frames.signs_of_life`).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
from collections.abc import Callable

from tfdist.base.aliases import Outcome
from tfdist.errors import CancelledError, OpError, UnavailableError, UnimplementedError
from tfdist.protos import pb
from tfdist.runtime.task.addresses import normal_address
from tfdist.tracing.clocks import SAME_CLOCK, ClockOffset, Exchange, estimate
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common.calls import Caller, Done, Pieces
from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.loop_client import LoopCaller
from tfdist.wire.peers.frames_choice import (
    frames_caller,
    frames_way,
    hello_request,
    is_of_this_host,
    lost_error,
    near_caller,
)
from tfdist.wire.peers.retrying_call import RetryingCall
from tfdist.wire.peers.transport import Transport
from tfdist.wire.service_methods import INSPECTION

_MOMENT = 0.05  # seconds that an attempt has at least
_EXCHANGES = 5  # to estimate another host's clock
_AGAIN = 1.0  # seconds until a process whose frames come is attached to again


class Link:
    """The way to the process at an address (a `Caller`).

    Links are shared: `open_link` gives one, `close` lets go of it.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.users = 0
        self._grpc: GrpcCaller = LoopCaller(address)
        self._transport: Transport | None = None
        self._connecting = threading.Lock()
        self._changing = threading.Lock()  # held for a moment, while these change
        self._detach: Callable[[], None] | None = None
        self._is_closed = False
        self._name = ""  # of this side, as the other one knows it since it was reached last
        self._is_stale = False  # whether the connection may refuse by itself for a while

    def connect(self, patience: float = 0.0) -> Transport:
        """Return how the process is reached.

        Args:
          patience: seconds to wait for a process that is not there yet.

        Raises:
          UnavailableError: nobody answers.
        """
        transport = self._transport
        if transport is not None and transport.is_complete:
            return transport
        until = time.monotonic() + (patience or timeouts().answer)
        # who comes second waits for what the first one finds, but not longer than for the process
        if not self._connecting.acquire(timeout=until - time.monotonic()):
            raise self._unreached()
        try:
            left = max(_MOMENT, until - time.monotonic())
            near = self._transport or self._near_transport()
            if near is None:
                return self._choose_transport(left if patience else 0.0)
            if near.wait_for_hello(left):
                return near
            raise self._unreached()
        finally:
            self._connecting.release()

    def _unreached(self) -> UnavailableError:
        error = UnavailableError(f"no server answers at {self.address} so far")
        error.reason = self._grpc.look()[1] or "no answer"
        return error

    @property
    def is_connected(self) -> bool:
        """Return whether the process was reached and is not known to be gone."""
        return self._transport is not None

    @property
    def frames_caller(self) -> FramesCaller | None:
        """Return the way by frames, if that is how the process is reached now."""
        transport = self._transport
        return (
            transport.caller
            if transport is not None and isinstance(transport.caller, FramesCaller)
            else None
        )

    @property
    def is_ours(self) -> bool:
        """Return whether a tfdist server was found there."""
        transport = self._transport  # read once: it may be lost at any moment
        return transport is not None and transport.is_ours

    @property
    def clock(self) -> ClockOffset:
        """Return how far the process's clock is ahead of ours, as far as is known."""
        transport = self._transport
        return transport.clock if transport is not None else SAME_CLOCK

    @property
    def incarnation(self) -> int:
        """Return the incarnation of the task that answers there; 0 if that is not known."""
        transport = self._transport
        return (
            transport.hello.incarnation
            if transport is not None and transport.hello is not None
            else 0
        )

    @property
    def task(self) -> str:
        """Return the name of the task that answers there; "" if that is not known."""
        transport = self._transport
        return transport.hello.task if transport is not None and transport.hello is not None else ""

    def call(self, path: str, request: Pieces, timeout: float | None = None) -> memoryview:
        """See `Caller.call`."""
        transport = self.connect()
        try:
            return transport.caller.call(path, request, timeout)
        except UnavailableError as error:
            if not error.never_left:
                raise
        self._lose(transport)  # that was noticed a moment ago, before the call could leave
        return self.connect().caller.call(path, request, timeout)

    def begin(self, path: str, request: Pieces, done: Done) -> Callable[[], None]:
        """See `Caller.begin`."""
        transport = self._transport or self._reach_near()
        if transport is not None:
            try:
                return transport.caller.begin(path, request, done)
            except UnavailableError:
                self._lose(transport)  # see `call`
        late = _DeferredCall(self, path, request, done)
        threading.Thread(target=late.begin, name="tfdist-connect", daemon=True).start()
        return late.cancel

    def notify(self, path: str, request: Pieces) -> None:
        """See `Caller.notify`; a process that was not reached so far has nothing to be told."""
        transport = self._transport
        if transport is not None:
            transport.caller.notify(path, request)

    def begin_unary(
        self, path: str, request: Pieces, done: Done, patience: float
    ) -> Callable[[], None]:
        """Begin a call as soon as the process is there; see `Caller.begin`.

        It may reach several processes, if one after the other is lost before its answer.
        """
        call = RetryingCall(self._fresh, self._near_caller, path, request, done, patience)
        call.begin()
        return call.cancel

    def _near_caller(self) -> FramesCaller | None:
        """Return what calls the process, if it is one of this host that is there."""
        transport = self._transport or self._reach_near()
        return None if transport is None else transport.near

    def probe(self, done: Done) -> Callable[[], None]:
        """Ask whether the process can be reached now; see `GrpcCaller.probe`."""
        return self._grpc.probe(done)

    def close(self) -> None:
        """Let go of the link; the last one to do so ends its calls."""
        with _lock:
            self.users -= 1
            if self.users:
                return
            _links.pop(self.address, None)
        why = f"the call to {self.address} was cancelled, or its session closed"
        with self._changing:
            self._is_closed = True
            detach, self._detach = self._detach, None
        _drop(detach, self._transport, CancelledError(why))
        self._grpc.close()

    def _reach_near(self) -> Transport | None:
        """Return how the process is reached if it is one of this host and nobody has to wait."""
        if not self._connecting.acquire(blocking=False):
            return None
        try:
            return self._transport or self._near_transport()
        finally:
            self._connecting.release()

    def _near_transport(self) -> Transport | None:
        """Return how a process of this host is reached, or None; the caller holds `_connecting`."""
        if self._is_closed or self._grpc.way.identity is not None:
            return None
        caller = near_caller(self.address)
        if caller is None:
            return None
        self._transport = transport = Transport(caller, None, SAME_CLOCK)
        self._attach(transport)
        try:
            transport.ask_hello()
        except UnavailableError:
            self._lose(transport)
        if self._is_closed:  # meanwhile: nobody else would end what is open
            self._lose(transport)
        return self._transport

    def _choose_transport(self, patience: float) -> Transport:
        connection = self._fresh()
        try:
            exchange, hello = self._greet(patience)
        except UnavailableError:
            self._renew(connection, LoopCaller(self.address))
            raise
        except UnimplementedError:
            by_grpc = self._renew(connection, GrpcCaller(self.address, "tensorflow"))
            self._transport = transport = Transport(by_grpc, None, SAME_CLOCK)
            return transport
        is_here = is_of_this_host(hello)
        self._name = f"process {os.getpid()} {secrets.token_hex(8)}"
        # what is called by gRPC is called on the threads that wait, which is quicker, and attached
        # by the same connection: who calls is known by that
        is_encrypted = self._grpc.way.identity is not None
        way = frames_way(self.address, hello, is_here, is_encrypted)
        by_frames = None if way is None else frames_caller(self.address, way, hello, self._name)
        caller: Caller = by_frames or self._renew(connection, GrpcCaller(self.address))
        if by_frames is not None and by_frames.is_local:
            self._renew(connection, LoopCaller(self.address))  # nothing goes by it any more
        transport = Transport(caller, hello, self._clock(exchange, is_here))
        self._transport = transport  # before it can be lost
        self._attach(transport)
        if self._is_closed:  # meanwhile: nobody else would end what is open
            self._lose(transport)
        return transport

    def _fresh(self) -> GrpcCaller:
        """Return the connection; a new one if the process was lost since it was made.

        Also if it is not there now, and would come again with a certificate from before.
        """
        with self._changing:
            connection, is_stale = self._grpc, self._is_stale
            if self._transport is None and connection.is_outdated:
                is_stale = True
        return self._renew(connection, LoopCaller(self.address)) if is_stale else connection

    def _renew(self, old: GrpcCaller, new: GrpcCaller) -> GrpcCaller:
        """Return the connection: `new` in the place of `old`, unless somebody made one already.

        After a refusal the old one would refuse by itself for a while; and a real TensorFlow server
        must not be asked for signs of life as one of ours is. Who waits on the old one
        (`begin_unary`) goes on with the new one.
        """
        with self._changing:
            if self._is_closed or self._grpc is not old:
                return self._grpc
            self._grpc = new
            self._is_stale = False
        old.close()
        return new

    def _greet(self, patience: float) -> tuple[Exchange, pb.HelloResponse]:
        request = hello_request()
        sent = time.time_ns()
        answer = self._grpc.call(
            f"{INSPECTION}Hello",
            [request],
            patience or timeouts().answer,  # it answers when it is reached, or is only busy
            wait_for_ready=patience > 0,
        )
        hello = parse_message(pb.HelloResponse, answer)
        return Exchange(sent, hello.time_nanos, time.time_ns()), hello

    def _clock(self, exchange: Exchange, is_here: bool) -> ClockOffset:
        if is_here:
            return SAME_CLOCK
        return estimate([exchange, *(self._greet(0.0)[0] for _ in range(_EXCHANGES - 1))])

    def _attach(self, transport: Transport) -> None:
        """Learn when the process is gone."""
        if isinstance(transport.caller, FramesCaller):
            transport.caller.on_lost(lambda: self._lose(transport))
        if transport.near is None:
            self._begin_attach(transport)

    def _begin_attach(self, transport: Transport) -> None:
        def ended(outcome: Outcome) -> None:
            if isinstance(outcome, OpError):
                self._detached(transport)
            elif self._transport is transport and not isinstance(transport.caller, FramesCaller):
                self._transport = None  # it stops, and ends what is under way itself

        request = pb.AttachRequest(client=self._name).SerializeToString()
        self._detach = self._grpc.begin(f"{INSPECTION}Attach", [request], ended)

    def _detached(self, transport: Transport) -> None:
        """Attach again if the process is known to live, else it is lost."""
        caller = transport.caller
        if (
            self._transport is not transport
            or not isinstance(caller, FramesCaller)
            or time.monotonic() - caller.heard > timeouts().silence
        ):
            self._lose(transport)
        else:
            LOOP.soon(lambda: asyncio.get_running_loop().call_later(_AGAIN, self._again, transport))

    def _again(self, transport: Transport) -> None:
        if self._transport is transport and not self._is_closed:
            self._renew(self._grpc, LoopCaller(self.address))
            self._begin_attach(transport)

    def _lose(self, transport: Transport) -> None:
        with self._changing:
            if self._transport is not transport:
                return  # it was lost before, and what is attached is another one
            detach, self._detach = self._detach, None
            self._is_stale = True  # before anybody finds that there is none
            self._transport = None
        _drop(detach, transport, lost_error(self.address))


def _drop(detach: Callable[[], None] | None, transport: Transport | None, why: OpError) -> None:
    """End what is open to a process: the call that tells of its end, and calls by frames."""
    if detach is not None:
        detach()
    if transport is not None and isinstance(transport.caller, FramesCaller):
        transport.caller.close(why)


class _DeferredCall:
    """A call that begins when its link is connected."""

    def __init__(self, link: Link, path: str, request: Pieces, done: Done) -> None:
        self._link, self._path, self._request, self._done = link, path, request, done
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._cancel: Callable[[], None] | None = None

    def begin(self) -> None:
        """Connect, and begin the call; runs on a thread of its own."""
        try:
            caller = self._link.connect().caller
            with self._lock:
                if not self._is_cancelled:
                    self._cancel = caller.begin(self._path, self._request, self._done)
                    return
        except OpError as error:
            self._done(error)
            return
        self._done(CancelledError(f"the call to {self._link.address} was cancelled"))

    def cancel(self) -> None:
        """Cancel the call, now or when it begins."""
        with self._lock:
            self._is_cancelled = True
            if self._cancel is not None:
                self._cancel()


_links: dict[str, Link] = {}
_lock = threading.Lock()


def open_link(address: str) -> Link:
    """Return the link to the process at "HOST:PORT"; `close` it once."""
    address = normal_address(address)
    with _lock:
        found = _links.get(address)
        if found is None:
            found = _links[address] = Link(address)
        found.users += 1
        return found
