"""WorkerService: what masters and other workers ask of a task.

Source: docs/wire.md sections 1 and 5.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.cluster.propagation import cluster_for_task
from tfdist.cluster.spec import ClusterSpec
from tfdist.errors import (
    AbortedError,
    CancelledError,
    InvalidArgumentError,
    OpError,
    UnimplementedError,
)
from tfdist.graph.function_def import library_from_proto
from tfdist.graph.graph_def import records_from_proto, records_to_proto
from tfdist.graph.op_def import PENDING
from tfdist.plan.check import check
from tfdist.plan.compiling.copies import device_graphs
from tfdist.plan.functions.inline import inline
from tfdist.plan.prune import prune
from tfdist.plan.step_plan import Partition
from tfdist.protos import pb
from tfdist.runtime.step.async_driver import Runner
from tfdist.runtime.step.counters import MOVES
from tfdist.runtime.step.followers import Follower
from tfdist.runtime.step.rendezvous import Sent
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.trace import trace
from tfdist.runtime.task.task import Task
from tfdist.runtime.task.worker import RunOptions
from tfdist.wire.codec import codec
from tfdist.wire.codec.graphs import split_graph
from tfdist.wire.codec.step_messages import end_of, run_of
from tfdist.wire.codec.step_stats import fill_step_stats
from tfdist.wire.codec.transfers import (
    following_messages,
    subscription_messages,
    tensor_response,
)
from tfdist.wire.common import status
from tfdist.wire.common.calls import Call, Method, Methods, as_op_error
from tfdist.wire.service_methods import (
    END,
    FOLLOW,
    FOLLOW_SESSION,
    RUN,
    WORKER,
    RecentRequests,
    device_protos,
    plain_method,
)
from tfdist.wire.services.session_reaper import SessionReaper

_HEXADECIMAL = re.compile("[0-9a-f]{16}")


class WorkerService:
    """Answers the calls of WorkerService for one task.

    Args:
      task: the task.
      runner: resumes partitions that wait.
      reaper: keeps the masters' sessions.
    """

    def __init__(self, task: Task, runner: Runner, reaper: SessionReaper) -> None:
        self._worker, self._reaper = task.worker, reaper
        self._runner = runner
        self._requests = RecentRequests()
        self._in_parts: dict[int, _Ending] = {}  # by step
        self._incarnations = {d.name: d.incarnation for d in task.worker.devices}

    def methods(self) -> Methods:
        """Return the methods by path; what is not there is UNIMPLEMENTED."""
        plain: dict[str, tuple[type[pb.Message], Callable[..., pb.Message]]] = {
            "GetStatus": (pb.GetStatusRequest, self.get_status),
            "DeleteWorkerSession": (pb.DeleteWorkerSessionRequest, self.delete_session),
            "DeregisterGraph": (pb.DeregisterGraphRequest, self.deregister),
            "CleanupGraph": (pb.CleanupGraphRequest, self.clean_up_step),
            "CleanupAll": (pb.CleanupAllRequest, self.clean_up_containers),
            "Logging": (pb.LoggingRequest, lambda _: pb.LoggingResponse()),
        }
        found = {WORKER + name: plain_method(*each) for name, each in plain.items()}
        found[f"{WORKER}CreateWorkerSession"] = Method(self.create_session)
        found[f"{WORKER}RegisterGraph"] = Method(self.register, may_block=True, asks=False)
        found[f"{WORKER}RunGraph"] = Method(self.run_graph)
        found[f"{WORKER}RecvTensor"] = Method(self.receive)
        found[RUN] = Method(self.run)
        found[END] = Method(self.end)
        found[FOLLOW] = Method(self.subscribe)
        found[FOLLOW_SESSION] = Method(self.follow)
        return found

    def get_status(self, request: pb.GetStatusRequest) -> pb.GetStatusResponse:
        """Return the task's devices."""
        return pb.GetStatusResponse(device_attributes=device_protos(self._worker.devices))

    def create_session(self, data: memoryview, call: Call) -> None:
        """Keep state for a session."""
        request = codec.parse_message(pb.CreateWorkerSessionRequest, data)
        given = request.server_def
        cluster = ClusterSpec(given.cluster)
        self._worker.open_session(
            request.session_handle,
            request.isolate_session_state,
            legacy_frames=not request.master_task,  # TensorFlow 1.15's masters name none
            cluster=cluster_for_task(cluster, given.job_name, given.task_index)
            if cluster
            else None,
        )
        self._reaper.use(self, request.session_handle, call.client)
        call.respond([pb.CreateWorkerSessionResponse().SerializeToString()])

    def _used(self, request: pb.Message, call: Call) -> None:
        if request.create_worker_session_called:  # else it is one for all such callers
            self._reaper.use(self, request.session_handle, call.client)

    def has(self, handle: str) -> bool:
        """See `SessionOwner`."""
        return self._worker.has_session(handle)

    def is_used(self, handle: str) -> bool:
        """See `SessionOwner`."""
        return self._worker.is_running(handle)

    def abandon(self, handle: str, why: str) -> None:
        """See `SessionOwner`; the master that would ask why is gone."""
        self._worker.close_session(handle)

    def delete_session(
        self, request: pb.DeleteWorkerSessionRequest
    ) -> pb.DeleteWorkerSessionResponse:
        """Forget a session."""
        self._reaper.forget(self, request.session_handle)
        self._worker.close_session(request.session_handle)
        return pb.DeleteWorkerSessionResponse()

    def register(self, data: memoryview, call: Call) -> None:
        """Keep a partition."""
        request, values = split_graph(pb.RegisterGraphRequest, data, 2)
        if not request.create_worker_session_called:  # a session for all such callers
            self._worker.open_session(request.session_handle)
        library = library_from_proto(request.graph_def.library)
        given = records_from_proto(request.graph_def, values=values)
        nodes = inline(given, library, is_placed=True)
        graph = {node.name: node for node in nodes}
        check(nodes, graph)
        nodes = tuple(prune(graph, graph))  # inputs first, whatever the master's order was
        partition = Partition(self._worker.name, nodes, library=library)
        handle = self._worker.register(request.session_handle, partition)
        self._used(request, call)
        call.respond([pb.RegisterGraphResponse(graph_handle=handle).SerializeToString()])

    def deregister(self, request: pb.DeregisterGraphRequest) -> pb.DeregisterGraphResponse:
        """Forget a partition."""
        self._worker.deregister(request.session_handle, request.graph_handle)
        return pb.DeregisterGraphResponse()

    def clean_up_step(self, request: pb.CleanupGraphRequest) -> pb.CleanupGraphResponse:
        """Forget a step."""
        self._worker.end_step(request.step_id)
        unfinished = self._in_parts.pop(request.step_id, None)
        if unfinished is not None:
            unfinished.abort()
        return pb.CleanupGraphResponse()

    def clean_up_containers(self, request: pb.CleanupAllRequest) -> pb.CleanupAllResponse:
        """Clear containers, all of them if none is named."""
        self._worker.clear(list(request.container))
        return pb.CleanupAllResponse()

    def run_graph(self, data: memoryview, call: Call) -> None:
        """Run a partition; the answer comes when it has ended."""
        request = codec.parse_message(pb.RunGraphRequest, data)
        self._requests.check(request.request_id, "RunGraph")
        if request.send or request.recv_key:
            raise UnimplementedError(
                "RunGraph with values of its own (send, recv_key): a master keeps its feeds and "
                "fetches on its own task"
            )
        if request.is_partial:
            self._run_part(request, call)
            return
        self._used(request, call)
        step = self._begin(request, lambda error, run: _answer(request, call, error, run))
        call.on_cancel(lambda: step.abort(_cancelled(step)))

    def run(self, data: memoryview, call: Call) -> None:
        """Run a partition for a master of ours; see `run_graph`."""
        step_id, session, graph = run_of(data)
        self._reaper.use(self, session, call.client)
        options = RunOptions(step_id, False, self._runner)
        step = self._worker.run_alone(
            session, graph, options, lambda error, _: _answer_briefly(call, error)
        )
        call.on_cancel(lambda: step.abort(_cancelled(step)))

    def end(self, data: memoryview, call: Call) -> None:
        """Forget a step, for a master of ours."""
        self._worker.end_step(end_of(data))

    def _begin(
        self, request: pb.RunGraphRequest, ended: Callable[[OpError | None, Run], None]
    ) -> Step:
        traced = request.exec_opts.record_timeline
        options = RunOptions(request.step_id, traced, self._runner)
        return self._worker.run_alone(request.session_handle, request.graph_handle, options, ended)

    def _run_part(self, request: pb.RunGraphRequest, call: Call) -> None:
        """Begin a partition with the first call for it; the last one is answered at its end."""
        ending = self._in_parts.get(request.step_id)
        if ending is None:
            ending = _Ending()
            ending.step = self._begin(request, ending.come)
            self._in_parts[request.step_id] = ending
        if not request.is_last_partial_run:
            call.respond([pb.RunGraphResponse().SerializeToString()])
            return
        self._in_parts.pop(request.step_id, None)
        ending.answer(request, call)
        call.on_cancel(ending.abort)

    def receive(self, data: memoryview, call: Call) -> None:
        """Send a value of a step as soon as it is there."""
        request = codec.parse_message(pb.RecvTensorRequest, data)
        key = request.rendezvous_key
        self._check_key(key, "DEVICE;INCARNATION;DEVICE;NAME;FRAME:ITERATION")
        wait = self._worker.rendezvous(request.step_id).receive(key)

        def respond(outcome: Outcome) -> int:
            began = time.perf_counter_ns()
            if isinstance(outcome, OpError):
                call.fail(outcome)
                return 0
            try:
                call.respond(tensor_response(outcome, key))
            except Exception as error:  # it must not be raised in whoever sent the value
                call.fail(as_op_error(error))
            return MOVES.add(began)

        def done(outcome: Outcome) -> None:
            spent = respond(outcome)
            self._worker.counters.computed -= spent  # by the unit that sent it, as it seemed

        outcome = wait.start(done)
        if outcome is PENDING:
            call.on_cancel(wait.cancel)
        else:
            respond(outcome)

    def subscribe(self, data: memoryview, call: Call) -> None:
        """Send all values of a step's loops from one device to another one, until the step ends."""
        request = codec.parse_message(pb.RecvTensorRequest, data)
        route = request.rendezvous_key
        self._check_key(route, "DEVICE;INCARNATION;DEVICE")
        rendezvous = self._worker.rendezvous(request.step_id)
        call.on_cancel(lambda: rendezvous.unsubscribe(route))
        rendezvous.subscribe(route, partial(_deliver, call))

    def follow(self, data: memoryview, call: Call) -> None:
        """Send all that steps of a session leave for a task, until the session or the task ends."""
        request = codec.parse_message(pb.RecvTensorRequest, data)
        handle, _, task = request.rendezvous_key.partition(";")
        follower = Follower(task, partial(_hand_on, call), call.fail)
        call.on_cancel(self._worker.follow(handle, follower))

    def _check_key(self, key: str, form: str) -> None:
        parts = key.split(";")
        if len(parts) != form.count(";") + 1:
            raise InvalidArgumentError(f"a rendezvous key is {form}, not {key!r}")
        device, asked = parts[0], parts[1]
        lives = self._incarnations.get(device) or self._worker.device_lives().get(device)
        if lives is None:
            raise InvalidArgumentError(
                f"{device} is not a device of {self._worker.name}, which has "
                f"{sorted(self._incarnations)}"
            )
        if not _HEXADECIMAL.fullmatch(asked):
            raise InvalidArgumentError(f"{asked!r} in rendezvous key {key!r} is no incarnation")
        own = f"{lives & (2**64 - 1):016x}"
        if asked != own:
            raise _other_life(device, asked, own)


def _other_life(device: str, asked: str, own: str) -> AbortedError:
    error = AbortedError(
        f"{device} is in another life than the session knows ({asked} -> {own}): its task was "
        "restarted; open a new session"
    )
    error.is_restart = True
    return error


def _deliver(call: Call, sent: Sent | OpError) -> None:
    """Send what was sent on a route, or why nothing more will be."""
    if isinstance(sent, OpError):
        call.fail(sent)
        return
    began = time.perf_counter_ns()
    try:
        for message in subscription_messages(sent):
            call.send(message)
    except Exception as error:  # it must not be raised in whoever sent the values
        call.fail(as_op_error(error))
    MOVES.add(began)


def _hand_on(call: Call, step_id: int, sent: Sent | OpError) -> None:
    """Send what a step has for a follower, or why it will not come."""
    began = time.perf_counter_ns()
    try:
        for message in following_messages(step_id, sent):
            call.send(message)
    except Exception as error:  # it must not be raised in whoever sent the values
        for message in following_messages(step_id, as_op_error(error)):
            call.send(message)
    MOVES.add(began)


class _Ending:
    """The end of a partition that runs in parts, and the call that asks for it: either is first."""

    def __init__(self) -> None:
        self.step: Step | None = None
        self._lock = threading.Lock()
        self._outcome: tuple[OpError | None, Run] | None = None
        self._asked: tuple[Any, Call] | None = None

    def come(self, error: OpError | None, run: Run) -> None:
        """Take what became of the partition."""
        with self._lock:
            self._outcome, asked = (error, run), self._asked
        if asked is not None:
            _answer(*asked, error, run)

    def answer(self, request: pb.Message, call: Call) -> None:
        """Answer the last call, as soon as the partition has ended."""
        with self._lock:
            self._asked, outcome = (request, call), self._outcome
        if outcome is not None:
            _answer(request, call, *outcome)

    def abort(self) -> None:
        """End the partition; its master will not ask for it any more."""
        if self.step is not None:
            self.step.abort(_cancelled(self.step))


def _answer(request: pb.Message, call: Call, error: OpError | None, run: Run) -> None:
    """Answer for a partition that has ended."""
    if error is None:
        _respond(call, run, request.exec_opts)
    elif request.store_errors_in_response_body:
        call.respond([status.in_body(pb.RunGraphResponse, error).SerializeToString()])
    else:
        call.fail(error)


def _answer_briefly(call: Call, error: OpError | None) -> None:
    """Answer a master of ours for a partition that has ended."""
    if error is None:
        call.respond(())
    else:
        call.fail(error)


def _respond(call: Call, run: Run, asked: pb.Message) -> None:
    try:
        response = pb.RunGraphResponse()
        if asked.record_timeline:
            fill_step_stats(response.step_stats, trace([run]))
        if asked.record_partition_graphs:
            partition = Partition(run.task.name, run.session.nodes_of(run.program))
            response.partition_graph.extend(map(records_to_proto, device_graphs(partition)))
        call.respond([response.SerializeToString()])
    except Exception as error:  # its master waits for an answer, whatever it is
        call.fail(as_op_error(error))


def _cancelled(step: Step) -> CancelledError:
    waits = "; ".join(wait.told for wait in step.waits())
    return CancelledError(f"the step was stopped, waiting for {waits}" if waits else "stopped")
