"""WorkerService by its messages, as masters and other workers send them."""

import threading

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import until, waiters
from tests.wire.calls_at import calls_at, node, tensor
from tests.wire.graph_cases import constant
from tests.wire.worker_cases import MASTER, Task, new_step, receiving
from tfdist.base.dtypes import float32, int32, resource, string
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.service_methods import WORKER

ABORTED, CANCELLED = tf.errors.AbortedError, tf.errors.CancelledError


@pytest.fixture
def task(asker):
    return Task(asker)


def queue_nodes():
    return [
        node("q", "FIFOQueueV2", component_types=[float32], shapes=[()], capacity=10),
        node("take", "QueueDequeueV2", "q", component_types=[float32]),
    ]


def put_nodes():
    return [
        constant("c", 3.0),
        node("put", "QueueEnqueueV2", "q", "c", Tcomponents=[float32]),
    ]


def failing_nodes():
    return [
        node("bad", "CheckNumerics", "inf", T=float32, message=b"it is bad"),
        constant("inf", np.inf),
    ]


def value(response):
    return make_ndarray(response.tensor).tolist()


def test_what_a_worker_says_of_its_devices():
    with tf.train.Server(
        {"a": ["localhost:0"]}, config=tf.ConfigProto(device_count={"CPU": 2}), inproc=False
    ) as server:
        with calls_at(server.address) as asker:
            devices = asker.ask(pb.GetStatusRequest()).device_attributes
    assert [each.name for each in devices] == [
        f"/job:a/replica:0/task:0/device:CPU:{i}" for i in range(2)
    ]
    for each in devices:
        assert (each.device_type, each.xla_global_id) == ("CPU", -1)
        assert each.memory_limit > 0
        assert each.incarnation > 0
        assert each.HasField("locality")


def test_a_step_as_a_master_asks_for_it(asker, task):
    step = new_step()
    handle = task.register(constant("c", [1.0, 2.0]), task.sent("c", "edge_1_c"))
    response = task.run(handle, step)
    assert not response.HasField("step_stats")
    received = asker.ask(task.receiving("edge_1_c", step))
    assert value(received) == [1.0, 2.0]
    assert not received.is_dead
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    asker.ask(pb.DeleteWorkerSessionRequest(session_handle=task.handle))


def test_one_graph_is_run_by_many_steps(asker, task):
    handle = task.register(constant("c", 1.0), task.sent("c", "s"))
    steps = [new_step() for _ in range(4)]
    for step in steps:
        task.run(handle, step)
    assert [value(asker.ask(task.receiving("s", step))) for step in reversed(steps)] == [1.0] * 4


def test_attributes_of_a_real_master_do_no_harm(asker, task):
    c, send = constant("c", 1.0), task.sent("c", "s")
    for each in (c, send):
        for name in ("_XlaHasReferenceVars", "_grappler_relax_allocator_constraints"):
            each.attr[name].b = True
        each.attr["_src"].s = b"c"
        each.attr["_input_shapes"].list.shape.add()
    step = new_step()
    task.run(task.register(c, send), step)
    assert value(asker.ask(task.receiving("s", step))) == 1.0


@pytest.mark.parametrize(("send", "receive"), [("_Send", "_Recv"), ("_HostSend", "_HostRecv")])
def test_values_in_the_hosts_memory_cross_in_the_same_way(asker, task, send, receive):
    """A real master says so of strings, for example."""
    sender, receiver = task.sent("c", "s", string), task.received("s", string)
    sender.op, receiver.op = send, receive
    for each in (sender, receiver):
        each.attr["recv_device"].s = task.device.encode()
    receiver.name = "r"
    again = task.sent("r", "t", string)
    step = new_step()
    task.run(task.register(constant("c", b"x", string), sender, receiver, again), step)
    assert value(asker.ask(task.receiving("t", step))) == b"x"


# receiving


def test_a_receiver_may_come_before_the_step(asker, task):
    step = new_step()
    begun = asker.begin(task.receiving("s", step))
    handle = task.register(constant("c", 3.0), task.sent("c", "s"))
    assert not begun.is_over
    task.run(handle, step)
    assert value(begun.outcome()) == 3.0


def test_a_value_is_received_once(asker, task):
    step = new_step()
    task.run(task.register(constant("c", 3.0), task.sent("c", "s")), step)
    asker.ask(task.receiving("s", step))
    again = asker.begin(task.receiving("s", step))
    asker.ask(pb.GetStatusRequest())
    assert not again.is_over
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    assert type(again.outcome()) is CANCELLED


def test_steps_do_not_receive_each_others_values(asker, task):
    one, other = new_step(), new_step()
    begun = asker.begin(task.receiving("s", other))
    handle = task.register(constant("c", 3.0), task.sent("c", "s"))
    task.run(handle, one)
    asker.ask(pb.GetStatusRequest())
    assert not begun.is_over
    task.run(handle, other)
    assert value(begun.outcome()) == 3.0


def test_who_gives_up_receiving_leaves_the_value_to_others(server, asker, task):
    step = new_step()
    begun = asker.begin(task.receiving("s", step))
    rendezvous = server.task.worker.rendezvous(step)
    until(lambda: rendezvous._waiting)
    begun.cancel()
    assert type(begun.outcome()) is CANCELLED
    until(lambda: not rendezvous._waiting)
    task.run(task.register(constant("c", 3.0), task.sent("c", "s")), step)
    assert value(asker.ask(task.receiving("s", step))) == 3.0


def test_who_goes_away_leaves_no_receiver_behind(server, way):
    step = new_step()
    rendezvous = server.task.worker.rendezvous(step)
    with calls_at(server.address, way) as asker:
        asker.begin(Task(asker).receiving("s", step))
        until(lambda: rendezvous._waiting)
    until(lambda: not rendezvous._waiting)


def test_a_thousand_receivers_hold_no_thread(asker, task):
    step, before = new_step(), threading.active_count()
    begun = [asker.begin(task.receiving(f"s{i}", step)) for i in range(1000)]
    asker.ask(pb.GetStatusRequest())
    assert threading.active_count() - before < 5
    handle = task.register(
        constant("c", 3.0), *(task.sent("c", f"s{i}") for i in range(0, 1000, 100))
    )
    task.run(handle, step)
    assert {value(begun[i].outcome()) for i in range(0, 1000, 100)} == {3.0}
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    assert {type(each.outcome()) for i, each in enumerate(begun) if i % 100} == {CANCELLED}


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        pytest.param(2.5, float32, id="a scalar"),
        pytest.param([[1, 2], [3, 4]], int32, id="a matrix"),
        pytest.param(np.zeros([0, 3]), float32, id="no elements"),
        pytest.param(b"x\0y", string, id="a string"),
        pytest.param([[b"a", b""]], string, id="strings"),
        pytest.param(np.ones(100_000), float32, id="400 kB"),
    ],
)
def test_what_crosses(asker, task, given, dtype):
    step = new_step()
    task.run(task.register(constant("c", given, dtype), task.sent("c", "s", dtype)), step)
    proto = asker.ask(task.receiving("s", step)).tensor
    assert proto.dtype == dtype.as_datatype_enum
    wanted = tensor(given, dtype)
    assert make_ndarray(proto).tolist() == make_ndarray(wanted).tolist()
    assert proto.tensor_shape == (wanted.tensor_shape if make_ndarray(wanted).ndim else
                                  pb.TensorShapeProto())  # fmt: skip


def test_a_variable_crosses_as_the_value_that_it_has(asker, task):
    v = node("v", "VariableV2", dtype=float32, shape=(2,))
    fill = node("set", "Assign", "v", "c", T=float32)
    read = node("y", "Identity", "v", "^set", T=float32)
    step = new_step()
    task.run(task.register(v, fill, read, constant("c", [1.0, 2.0]), task.sent("y", "s")), step)
    task.run(task.register(v, constant("d", [5.0, 5.0]),
                           node("add", "AssignAdd", "v", "d", T=float32)))  # fmt: skip
    assert value(asker.ask(task.receiving("s", step))) == [1.0, 2.0]


def test_a_resource_stays_on_its_task(asker, task):
    step = new_step()
    q, _ = queue_nodes()
    task.run(task.register(q, task.sent("q", "s", resource)), step)
    with pytest.raises(tf.errors.InvalidArgumentError, match="stays on its task"):
        asker.ask(task.receiving("s", step))


# failures


@pytest.mark.parametrize("in_body", [True, False])
def test_a_failing_step_names_the_node_and_receivers_are_told_that_they_follow(
    asker, task, in_body
):
    step = new_step()
    early = asker.begin(task.receiving("s", step))
    handle = task.register(*failing_nodes(), task.sent("bad", "s"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="it is bad") as raised:
        task.run(handle, step, store_errors_in_response_body=in_body)
    assert (raised.value.node_name, raised.value.is_derived) == ("bad", False)
    late = asker.begin(task.receiving("s", step))
    for outcome in (early.outcome(), late.outcome()):
        assert type(outcome) is tf.errors.InvalidArgumentError
        assert (outcome.node_name, outcome.is_derived) == ("bad", True)
        assert "it is bad" in outcome.message


def test_an_error_in_the_body_is_an_answer(asker, task):
    request = task.running(task.register(*failing_nodes()), store_errors_in_response_body=True)
    data = asker.caller.call(f"{WORKER}RunGraph", [request.SerializeToString()], 20.0)
    response = parse_message(pb.RunGraphResponse, data)
    assert response.status_code == tf.errors.INVALID_ARGUMENT
    assert "{{node bad}}" in response.status_error_message


def test_what_was_sent_before_the_failure_is_received(asker, task):
    step = new_step()
    nodes = [constant("c", 3.0), task.sent("c", "s"), *failing_nodes()]
    nodes[2].input.append("^s")
    with pytest.raises(tf.errors.InvalidArgumentError):
        task.run(task.register(*nodes), step)
    assert value(asker.ask(task.receiving("s", step))) == 3.0


def test_cancelling_a_step_ends_its_waits_and_its_receivers(server, asker, task):
    step = new_step()
    waiting = asker.begin(task.receiving("s", step))
    begun = asker.begin(task.running(task.register(*queue_nodes(), task.sent("take", "s")), step))
    until(lambda: waiters(server) == 1)
    begun.cancel()
    assert type(begun.outcome()) is CANCELLED
    outcome = waiting.outcome()
    assert (type(outcome), outcome.is_derived) == (CANCELLED, True)
    assert "take: dequeue on queue 'q' waits" in outcome.message
    until(lambda: waiters(server) == 0)
    until(lambda: not server.task.is_busy)


def test_cleaning_up_drops_what_nobody_received(server, asker, task):
    step = new_step()
    task.run(task.register(constant("c", 3.0), task.sent("c", "s")), step)
    assert server.task.worker._rendezvous
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    assert not server.task.worker._rendezvous


@pytest.fixture
def gate():
    """An op whose kernel goes on when it is let; says when it has begun."""
    begun, go = threading.Event(), threading.Event()
    op_def = OpDef("Gate(x: T) -> y: T [T: type]")

    @op_def.kernel
    def kernel(x):
        begun.set()
        assert go.wait(20)
        return x

    yield begun, go
    go.set()
    del REGISTRY["Gate"]


def test_what_is_sent_after_the_step_was_cleaned_up_is_dropped(server, asker, task, gate):
    """As by a kernel that computes still when its step is given up."""
    step, (begun, go) = new_step(), gate
    y = node("y", "Gate", "c", T=float32)
    call = asker.begin(
        task.running(task.register(constant("c", 3.0), y, task.sent("y", "s")), step)
    )
    assert begun.wait(20)
    call.cancel()
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    go.set()
    until(lambda: not server.task.is_busy)
    assert not server.task.worker._rendezvous


def test_who_receives_after_the_step_was_cleaned_up_does_not_wait(server, asker, task):
    step = new_step()
    task.run(task.register(constant("c", 3.0), task.sent("c", "s")), step)
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    outcome = asker.begin(task.receiving("s", step)).outcome()
    assert (type(outcome), outcome.is_derived) == (CANCELLED, True)
    assert not server.task.worker._rendezvous


def test_receivers_of_a_step_that_is_over_end_as_followers(asker, task):
    step = new_step()
    begun = asker.begin(task.receiving("s", step))
    asker.ask(pb.GetStatusRequest())
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    outcome = begun.outcome()
    assert (type(outcome), outcome.is_derived) == (CANCELLED, True)


def test_stopping_ends_steps_and_receivers(asker, server, task):
    receiver = asker.begin(task.receiving("s", new_step()))
    begun = asker.begin(task.running(task.register(*queue_nodes())))
    until(lambda: waiters(server) == 1)
    server.stop()
    for each in (receiver, begun):
        assert isinstance(each.outcome(), ABORTED | tf.errors.UnavailableError)


def test_who_was_restarted_says_so(asker, task):
    """The payload makes TensorFlow's clients open a new session."""
    for request in (
        receiving(task.key("s", task.incarnation ^ 1)),
        task.registration(constant("c", 1.0), session_handle="of another life"),
        task.running("0", session_handle="of another life"),
    ):
        with pytest.raises(ABORTED) as raised:
            asker.ask(request)
        assert raised.value.is_restart
    with pytest.raises(ABORTED, match="graph 0 is not") as raised:
        task.run("0")
    assert not raised.value.is_restart


# state


def test_variables_live_per_process_and_container(asker, task):
    c = constant("c", 3.0)
    v = node("v", "VariableV2", dtype=float32, shape=(), container=b"mine")
    task.run(task.register(v, c, node("set", "Assign", "v", "c", T=float32)))
    other = Task(asker)
    handle = other.register(v, node("y", "Identity", "v", T=float32), other.sent("y", "s"))
    step = new_step()
    other.run(handle, step)
    assert value(asker.ask(other.receiving("s", step))) == 3.0
    asker.ask(pb.CleanupAllRequest(container=["yours"]))
    other.run(handle)
    for containers in (["mine"], []):
        asker.ask(pb.CleanupAllRequest(container=containers))
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(handle)


def test_isolated_sessions_have_their_own(asker):
    v = node("v", "VariableV2", dtype=float32, shape=())
    one, other = Task(asker, isolated=True), Task(asker, isolated=True)
    one.run(one.register(v, constant("c", 1.0), node("set", "Assign", "v", "c", T=float32)))
    for each, is_set in ((one, True), (other, False), (Task(asker), False)):
        handle = each.register(v, node("y", "Identity", "v", T=float32))
        if is_set:
            each.run(handle)
        else:
            with pytest.raises(tf.errors.FailedPreconditionError):
                each.run(handle)


def test_deleting_a_session_leaves_its_variables(asker, task):
    v = node("v", "VariableV2", dtype=float32, shape=())
    task.run(task.register(v, constant("c", 1.0), node("set", "Assign", "v", "c", T=float32)))
    asker.ask(pb.DeleteWorkerSessionRequest(session_handle=task.handle))
    other = Task(asker)
    other.run(other.register(v, node("y", "Identity", "v", T=float32)))


# what else a master asks for


def test_a_traced_step_brings_its_statistics(asker, task):
    handle = task.register(constant("c", 1.0), node("y", "Neg", "c", T=float32))
    response = task.run(handle, exec_opts=pb.ExecutorOpts(record_timeline=True))
    [device] = response.step_stats.dev_stats
    assert device.device == task.device
    assert [each.node_name for each in device.node_stats] == ["_SOURCE", "c", "y"]


def test_a_step_brings_the_graph_that_it_ran(asker, task):
    handle = task.register(constant("c", 1.0), node("y", "Neg", "c", T=float32))
    response = task.run(handle, exec_opts=pb.ExecutorOpts(record_partition_graphs=True))
    [graph] = response.partition_graph
    assert [(each.name, each.device) for each in graph.node] == [
        ("c", task.device),
        ("y", task.device),
    ]


def test_a_step_in_parts_begins_with_the_first_and_ends_with_the_last(asker, task):
    """As masters of TensorFlow ask for partial runs."""
    handle, step = task.register(constant("c", 3.0), task.sent("c", "s")), new_step()
    task.run(handle, step, is_partial=True)
    assert value(asker.ask(task.receiving("s", step))) == 3.0
    task.run(handle, step, is_partial=True)
    task.run(handle, step, is_partial=True, is_last_partial_run=True)


def test_the_last_part_of_a_step_waits_for_its_end(server, asker, task):
    handle, step = task.register(*queue_nodes()), new_step()
    task.run(handle, step, is_partial=True)
    until(lambda: waiters(server) == 1)
    last = asker.begin(task.running(handle, step, is_partial=True, is_last_partial_run=True))
    assert not last.is_over
    task.run(task.register(queue_nodes()[0], *put_nodes()))
    assert isinstance(last.outcome(), pb.RunGraphResponse)
    until(lambda: not server.task.is_busy)


def test_a_step_whose_last_part_is_cancelled_ends(server, asker, task):
    handle, step = task.register(*queue_nodes()), new_step()
    task.run(handle, step, is_partial=True)
    last = asker.begin(task.running(handle, step, is_partial=True, is_last_partial_run=True))
    asker.ask(pb.GetStatusRequest())  # the server has taken what was sent before
    last.cancel()
    until(lambda: not server.task.is_busy)


def test_a_step_in_parts_that_fails_says_so_at_its_end(asker, task):
    v = node("v", "VariableV2", dtype=float32, shape=())
    handle, step = task.register(v, node("y", "Neg", "v", T=float32)), new_step()
    task.run(handle, step, is_partial=True)
    with pytest.raises(tf.errors.FailedPreconditionError):
        task.run(handle, step, is_partial=True, is_last_partial_run=True)


def test_a_step_in_parts_that_is_cleaned_up_ends(server, asker, task):
    handle, step = task.register(task.received("r")), new_step()
    task.run(handle, step, is_partial=True)
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    until(lambda: not server.task.worker.is_busy)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"recv_key": ["a;b;c;d;0:0"]}, id="values to give back"),
        pytest.param({"send": [pb.NamedTensorProto(name="a;b;c;d;0:0")]}, id="values of its own"),
    ],
)
def test_what_only_a_masters_own_worker_is_asked_for(asker, task, fields):
    handle = task.register(constant("c", 1.0))
    with pytest.raises(tf.errors.UnimplementedError, match="on its own task"):
        task.run(handle, **fields)


@pytest.mark.parametrize(
    ("master", "frame"),
    [
        pytest.param(MASTER, 18186195969791715286, id="2.21"),
        pytest.param("", 1496156560211570566, id="1.15, which names no master"),
    ],
)
def test_frames_are_numbered_as_the_sessions_master_does(asker, master, frame):
    task, step = Task(asker, master=master), new_step()
    entered = node("e", "Enter", "c", T=float32, frame_name=b"while/while_context")
    task.run(task.register(constant("c", 3.0), entered, task.sent("e", "s")), step)
    sent = asker.ask(receiving(task.key("s", round_=f"{frame}:0"), step))
    assert value(sent) == 3.0


def test_a_session_for_callers_without_sessions(asker, task):
    legacy = {"session_handle": "", "create_worker_session_called": False}
    registration = task.registration(constant("c", 3.0), task.sent("c", "s"), **legacy)
    handle, step = asker.ask(registration).graph_handle, new_step()
    asker.ask(task.running(handle, step, **legacy))
    assert value(asker.ask(task.receiving("s", step))) == 3.0
