"""What a server tells of itself: who it is, where nodes are, what is waited for, its health."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import grpc
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, blocked, until, waiters
from tests.wire.calls_at import calls_at, node, step_request
from tests.wire.worker_cases import Task, new_step
from tfdist.base.dtypes import float32
from tfdist.errors import FailedPreconditionError, InvalidArgumentError
from tfdist.launch.why import report
from tfdist.plan.place import Placement
from tfdist.protos import pb
from tfdist.tracing.waits import (
    PendingOp,
    Report,
    ResourceStatus,
    StepStatus,
    Unreachable,
    Wait,
    foremost,
)
from tfdist.tracing.why import explain
from tfdist.wire.common.host import this_host
from tfdist.wire.frames.unix_sockets import name_at
from tfdist.wire.peers.link import open_link
from tfdist.wire.peers.why import ask_why_at
from tfdist.wire.services.inspection import (
    placement_from,
    placement_protos,
    report_from,
    report_proto,
)

SERVING, NOT_SERVING = pb.HealthCheckResponse.SERVING, pb.HealthCheckResponse.NOT_SERVING
EMPTY = "dequeue on queue 'q' waits for 1 more element (it holds 0 of 1)"
PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"


@pytest.fixture
def ps(two, way):
    with calls_at(two[0].address, way) as asker:
        yield asker


@pytest.fixture
def worker(two, way):
    with calls_at(two[1].address, way) as asker:
        yield asker


def session_of(asker):
    """Return a session with the default graph."""
    graph_def = tf.get_default_graph().as_graph_def()
    return asker.ask(pb.CreateSessionRequest(graph_def=graph_def)).session_handle


# hello


def test_who_a_server_is(two, ps):
    before = time.time_ns()
    said = ps.ask(pb.HelloRequest(client="a test"))
    assert before <= said.time_nanos <= time.time_ns()
    assert (said.task, said.host, said.process) == (PS, this_host(), os.getpid())
    assert said.version == version("tfdist")
    assert said.side_path == name_at(two[0].address, this_host())
    [device] = ps.ask(pb.GetStatusRequest()).device_attributes
    assert said.incarnation == device.incarnation


def test_a_server_is_somebody_else_after_a_restart(two):
    lives = []
    for server in two:
        with calls_at(server.address) as asker:
            lives.append(asker.ask(pb.HelloRequest()).incarnation)
    assert len({*lives, 0}) == 3


def test_who_attached_is_told_that_the_server_stops(two, ps):
    begun = [ps.begin(pb.AttachRequest(client=str(i))) for i in range(3)]
    ps.ask(pb.GetStatusRequest())
    assert not any(each.is_over for each in begun)
    begun[2].cancel()
    stopping = Call(two[0].stop, 0.0)
    outcomes = [each.outcome() for each in begun]
    stopping.result()
    for outcome in outcomes[:2]:
        assert isinstance(outcome, tf.errors.UnavailableError) or "stops" in outcome.reason
    assert isinstance(outcomes[2], tf.errors.CancelledError | tf.errors.UnavailableError)


# placement


def test_where_the_nodes_of_a_session_are_and_why(worker):
    with tf.device("/job:ps"):
        tf.constant(1.0, name="there")
    with tf.device("/job:worker"):
        tf.constant(1.0, name="here")
    tf.constant(1.0, name="anywhere")
    with tf.device("/job:nobody"):
        tf.constant(1.0, name="nowhere")
    handle = session_of(worker)
    placed = placement_from(worker.ask(pb.PlacementRequest(session_handle=handle)).node)
    devices = {name: each.device for name, each in placed.items()}
    assert devices == {
        "there": f"{PS}/device:CPU:0",
        "here": f"{WORKER}/device:CPU:0",
        "anywhere": f"{PS}/device:CPU:0",
        "nowhere": "",
    }
    assert all(each.reason or each.error for each in placed.values())
    assert isinstance(placed["nowhere"].error, InvalidArgumentError)


def test_the_placement_of_an_unknown_session(worker):
    with pytest.raises(tf.errors.AbortedError, match="nobody's is not found"):
        worker.ask(pb.PlacementRequest(session_handle="nobody's"))


def test_a_placement_crosses_whole():
    placed = {
        "a": Placement("/job:ps/replica:0/task:0/device:CPU:0", "the only one that fits"),
        "b": Placement("", "", FailedPreconditionError("no device fits\n'b'")),
    }
    back = placement_from(placement_protos(placed))
    assert back["a"] == placed["a"]
    assert back["b"][:2] == placed["b"][:2]
    assert type(back["b"].error) is FailedPreconditionError
    assert back["b"].error.message == "no device fits\n'b'"


# waits


def waits_told_by(asker, **what):
    """Return the waits that a server tells when it is asked why."""
    return report_from(asker.ask(pb.WhyRequest(**what))).waits


def test_what_a_task_waits_for_in_steps_of_other_masters(two, ps, worker):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take = queue.dequeue(name="take")
    with tf.device("/job:worker"):
        doubled = take * 2.0
    with tf.Session(two[1].target) as session:
        with blocked(two[0], session.run, doubled) as call:
            [wait] = waits_told_by(ps)
            assert (wait.node, wait.op) == ("take", "QueueDequeueV2")
            assert wait.device == f"{PS}/device:CPU:0"
            assert wait.text == EMPTY
            assert not waits_told_by(worker, step_id=wait.step)  # its own master drives that step
            session.run(queue.enqueue(1.0))
            assert call.result() == 2.0
    assert not waits_told_by(ps)


def test_what_the_whole_cluster_waits_for(two, worker):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take = queue.dequeue(name="take")
    with tf.device("/job:worker"):
        doubled = take * 2.0
    with tf.Session(two[1].target) as session:
        assert not waits_told_by(worker, whole_cluster=True)
        with blocked(two[0], session.run, doubled):
            # the receiving node waits too, but for the same
            waits = waits_told_by(worker, whole_cluster=True)
            assert [each.node for each in foremost(waits)] == ["take"]
            session.run(queue.enqueue(1.0))


def test_what_one_step_waits_for(two, ps):
    task = Task(ps)
    steps = [new_step() for _ in range(2)]
    handle = task.register(
        node("q", "FIFOQueueV2", component_types=[float32], shapes=[()], capacity=1),
        node("take", "QueueDequeueV2", "q", component_types=[float32]),
    )
    begun = [ps.begin(task.running(handle, step)) for step in steps]
    until(lambda: waiters(two[0]) == 2)
    assert len(waits_told_by(ps)) == 2
    assert [each.node for each in waits_told_by(ps, step_id=steps[1])] == ["take"]
    assert not waits_told_by(ps, step_id=new_step())
    for each in begun:
        each.cancel()
        each.outcome()


def test_a_session_can_ask_what_a_server_elsewhere_waits_for(two):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take = queue.dequeue(name="take")
    with tf.Session(two[1].target) as session:
        with blocked(two[0], session.run, take):
            told = {(wait.node, wait.text) for wait in foremost(report().waits)}
            assert told == {("take", EMPTY)}
            session.run(queue.enqueue(1.0))


# health


def test_a_server_that_runs_is_healthy(ps):
    for service in ("", "tensorflow.MasterService", "anything"):
        assert ps.ask(pb.HealthCheckRequest(service=service)).status == SERVING


def test_a_server_that_stops_says_so_and_takes_nothing_new(two, ps):
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
    queue.dequeue(name="take")
    tf.constant(1.0, name="y")
    handle, task = session_of(ps), Task(ps)
    begun = ps.begin(step_request(handle, fetch=["take:0"]))
    until(lambda: waiters(two[0]) == 1)
    attached = ps.begin(pb.AttachRequest())
    stopping = Call(two[0].stop, 20.0)
    until(lambda: ps.ask(pb.HealthCheckRequest()).status == NOT_SERVING)
    # it answers still: nobody needs to kill it
    assert ps.ask(pb.HealthCheckRequest(service="liveness")).status == SERVING
    assert "stops" in attached.outcome().reason
    assert "stops" in ps.ask(pb.AttachRequest()).reason
    for request in (
        pb.CreateSessionRequest(),
        step_request(handle, fetch=["y:0"]),
        pb.RunCallableRequest(session_handle=handle, handle=1),
        pb.CreateWorkerSessionRequest(session_handle="new"),
        task.running("0"),
    ):
        with pytest.raises(tf.errors.UnavailableError, match="stops"):
            ps.ask(request)
    assert not begun.is_over
    ps.ask(pb.CloseSessionRequest(session_handle=handle))  # what ends something goes on
    assert isinstance(begun.outcome(), tf.errors.CancelledError)
    stopping.result()


# why


def test_a_report_crosses_whole():
    told = Report(
        (StepStatus(2**60, "handle", PS, ("a:0", "b"), 1.5, 2.5, ("c on d",)), StepStatus(2, "")),
        (Wait(2**60, PS, "a", "Op", "cpu", "queue", "text", 0.5, "n", 3, "s", "t", "u", "line"),),
        (ResourceStatus("s", "FIFOQueue", "q", PS, 1, -1, "box", 2, True, 4, 5),),
        (PendingOp("n", "put", "Enqueue", PS, 7, "handle", ("a", "b")),),
        (Unreachable(WORKER, "no answer"),),
    )
    assert report_from(pb.WhyResponse.FromString(report_proto(told).SerializeToString())) == told


def test_why_the_whole_cluster_waits(two, way, ps, worker):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take = queue.dequeue(name="take")
    with tf.device("/job:worker"):
        doubled = tf.multiply(take, 2.0, name="doubled")
    with tf.Session(two[1].target) as session:
        with blocked(two[0], session.run, doubled) as call:
            until(lambda: two[1].task.report().waits)
            alone = report_from(ps.ask(pb.WhyRequest()))
            whole = report_from(ps.ask(pb.WhyRequest(whole_cluster=True)))
            session.run(queue.enqueue(1.0))
            call.result()
    assert [wait.node for wait in alone.waits] == ["take"]
    [step] = whole.steps
    assert (step.master, step.fetches) == (WORKER, ("doubled:0",))
    assert [wait.tensor.partition("_take")[1] for wait in whole.waits if wait.tensor] == ["_take"]
    assert whole.silent == ()


@pytest.fixture
def foreign():
    """Give the address of a server that answers all calls as one does that does not know them."""
    server = grpc.server(ThreadPoolExecutor(2))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()


def test_a_real_tensorflow_server_does_not_tell(foreign):
    link = open_link(foreign)
    try:
        found = ask_why_at(f"grpc://{foreign}", link)
    finally:
        link.close()
    why = f"grpc://{foreign} is not a tfdist server, which alone tell what they wait for"
    assert explain(found).lines()[1:] == [f"not available: {why}"]
