"""MasterService: what clients ask of a task.

Source: docs/wire.md sections 1 and 2.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.base.aliases import Outcome, TensorValue
from tfdist.base.dtypes import DType
from tfdist.base.names import split_tensor_name
from tfdist.base.settings import setting
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OpError
from tfdist.graph.function_def import library_from_proto
from tfdist.graph.graph_def import Values, records_from_proto
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.resources.exhausted import check_fed
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.requests import PreparedStep, SessionOptions, StepResult
from tfdist.runtime.task.task import Task
from tfdist.wire.codec import codec
from tfdist.wire.codec.graphs import split_graph
from tfdist.wire.codec.metadata import run_metadata
from tfdist.wire.common import status
from tfdist.wire.common.calls import Call, Method, Methods, Pieces, as_op_error, dispatch
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.service_methods import MASTER, RecentRequests, device_protos, plain_method
from tfdist.wire.services.session_reaper import SessionReaper

# A graph of this producer or a later one comes from a TensorFlow that puts what has no device on
# the master's own task; earlier ones put it on the cluster's first.
LATER_PRODUCER = 1000
_EARLIER = 0.02  # seconds


def _nothing() -> None:
    """Call off what was never begun, or has ended."""


class MasterService:
    """Answers the calls of MasterService for one task.

    Args:
      task: the task.
      runner: resumes steps that wait.
      reaper: keeps the sessions.
    """

    def __init__(self, task: Task, runner: Runner, reaper: SessionReaper) -> None:
        self._task, self._reaper = task, reaper
        self._master = task.master
        self._runner = runner
        self._requests = RecentRequests()
        self._callables: dict[int, tuple[str, Any]] = {}
        self._numbers = itertools.count(1)

    def methods(self) -> Methods:
        """Return the methods by path."""
        plain: dict[str, tuple[type[pb.Message], Callable[..., pb.Message]]] = {
            "CloseSession": (pb.CloseSessionRequest, self.close_session),
            "ListDevices": (pb.ListDevicesRequest, self.list_devices),
            "MakeCallable": (pb.MakeCallableRequest, self.make_callable),
            "ReleaseCallable": (pb.ReleaseCallableRequest, self.release_callable),
            "PartialRunSetup": (pb.PartialRunSetupRequest, self.set_up_partial_run),
        }
        found = {
            MASTER + name: plain_method(*each, may_block=True, used=self._used)
            for name, each in plain.items()
        }
        reset = plain_method(pb.ResetRequest, self.reset, may_block=True)
        found[f"{MASTER}Reset"] = reset
        found[f"{MASTER}CreateSession"] = Method(self.create_session, may_block=True)
        found[f"{MASTER}ExtendSession"] = Method(self.extend_session, may_block=True)
        found[f"{MASTER}RunStep"] = Method(self.run_step)
        found[f"{MASTER}RunCallable"] = Method(self.run_callable)
        return found

    def create_session(self, data: memoryview, call: Call) -> None:
        """Open a session, with a graph if the request has one."""
        request, values = split_graph(pb.CreateSessionRequest, data, 1)
        handle = self._master.create_session(_options(request))
        self._used(handle, call)
        version = 0
        try:
            if request.graph_def.node:
                version = self._extended(handle, request.graph_def, values, version)
        except BaseException:
            self._close(handle)
            raise
        # who gave up while the cluster's tasks were waited for has no use for it any more
        call.on_cancel(lambda: self._close(handle))
        response = pb.CreateSessionResponse(session_handle=handle, graph_version=version)
        call.respond([response.SerializeToString()])

    def extend_session(self, data: memoryview, call: Call) -> None:
        """Add nodes to a session's graph."""
        request, values = split_graph(pb.ExtendSessionRequest, data, 2)
        self._used(request.session_handle, call)
        version = self._extended(
            request.session_handle, request.graph_def, values, request.current_graph_version
        )
        response = pb.ExtendSessionResponse(new_graph_version=version)
        call.respond([response.SerializeToString()])

    def _extended(self, handle: str, graph_def: pb.GraphDef, values: Values, version: int) -> int:
        """Add the nodes of a GraphDef to a session's graph; returns the new version."""
        nodes = records_from_proto(graph_def, whole=False, values=values)
        library = library_from_proto(graph_def.library)
        return self._master.extend_session(handle, nodes, version, is_foreign=True, library=library)

    def close_session(self, request: pb.CloseSessionRequest) -> pb.CloseSessionResponse:
        """Close a session."""
        self._master.check_session(request.session_handle)
        self._close(request.session_handle)
        return pb.CloseSessionResponse()

    def _close(self, handle: str) -> None:
        self._reaper.forget(self, handle)
        self._forget_callables(handle)
        self._master.close_session(handle)

    def _forget_callables(self, session: str) -> None:
        for number, (handle, _) in list(self._callables.items()):
            if handle == session:
                self._callables.pop(number, None)

    def _used(self, handle: str, call: Call) -> None:
        if self.has(handle):
            self._reaper.use(self, handle, call.client)

    def has(self, handle: str) -> bool:
        """See `SessionOwner`."""
        return self._master.has_session(handle)

    def is_used(self, handle: str) -> bool:
        """See `SessionOwner`."""
        return self._master.is_running(handle)

    def abandon(self, handle: str, why: str) -> None:
        """See `SessionOwner`."""
        self._forget_callables(handle)
        self._master.abandon_session(handle, why)

    def list_devices(self, request: pb.ListDevicesRequest) -> pb.ListDevicesResponse:
        """Return the devices that a session spans."""
        devices = self._master.devices(request.session_handle)
        local = [each for each in devices if each.name.startswith(f"{self._task.name}/")]
        remote = [each for each in devices if each not in local]
        return pb.ListDevicesResponse(
            local_device=device_protos(local), remote_device=device_protos(remote)
        )

    def reset(self, request: pb.ResetRequest) -> pb.ResetResponse:
        """Abort all sessions and clear containers."""
        self._master.reset(tuple(request.container))
        return pb.ResetResponse()

    def set_up_partial_run(self, request: pb.PartialRunSetupRequest) -> pb.PartialRunSetupResponse:
        """Prepare a step that is fed and fetched in several calls of RunStep."""
        signature = _signature(request.feed, dict.fromkeys(request.fetch), request.target)
        runs = self._master.partial_runs
        name = runs.set_up(request.session_handle, signature, self._runner)
        return pb.PartialRunSetupResponse(partial_run_handle=name)

    def make_callable(self, request: pb.MakeCallableRequest) -> pb.MakeCallableResponse:
        """Remember what a callable feeds and fetches."""
        self._master.check_session(request.session_handle)
        number = next(self._numbers)
        self._callables[number] = request.session_handle, request.options
        return pb.MakeCallableResponse(handle=number)

    def release_callable(self, request: pb.ReleaseCallableRequest) -> pb.ReleaseCallableResponse:
        """Forget a callable."""
        self._callables.pop(request.handle, None)
        return pb.ReleaseCallableResponse()

    def run_step(self, data: memoryview, call: Call) -> None:
        """Run a step; the answer comes when it has ended."""
        request, feeds = codec.split_message(pb.RunStepRequest, data, 2)
        self._requests.check(request.request_id, "RunStep (Master)")
        self._used(request.session_handle, call)
        if request.partial_run_handle:
            _PartialRunCall(self, call, request).start(feeds)
            return
        signature = _signature((name for name, _ in feeds), request.fetch, request.target)
        options = request.options
        asked = _RunStepCall(self, call, request.session_handle, signature, options)
        asked.feeds = [value for _, value in feeds]
        asked.in_body = request.store_errors_in_response_body
        self._start(asked)

    def run_callable(self, data: memoryview, call: Call) -> None:
        """Run a callable; the answer comes when it has ended."""
        request, feeds = codec.split_bare_message(pb.RunCallableRequest, data, 3)
        self._requests.check(request.request_id, "RunCallable")
        self._used(request.session_handle, call)
        handle, options = self._callables.get(request.handle, ("", None))
        if options is None or handle != request.session_handle:
            raise InvalidArgumentError(f"there is no callable {request.handle} in this session")
        if len(feeds) != len(options.feed):
            raise InvalidArgumentError(f"wanted {len(options.feed)} values to feed: {options.feed}")
        signature = _signature(options.feed, options.fetch, options.target)
        asked = _RunStepCall(self, call, handle, signature, options.run_options)
        asked.feeds, asked.is_bare = feeds, True
        self._start(asked)

    def _start(self, asked: _RunStepCall) -> None:
        """Start a step on this thread if that is quick, else on another one."""
        if self._master.is_prepared(asked.handle, asked.signature):
            asked.start()
        else:  # planned, and registered on other tasks
            method = Method(lambda _, __: asked.start(), may_block=True)
            dispatch(method, memoryview(b""), asked.call)


class _RunStepCall:
    """One step that a client asked for."""

    def __init__(
        self,
        service: MasterService,
        call: Call,
        handle: str,
        signature: Signature,
        options: pb.RunOptions,
    ) -> None:
        self.call, self.handle, self.signature, self.options = call, handle, signature, options
        self.feeds: list[Any] = []
        self.in_body = self.is_bare = False
        self._service = service
        self._prepared: PreparedStep | None = None
        self._answered = threading.Lock()  # taken, and kept, by whoever answers
        self._call_off: Callable[[], None] = _nothing

    def start(self) -> None:
        """Run the step; errors are answers too."""
        master = self._service._master
        try:
            self._prepared = prepared = master.prepare(self.handle, self.signature)
            _check_feeds(self.signature.feeds, prepared.feed_types, self.feeds)
            check_fed(self.signature.feed_names, self.feeds)
            timeout = self._timeout()
            step = master.run_step_async(
                prepared,
                self.feeds,
                timeout,
                self.options.trace_level == pb.RunOptions.FULL_TRACE,
                self._service._runner,
                self._end,
            )
        except Exception as error:
            self._fail(as_op_error(error))
            return
        if timeout is not None:
            later = self._service._runner.later
            self._call_off = later(timeout + timeouts().cancel, lambda: self._give_up(step.error))
            if self._answered.locked():  # meanwhile
                self._call_off()
                self._call_off = _nothing
        self.feeds = []  # the step has them; who feeds much waits for their memory
        self.call.on_cancel(lambda: step.abort(CancelledError("the client gave the step up")))

    def _timeout(self) -> float | None:
        """Return seconds that the step may take.

        A client of TensorFlow's gives up at that very moment itself; it is told a little before,
        so that it learns what the step waits for.
        """
        seconds = self.options.timeout_in_ms / 1000
        return max(seconds - _EARLIER * self.in_body, seconds / 2) if seconds > 0 else None

    def _give_up(self, error: BaseException | None) -> None:
        """Answer though a kernel still computes, which nobody can stop; what it gives is lost."""
        if self._answered.acquire(blocking=False):
            told = f"the step did not end within its timeout of {self.options.timeout_in_ms} ms"
            late = DeadlineExceededError(f"{told}; it still computes")
            self._fail(error if isinstance(error, OpError) else late)

    def _end(self, outcome: StepResult | BaseException) -> None:
        self._call_off()
        self._call_off = _nothing  # the timer has this call, and its step
        if not self._answered.acquire(blocking=False):
            return
        if isinstance(outcome, BaseException):
            self._fail(as_op_error(outcome))
            return
        try:
            self.call.respond(self._response(outcome))
        except Exception as error:  # what was fetched is no tensor, say
            self._fail(as_op_error(error))

    def _response(self, result: StepResult) -> Pieces:
        assert self._prepared is not None
        metadata = run_metadata(self._prepared, result, self.options)
        if self.is_bare:
            response = pb.RunCallableResponse(metadata=metadata)
            names = self.signature.fetch_names
            return codec.bare_message_pieces(response, 1, result.values, names)
        tensors = zip(self.signature.fetch_names, result.values, strict=True)
        return codec.message_pieces(pb.RunStepResponse(metadata=metadata), 1, tensors)

    def _fail(self, error: OpError) -> None:
        _fail(self.call, error, self.in_body)


class _PartialRunCall:
    """One call that goes on with a partial run."""

    def __init__(self, service: MasterService, call: Call, request: pb.Message) -> None:
        self._service, self._call, self._request = service, call, request
        self._call_off: Callable[[], None] = _nothing

    def start(self, feeds: Iterable[tuple[str, TensorValue]]) -> None:
        """Feed and fetch; errors are answers too."""
        request = self._request
        runs = self._service._master.partial_runs
        try:
            run = runs.find(request.session_handle, request.partial_run_handle)
            given = {_endpoint(name): value for name, value in feeds}
            types = dict(zip(run.signature.feeds, run.prepared.feed_types, strict=True))
            known = [each for each in given if each in types]
            _check_feeds(known, [types[e] for e in known], [given[e] for e in known])
            check_fed(map(str, known), [given[e] for e in known])
            fetches = [_endpoint(name) for name in dict.fromkeys(request.fetch)]
            if request.options.timeout_in_ms > 0:
                seconds = request.options.timeout_in_ms / 1000
                self._call_off = self._service._runner.later(seconds, lambda: run.time_out(seconds))
            run.go_on(given, fetches, self._end)
        except Exception as error:
            self._end(error)
            return
        gone = CancelledError("the client gave the step up")
        self._call.on_cancel(lambda: run.abort(gone))

    def _end(self, outcome: Outcome) -> None:
        self._call_off()
        if isinstance(outcome, BaseException):  # not raised: it would keep the call
            self._fail(outcome)
            return
        try:
            tensors = zip(dict.fromkeys(self._request.fetch), outcome, strict=True)
            response = pb.RunStepResponse(metadata=pb.RunMetadata())
            self._call.respond(codec.message_pieces(response, 1, tensors))
        except Exception as error:  # what was fetched is no tensor, say
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        _fail(self._call, as_op_error(error), self._request.store_errors_in_response_body)


def _fail(call: Call, error: OpError, in_body: bool) -> None:
    if not in_body:
        call.fail(error)
        return
    call.respond([status.in_body(pb.RunStepResponse, error).SerializeToString()])


def _check_feeds(
    endpoints: Iterable[Endpoint], wanted: Iterable[DType], feeds: Iterable[TensorValue]
) -> None:
    for (name, port), dtype, value in zip(endpoints, wanted, feeds, strict=True):
        got = dtypes.as_dtype(getattr(value, "dtype", object))
        if got != dtype:
            raise InvalidArgumentError(
                f"{name}:{port} is {dtype.name}, but is fed {got.name}"
            ).at_node(name, "")


def _signature(feeds: Iterable[str], fetches: Iterable[str], targets: Iterable[str]) -> Signature:
    return Signature(
        tuple(map(_endpoint, feeds)),
        tuple(map(_endpoint, fetches)),
        tuple(name.partition(":")[0] for name in targets),
    )


def _endpoint(name: str) -> Endpoint:
    try:
        return split_tensor_name(name)
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None


def _options(request: pb.Message) -> SessionOptions:
    config = request.config
    default = setting("TFDIST_DEFAULT_DEVICE")
    if request.graph_def.versions.producer >= LATER_PRODUCER:
        default = "master"
    timeout = config.operation_timeout_in_ms
    return SessionOptions(
        soft_placement=config.allow_soft_placement,
        default_device=default,
        device_filters=tuple(config.device_filters),
        isolated=config.isolate_session_state,
        timeout=timeout / 1000 if timeout > 0 else None,
        cluster=ClusterSpec(config.cluster_def) if config.HasField("cluster_def") else None,
        as_bfloat16=config.graph_options.enable_bfloat16_sendrecv,
    )
