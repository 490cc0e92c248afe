"""The ways in which calls travel: what `test_transports` holds to one contract."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache, partial
from typing import Any

from tfdist.errors import OpError
from tfdist.launch.authority import Authority
from tfdist.wire.common.calls import Call, Caller, Method, Methods
from tfdist.wire.common.identity import Identity
from tfdist.wire.common.tls import use_identity
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.server import FramesListener, Place
from tfdist.wire.frames.tcp import TcpAddress, TcpPlace
from tfdist.wire.frames.tls import TlsAddress, TlsPlace
from tfdist.wire.frames.unix_sockets import UnixPath, UnixPlace
from tfdist.wire.frames.way import Way
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.loop_client import LoopCaller
from tfdist.wire.grpc.server import GrpcListener

Transport = Callable[..., AbstractContextManager[Caller]]


def nothing() -> None:
    """Do nothing."""


@contextmanager
def grpc(
    methods: Methods,
    once_stopped: Callable[[], None] = nothing,
    kind: Callable[[str], GrpcCaller] = GrpcCaller,
) -> Iterator[Caller]:
    """Serve `methods` in this process, and give a caller.

    The server stops first; `once_stopped` is called before the caller is closed.
    """
    listener = GrpcListener("localhost:0")
    try:
        listener.start(methods)
        with closing(kind(f"localhost:{listener.port}")) as caller:
            try:
                yield caller
            finally:
                listener.stop()
            once_stopped()
    finally:
        listener.stop()


@contextmanager
def grpc_on_loop(methods: Methods, once_stopped: Callable[[], None] = nothing) -> Iterator[Caller]:
    """As `grpc`, with a connection that the loop serves."""
    with grpc(methods, once_stopped, LoopCaller) as caller:
        yield caller


@contextmanager
def framed(
    place: Callable[[], Place],
    way: Callable[[Any], Way],
    methods: Methods,
    once_stopped: Callable[[], None] = nothing,
) -> Iterator[Caller]:
    """As `grpc`, by frames.

    Args:
      place: makes where they are taken.
      way: returns the way to such a place.
      methods: see `grpc`.
      once_stopped: see `grpc`.
    """
    with frames_listener(place(), methods) as listener:
        with closing(FramesCaller(way(listener.place))) as caller:
            try:
                yield caller
            finally:
                listener.stop()
            once_stopped()


@contextmanager
def frames_listener(place: Place, methods: Methods | None = None) -> Iterator[FramesListener]:
    """Give a listener at `place`, which answers calls if there are `methods`."""
    listener = FramesListener(place)
    try:
        if methods is not None:
            listener.start(methods)
        yield listener
    finally:
        listener.stop()


def local_listener(methods: Methods | None = None) -> AbstractContextManager[FramesListener]:
    """Give a listener of the local path; see `frames_listener`."""
    return frames_listener(UnixPlace(), methods)


def tcp_place() -> TcpPlace:
    """Return a place on the loopback interface."""
    return TcpPlace("127.0.0.1")


def tcp_way(place: TcpPlace) -> TcpAddress:
    """Return the way to it."""
    return TcpAddress("127.0.0.1", place.port)


@contextmanager
def by_tls(methods: Methods, once_stopped: Callable[[], None] = nothing) -> Iterator[Caller]:
    """As `grpc`, by frames with certificates."""
    use_identity(identity())
    try:
        place = partial(TlsPlace, "127.0.0.1")
        with framed(place, tls_way, methods, once_stopped) as caller:
            yield caller
    finally:
        use_identity(None)


def tls_way(place: TlsPlace) -> TlsAddress:
    """Return the way to a place on the loopback interface."""
    return TlsAddress(f"127.0.0.1:{place.port}", "127.0.0.1", place.port)


@cache
def authority() -> Authority:
    """Return the authority of a cluster."""
    return Authority("mnist")


@cache
def identity(role: str = "run") -> Identity:
    """Return an identity for the loopback interface."""
    return authority().identity(["127.0.0.1"], role)


TRANSPORTS: dict[str, Transport] = {
    "grpc": grpc,
    "grpc on the loop": grpc_on_loop,
    "local path": partial(framed, UnixPlace, lambda place: UnixPath(place.path)),
    "frames by TCP": partial(framed, tcp_place, tcp_way),
    "frames by TLS": by_tls,
}


class Waiting:
    """A method whose calls wait, for the test to answer them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._cancelled = 0
        self.calls: list[Call] = []

    @property
    def method(self) -> Method:
        """Return the method."""
        return Method(self._handle)

    def _handle(self, request: memoryview, call: Call) -> None:
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
        call.on_cancel(self._cancel)

    def _cancel(self) -> None:
        with self._changed:
            self._cancelled += 1
            self._changed.notify_all()

    def have_come(self, count: int) -> bool:
        """Wait until so many calls have come; whether they did in time."""
        return self._until(lambda: len(self.calls) >= count)

    def are_cancelled(self, count: int) -> bool:
        """Wait until so many calls were cancelled; whether they were in time."""
        return self._until(lambda: self._cancelled >= count)

    def _until(self, holds: Callable[[], bool]) -> bool:
        with self._changed:
            return self._changed.wait_for(holds, PATIENCE)


class Outcomes:
    """What `done` of calls in the background was told, and on which threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.told: list[bytes | OpError] = []
        self.threads: list[int] = []

    def __call__(self, outcome: memoryview | OpError) -> None:
        with self._changed:
            self.told.append(outcome if isinstance(outcome, OpError) else bytes(outcome))
            self.threads.append(threading.get_ident())
            self._changed.notify_all()

    def wait(self, count: int = 1) -> list[bytes | OpError]:
        """Return what was told as soon as there are `count`."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.told) >= count, PATIENCE)
            return list(self.told)


PATIENCE = 60.0  # seconds in which what must happen has happened, on a busy machine
