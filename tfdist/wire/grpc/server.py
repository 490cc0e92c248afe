"""Calls that arrive by gRPC.

One `grpc.aio` server on the loop's thread. Messages are taken as bytes, whatever the method; a
handler runs on the loop and answers from any thread, so a call that waits holds no thread.

All methods are served as if the client sent a stream: that looks the same on the wire, but the
server sees who calls before it takes the message. A stranger's gigabytes stay outside.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from tfdist.errors import InvalidArgumentError, OpError, UnavailableError, UnimplementedError
from tfdist.wire.codec.codec import check_size
from tfdist.wire.common.calls import Client, Method, Methods, Pieces, as_op_error, dispatch, joined
from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.refusals import HandshakeWatch
from tfdist.wire.common.same_user import SameUser
from tfdist.wire.common.security import HostPort, bind_address, port_taken, warn_if_open
from tfdist.wire.common.status import DETAILS_KEY, Status, pack_payloads, to_status
from tfdist.wire.common.tls import own_identity
from tfdist.wire.grpc.credentials import server_credentials
from tfdist.wire.grpc.loop_client import HISTORY
from tfdist.wire.grpc.options import FROM_A_SERVER, grpc, server_options
from tfdist.wire.roles import refusal

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_Sent: TypeAlias = "asyncio.Queue[bytes]"  # messages on their way
_LEAVING = 0.5  # seconds that the last answers have when a server stops
_FORGOTTEN = 1.0  # seconds in which the port of a forgotten server is free


class GrpcListener:
    """A port of this machine that is bound, and answers calls once it is started.

    Args:
      address: "HOST:PORT"; port 0 takes a free one.

    Attributes:
      is_encrypted: whether callers have to show a certificate.

    Raises:
      OpError: see `bind_address`.
    """

    def __init__(self, address: str) -> None:
        bound = bind_address(address)
        watch = HandshakeWatch()
        credentials = None if bound.is_loopback else server_credentials(watch.begun)
        self._watch = None if credentials is None else watch
        self._loop = LOOP.hold()
        try:
            self._server, port = LOOP.run(_bound_server(bound, credentials))
        except BaseException:
            LOOP.release()
            raise
        self._bound = bound._replace(port=port)
        self._service: _Service | None = None
        self._is_stopped = False
        self._finalizer = weakref.finalize(self, _forget, self._server)
        self._finalizer.atexit = False

    @property
    def port(self) -> int:
        """Return the port that is really bound."""
        return self._bound.port

    @property
    def bound(self) -> HostPort:
        """Return where it is really bound."""
        return self._bound

    @property
    def is_encrypted(self) -> bool:
        """Return whether callers have to show a certificate."""
        return self._watch is not None

    def start(self, methods: Methods) -> None:
        """Answer calls with `methods`, by path."""
        self._service = _Service(methods, self._bound, self._watch)
        self._server.add_generic_rpc_handlers((self._service,))
        LOOP.run(self._server.start())
        if self._watch is None:
            warn_if_open(self._bound)
        else:
            self._watch.start(self._bound)

    def stop(self, grace: float = 0.0) -> None:
        """Take no more calls, and free the port; the second time, do nothing.

        Args:
          grace: seconds that calls under way may take; then they end with UnavailableError.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        self._finalizer.detach()
        stopping = asyncio.run_coroutine_threadsafe(self._stop(grace), self._loop)
        try:
            stopping.result()
        except BaseException:  # Ctrl-C: calls under way keep their grace
            stopping.add_done_callback(lambda _: LOOP.release())
            raise
        LOOP.release()

    async def _stop(self, grace: float) -> None:
        # gRPC's own thread ends when nothing holds the server any more
        server, self._server = self._server, None
        service, self._service = self._service, None
        await _shut_down(server, service, grace)


async def _bound_server(
    bound: HostPort, credentials: grpc.ServerCredentials | None
) -> tuple[grpc.aio.Server, int]:
    HISTORY.is_user = True
    server = grpc.aio.server(options=server_options())
    try:
        if credentials is not None:
            return server, server.add_secure_port(str(bound), credentials)
        return server, server.add_insecure_port(str(bound))
    except RuntimeError:  # somebody else was quicker
        raise port_taken(bound.port) from None


async def _shut_down(server: grpc.aio.Server, service: _Service | None, grace: float) -> None:
    if service is None:
        await server.start()  # one that never started would keep its port
        await server.stop(None)
        return
    closing = asyncio.ensure_future(server.stop(grace + _LEAVING))
    await asyncio.wait({closing}, timeout=grace)
    service.end_calls()
    await closing
    service.close()


def _forget(server: grpc.aio.Server) -> None:
    """Free the port of a server that never started and that nobody holds any more."""
    is_free = threading.Event()

    async def stop() -> None:
        await _shut_down(server, None, 0.0)
        is_free.set()
        LOOP.release()

    LOOP.soon(lambda: asyncio.ensure_future(stop()))
    if not LOOP.is_current:
        is_free.wait(_FORGOTTEN)


class _Service(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpcio ships no types
    """Answers all calls, also those of methods that do not exist."""

    def __init__(self, methods: Methods, bound: HostPort, watch: HandshakeWatch | None) -> None:
        self._methods, self._watch = methods, watch
        self._address = str(bound)
        self._same_user = SameUser(bound) if bound.is_loopback else None
        self._running: set[_GrpcCall] = set()
        self._stopped: Status | None = None

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        """Return what answers a call; gRPC asks for it."""
        path = handler_call_details.method
        if path in self._methods and self._methods[path].streams:
            return grpc.stream_stream_rpc_method_handler(partial(self._stream, path))
        return grpc.stream_unary_rpc_method_handler(partial(self._answer, path))

    def end_calls(self) -> None:
        """End what is under way, and what still comes; called on the loop."""
        error = UnavailableError(f"the server at {self._address} was stopped")
        self._stopped = to_status(error)
        for call in list(self._running):
            call.end(self._stopped)

    def close(self) -> None:
        """Let go of what checking callers needs; no more calls come."""
        if self._same_user is not None:
            self._same_user.close()
        if self._watch is not None:
            self._watch.close()

    async def _stream(self, path: str, requests: object, context: grpc.aio.ServicerContext) -> None:
        sent: _Sent = asyncio.Queue()

        async def write() -> None:
            while True:
                await context.write(await sent.get())

        writing = asyncio.ensure_future(write())
        try:
            answer = await self._answer(path, requests, context, sent)
            if answer:
                await context.write(answer)
        finally:
            writing.cancel()

    async def _answer(
        self,
        path: str,
        _requests: object,
        context: grpc.aio.ServicerContext,
        sent: _Sent | None = None,
    ) -> bytes:
        refused = self._refusal(path, context)
        if refused is None:
            outcome = await self._outcome(self._methods[path], context, sent)
        else:
            outcome = to_status(refused)
        if isinstance(outcome, bytes):
            return outcome
        _set_status(context, outcome)
        return b""  # does not leave

    def _refusal(self, path: str, context: grpc.aio.ServicerContext) -> OpError | None:
        refused = self._stranger(path, context)
        if refused is None and path not in self._methods:
            return UnimplementedError(f"the server at {self._address} has no method {path}")
        return refused

    def _stranger(self, path: str, context: grpc.aio.ServicerContext) -> OpError | None:
        """Return why the caller may not call a method, whether it is there or not."""
        if self._same_user is not None:
            return self._same_user.refusal(context.peer())
        if self._watch is None:
            return None
        self._watch.heard(context.peer())
        try:
            return refusal(context.auth_context(), path, own_identity())
        except OpError as error:  # the own certificate is of no use any more
            return error

    async def _outcome(
        self, method: Method, context: grpc.aio.ServicerContext, sent: _Sent | None
    ) -> bytes | Status:
        try:
            request = await context.read()
        except MemoryError as error:
            return to_status(as_op_error(error))
        if self._stopped is not None:
            return self._stopped
        if request is grpc.aio.EOF:
            return to_status(InvalidArgumentError("the call has no message"))
        call = _GrpcCall(context.peer(), sent)
        self._running.add(call)
        try:
            dispatch(method, memoryview(request), call)
            outcome: bytes | Status = await call.outcome
            return outcome
        finally:
            self._running.discard(call)
            call.end(None)  # if it has no answer, its caller is gone


def _set_status(context: grpc.aio.ServicerContext, status: Status) -> None:
    # `context.abort` would leave a cycle of frames behind, and they hold the request
    details = pack_payloads(status.payloads) if status.payloads else None
    context.set_code(_CODES[status.code])
    context.set_details(status.message)
    context.set_trailing_metadata((FROM_A_SERVER, *([(DETAILS_KEY, details)] if details else [])))


class _GrpcCall:
    """One call (a `Call`).

    Of an error only its status is kept: its traceback would hold the call, and that the error.

    Args:
      caller: who calls.
      sent: takes the messages before the answer; None if there may be none.
    """

    def __init__(self, caller: str, sent: _Sent | None = None) -> None:
        self.caller, self._sent = caller, sent
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._lock = threading.Lock()
        self._is_over = self._is_given_up = False
        self._told: list[Callable[[], object]] = []

    @property
    def client(self) -> Client:
        """Return who calls: a connection."""
        return Client(self.caller)

    def respond(self, reply: Pieces) -> None:
        """Answer with a message."""
        try:
            check_size(reply, "the answer")
        except OpError as error:
            self.fail(error)
        else:
            self._answer(bytes(joined(reply)))

    def send(self, message: Pieces) -> None:
        """Send a message before the answer; see `Call.send`: TensorFlow's methods answer once."""
        if self._sent is None:
            raise UnimplementedError("gRPC carries one answer a call")
        LOOP.soon(self._sent.put_nowait, bytes(joined(message)))

    def fail(self, error: OpError) -> None:
        """Answer with an error."""
        self._answer(to_status(error))

    def connection(self) -> None:
        """Return None: see `Call.connection`; gRPC watches its connections itself."""

    def on_cancel(self, told: Callable[[], object]) -> None:
        """Have `told` called on the loop if the caller gives up or is gone; see `Call`."""
        with self._lock:
            if not self._is_over:
                self._told.append(told)
            is_late = self._is_given_up
        if is_late:
            told()

    def end(self, outcome: Status | None) -> None:
        """Give up a call that has no answer, and tell whoever works on it; called on the loop."""
        with self._lock:
            if self._is_over:
                return
            self._is_over = self._is_given_up = True
            told, self._told = self._told, []
        self._deliver(outcome)
        for each in told:
            self._tell(each)

    def _answer(self, outcome: bytes | Status) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
            self._told = []  # they may hold this call
        if LOOP.is_current:
            self._deliver(outcome)
        else:
            LOOP.soon(self._deliver, outcome)

    def _deliver(self, outcome: bytes | Status | None) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def _tell(self, told: Callable[[], object]) -> None:
        try:
            told()
        except Exception as error:  # the others are told all the same
            about = {"message": "on_cancel of a call failed", "exception": error}
            self.outcome.get_loop().call_exception_handler(about)
