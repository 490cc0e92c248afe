"""MasterService: what clients ask of a task.

Source: docs/wire.md sections 1 and 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tfdist.base.settings import setting
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import InvalidArgumentError
from tfdist.graph.function_def import library_from_proto
from tfdist.graph.graph_def import Values, records_from_proto
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.requests import SessionOptions
from tfdist.runtime.task.task import Task
from tfdist.wire.codec import codec
from tfdist.wire.codec.graphs import split_graph
from tfdist.wire.common.calls import Call, Method, Methods, dispatch
from tfdist.wire.service_methods import MASTER, RecentRequests, device_protos, plain_method
from tfdist.wire.services.master_calls import PartialRunCall, RunStepCall, signature_of
from tfdist.wire.services.session_reaper import SessionReaper

# A graph of this producer or a later one comes from a TensorFlow that puts what has no device on
# the master's own task; earlier ones put it on the cluster's first.
LATER_PRODUCER = 1000


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
        signature = signature_of(request.feed, dict.fromkeys(request.fetch), request.target)
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
            PartialRunCall(self._master, self._runner, call, request).start(feeds)
            return
        signature = signature_of((name for name, _ in feeds), request.fetch, request.target)
        options = request.options
        asked = self._asked(call, request.session_handle, signature, options)
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
        signature = signature_of(options.feed, options.fetch, options.target)
        asked = self._asked(call, handle, signature, options.run_options)
        asked.feeds, asked.is_bare = feeds, True
        self._start(asked)

    def _asked(
        self, call: Call, handle: str, signature: Signature, options: pb.RunOptions
    ) -> RunStepCall:
        return RunStepCall(self._master, self._runner, call, handle, signature, options)

    def _start(self, asked: RunStepCall) -> None:
        """Start a step on this thread if that is quick, else on another one."""
        if self._master.is_prepared(asked.handle, asked.signature):
            asked.start()
        else:  # planned, and registered on other tasks
            method = Method(lambda _, __: asked.start(), may_block=True)
            dispatch(method, memoryview(b""), asked.call)


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
