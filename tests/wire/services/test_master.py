"""MasterService by its messages: sequences, answers, and what a step carries."""

import threading

import numpy as np
import pytest

import tfdist as tf
from tests.ports import free_port
from tests.runtime.blocking import until, waiters
from tests.wire.calls_at import calls_at, node, step_request, tensor
from tests.wire.codec.tensor_cases import value
from tests.wire.graph_cases import EXTRA, ONE, X, Y, constant, placeholder, variable
from tests.wire.master_cases import extension, opened
from tfdist.base.dtypes import float32
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.service_methods import MASTER

QUEUE = node("q", "FIFOQueueV2", component_types=[float32], shapes=[()], capacity=10)
TAKE = node("take", "QueueDequeueV2", "q", component_types=[float32])
PUT = node("put", "QueueEnqueueV2", "q", "one", Tcomponents=[float32])
SIZE = node("size", "QueueSizeV2", "q")


# sequences


def test_a_graph_grows_version_by_version(asker):
    handle, version = opened(asker, ONE)
    versions = [version]
    for name in ("b", "c"):
        response = asker.ask(extension(handle, versions[-1], constant(name, 2.0)))
        versions.append(response.new_graph_version)
    assert versions == [version, version + 1, version + 2]
    fetched = asker.run(handle, fetch=["c:0", "one:0", "b:0"])
    assert {name: value(each) for name, each in fetched.items()} == {
        "one:0": 1.0, "b:0": 2.0, "c:0": 2.0,
    }  # fmt: skip


def test_devices_are_told_before_there_is_a_graph(two):
    ps, worker = two
    with calls_at(worker.address) as asker:
        response = asker.ask(pb.ListDevicesRequest(session_handle=asker.session()))
    [local], [remote] = response.local_device, response.remote_device
    assert local.name == "/job:worker/replica:0/task:0/device:CPU:0"
    assert remote.name == "/job:ps/replica:0/task:0/device:CPU:0"
    for device, server in ((local, worker), (remote, ps)):
        assert device.device_type == "CPU"
        assert device.memory_limit > 0
        assert device.incarnation == server.task.worker.devices[0].incarnation % 2**64 != 0


def test_two_sessions_have_two_handles_and_graphs(asker):
    one, other = asker.session(ONE), asker.session(EXTRA)
    assert one != other
    assert list(asker.run(other, fetch=["extra:0"])) == ["extra:0"]
    with pytest.raises(tf.errors.NotFoundError):
        asker.run(one, fetch=["extra:0"])


def test_sessions_share_variables_by_name(asker):
    nodes = [variable("v"), ONE, node("set", "Assign", "v", "one", T=float32)]
    one, other = asker.session(*nodes), asker.session(*nodes)
    asker.run(one, target=["set"])
    assert value(asker.run(other, fetch=["v:0"])["v:0"]) == 1.0


def test_isolated_sessions_do_not_share(asker):
    nodes = [variable("v"), ONE, node("set", "Assign", "v", "one", T=float32)]
    config = pb.ConfigProto(isolate_session_state=True)
    one, other = (asker.session(*nodes, config=config) for _ in range(2))
    asker.run(one, target=["set"])
    assert value(asker.run(one, fetch=["v:0"])["v:0"]) == 1.0
    for handle in (other, asker.session(*nodes)):
        with pytest.raises(tf.errors.FailedPreconditionError):
            asker.run(handle, fetch=["v:0"])


def test_isolated_sessions_do_not_share_on_other_tasks_either(two):
    nodes = [variable("v"), ONE, node("set", "Assign", "v", "one", T=float32)]
    for each in nodes:
        each.device = "/job:ps/task:0"
    config = pb.ConfigProto(isolate_session_state=True)
    try:
        with calls_at(two[1].address) as asker:
            one, other = (asker.session(*nodes, config=config) for _ in range(2))
            asker.run(one, target=["set"])
            assert value(asker.run(one, fetch=["v:0"])["v:0"]) == 1.0
            with pytest.raises(tf.errors.FailedPreconditionError):
                asker.run(other, fetch=["v:0"])
    finally:
        for each in nodes:
            each.device = ""


def test_a_session_spans_what_its_filters_let_in(two):
    config = pb.ConfigProto(device_filters=["/job:worker"])
    with calls_at(two[1].address) as asker:
        handle = asker.session(config=config)
        response = asker.ask(pb.ListDevicesRequest(session_handle=handle))
    assert not response.remote_device


@pytest.mark.parametrize(("producer", "job"), [(134, "ps"), (1200, "worker")])
def test_where_a_node_without_device_goes_depends_on_who_made_the_graph(two, producer, job):
    """Later TensorFlows put it on the master's own task, earlier ones on the cluster's first."""
    with calls_at(two[1].address) as asker:
        handle = asker.session(ONE, producer=producer)
        placed = asker.ask(pb.PlacementRequest(session_handle=handle))
    assert [each.device for each in placed.node] == [f"/job:{job}/replica:0/task:0/device:CPU:0"]


def test_a_session_waits_for_its_tasks_as_long_as_its_config_says():
    with tf.train.Server({"a": ["localhost:0"], "b": ["localhost:1"]}, "a", 0, inproc=False) as a:
        with calls_at(a.address) as asker:
            config = pb.ConfigProto(operation_timeout_in_ms=60)
            text = r"within 0\.\d+ s:\n  /job:b/replica:0/task:0 at 127.0.0.1:1"
            with pytest.raises(tf.errors.DeadlineExceededError, match=text):
                asker.session(config=config)
            alone = pb.ConfigProto(device_filters=["/job:a"])
            assert asker.session(config=alone)


@pytest.fixture
def lonely(way):
    """The first task of a cluster whose second one is not there; and where that would be."""
    address = f"127.0.0.1:{free_port()}"
    cluster = {"a": ["localhost:0"], "b": [address]}
    with tf.train.Server(cluster, "a", 0, inproc=False) as server:
        with calls_at(server.address, way) as asker:
            yield server, asker, address


def test_a_session_whose_client_gave_up_waiting_is_closed(lonely):
    server, asker, address = lonely
    begun = asker.begin(pb.CreateSessionRequest())
    asker.ask(pb.GetStatusRequest())
    begun.cancel()
    assert type(begun.outcome()) is tf.errors.CancelledError
    cluster = {"a": [server.address], "b": [address]}
    with tf.train.Server(cluster, "b", 0, inproc=False):
        until(lambda: not any(each.name == "tfdist-call" for each in threading.enumerate()))
        assert not server.task.master._prepared
        assert asker.session()


def test_stopping_ends_the_wait_for_other_tasks(lonely):
    server, asker, _ = lonely
    begun = asker.begin(pb.CreateSessionRequest())
    asker.ask(pb.GetStatusRequest())
    server.stop()
    assert isinstance(begun.outcome(), tf.errors.UnavailableError | tf.errors.CancelledError)


def test_a_reset_ends_sessions_and_clears_all_containers(asker):
    nodes = [variable("v"), ONE, node("set", "Assign", "v", "one", T=float32)]
    handle = asker.session(*nodes)
    asker.run(handle, target=["set"])
    asker.ask(pb.ResetRequest())
    with pytest.raises(tf.errors.AbortedError, match="reset"):
        asker.run(handle, fetch=["v:0"])
    with pytest.raises(tf.errors.FailedPreconditionError):
        asker.run(asker.session(*nodes), fetch=["v:0"])


def test_a_reset_of_one_container_leaves_the_others(asker):
    nodes = [ONE]
    for name in ("mine", "yours"):
        nodes += [
            node(name, "VariableV2", dtype=float32, shape=(), container=name.encode()),
            node(f"set_{name}", "Assign", name, "one", T=float32),
        ]
    asker.run(asker.session(*nodes), target=["set_mine", "set_yours"])
    asker.ask(pb.ResetRequest(container=["mine"]))
    handle = asker.session(*nodes)
    assert value(asker.run(handle, fetch=["yours:0"])["yours:0"]) == 1.0
    with pytest.raises(tf.errors.FailedPreconditionError):
        asker.run(handle, fetch=["mine:0"])


# where errors stand


def answer(asker, request):
    """Return the response as it came, an error in its body included."""
    data = asker.caller.call(f"{MASTER}RunStep", [request.SerializeToString()], 20.0)
    return parse_message(pb.RunStepResponse, data)


@pytest.mark.parametrize("attempt", ["first", "second"])
def test_errors_stand_in_the_body_if_that_is_asked_for(asker, attempt):
    handle = asker.session(X, node("y", "CheckNumerics", "x", T=float32, message=b"bad"))
    fields = {"feed": {"x:0": tensor(np.inf, float32)}, "fetch": ["y:0"]}
    if attempt == "second":  # it is planned already then, and answered on another way
        with pytest.raises(tf.errors.InvalidArgumentError):
            asker.run(handle, **fields)
    request = step_request(handle, store_errors_in_response_body=True, **fields)
    response = answer(asker, request)
    assert response.status_code == tf.errors.INVALID_ARGUMENT
    assert "bad" in response.status_error_message
    assert response.status_error_message.endswith(
        "\n\t [[{{node y}} on /job:a/replica:0/task:0/device:CPU:0]]"
    )
    assert not response.tensor
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:  # else as the call's status
        asker.run(handle, **fields)
    assert (raised.value.node_name, raised.value.message.count("bad")) == ("y", 1)


def test_an_unknown_session_is_told_in_the_body_too(asker):
    request = step_request("nobody's", fetch=["y:0"], store_errors_in_response_body=True)
    assert answer(asker, request).status_code == tf.errors.ABORTED


# metadata


def test_a_traced_step_brings_its_statistics_and_partitions(two):
    with calls_at(two[1].address) as asker:
        doubled = node("d", "Add", "one", "one", device="/job:worker/task:0", T=float32)
        one = constant("one", 1.0)
        one.device = "/job:ps/task:0"
        options = pb.RunOptions(trace_level=3, output_partition_graphs=True)
        request = step_request(asker.session(one, doubled), fetch=["d:0"], options=options)
        metadata = asker.ask(request).metadata
    stats = [(d.device, [n.node_name for n in d.node_stats]) for d in metadata.step_stats.dev_stats]
    ps, worker = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))
    assert sorted(stats) == [
        (ps, ["_SOURCE", "one"]), (worker, ["RecvTensor"]), (worker, ["_SOURCE", "d"]),
    ]  # fmt: skip
    graphs = [sorted(n.op for n in graph.node) for graph in metadata.partition_graphs]
    assert sorted(graphs) == [["Add", "_Recv"], ["Const", "_Send"]]


def test_metadata_is_there_and_empty_if_nothing_is_asked_for(asker):
    response = asker.ask(step_request(asker.session(ONE), fetch=["one:0"]))
    assert not response.metadata.HasField("step_stats")
    assert not response.metadata.partition_graphs


# callables


def test_a_callable_is_run_again_and_again(asker):
    handle = asker.session(X, placeholder("z"), node("d", "Sub", "x", "z", T=float32), Y)
    number = asker.callable(handle, feed=["z:0", "x:0"], fetch=["d:0", "y:0"], target=["y"])
    for i in range(3):
        request = pb.RunCallableRequest(
            session_handle=handle, handle=number, feed=[tensor(1.0), tensor(float(i))]
        )
        assert [value(each) for each in asker.ask(request).fetch] == [i - 1.0, i]


def test_a_callable_belongs_to_its_session(asker):
    number = asker.callable(asker.session(ONE), fetch=["one:0"])
    request = pb.RunCallableRequest(session_handle=asker.session(ONE), handle=number)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no callable"):
        asker.ask(request)


def test_a_callable_can_be_traced(asker):
    handle = asker.session(ONE)
    options = pb.RunOptions(trace_level=3)
    number = asker.callable(handle, fetch=["one:0"], run_options=options)
    response = asker.ask(pb.RunCallableRequest(session_handle=handle, handle=number))
    [device] = response.metadata.step_stats.dev_stats
    assert [each.node_name for each in device.node_stats] == ["_SOURCE", "one"]


def test_a_callable_comes_once_per_request(asker):
    handle = asker.session(ONE)
    number = asker.callable(handle, fetch=["one:0"])
    request = pb.RunCallableRequest(session_handle=handle, handle=number, request_id=12)
    asker.ask(request)
    with pytest.raises(tf.errors.AbortedError, match="RunCallable was received twice"):
        asker.ask(request)


# steps that wait


def blocked(asker, server, request, count=1):
    """Begin a step; return it once one more waits at a queue."""
    begun = asker.begin(request)
    until(lambda: waiters(server) == count)
    return begun


def test_closing_the_session_ends_its_steps(asker, server):
    handle = asker.session(QUEUE, TAKE)
    begun = blocked(asker, server, step_request(handle, fetch=["take:0"]))
    asker.ask(pb.CloseSessionRequest(session_handle=handle))
    outcome = begun.outcome()
    assert type(outcome) is tf.errors.CancelledError
    assert "the session was closed" in outcome.message
    assert waiters(server) == 0


def test_who_gives_up_a_step_takes_no_element(asker, server):
    handle = asker.session(QUEUE, TAKE, ONE, PUT, SIZE)
    begun = blocked(asker, server, step_request(handle, fetch=["take:0"]))
    begun.cancel()
    assert type(begun.outcome()) is tf.errors.CancelledError
    until(lambda: waiters(server) == 0)
    asker.run(handle, target=["put"])
    assert value(asker.run(handle, fetch=["size:0"])["size:0"]) == 1


def test_a_deadline_names_what_the_step_waits_for(asker, server):
    handle = asker.session(QUEUE, TAKE)
    request = step_request(handle, fetch=["take:0"], options=pb.RunOptions(timeout_in_ms=40))
    text = "40 ms; it waits for: take: dequeue on queue 'q' waits for 1 more"
    for _ in range(2):
        request.request_id += 1_000_000
        with pytest.raises(tf.errors.DeadlineExceededError, match=text):
            asker.ask(request)
    assert waiters(server) == 0


def test_a_negative_timeout_is_none(asker, server):
    handle = asker.session(QUEUE, TAKE, ONE, PUT)
    options = pb.RunOptions(timeout_in_ms=-1000)
    begun = blocked(asker, server, step_request(handle, fetch=["take:0"], options=options))
    asker.run(handle, target=["put"])
    assert value(begun.outcome().tensor[0].tensor) == 1.0


def test_the_same_request_is_refused_while_the_first_one_runs(asker, server):
    """TensorFlow's client sends a step again at once if a connection breaks."""
    handle = asker.session(QUEUE, TAKE, ONE, PUT)
    request = step_request(handle, fetch=["take:0"])
    begun = blocked(asker, server, request)
    with pytest.raises(tf.errors.AbortedError, match="it ran once, or still runs"):
        asker.ask(request)
    asker.run(handle, target=["put"])
    assert value(begun.outcome().tensor[0].tensor) == 1.0


def test_who_goes_away_leaves_no_step_behind(server, way):
    with calls_at(server.address, way) as asker:
        blocked(asker, server, step_request(asker.session(QUEUE, TAKE), fetch=["take:0"]))
    until(lambda: waiters(server) == 0)
