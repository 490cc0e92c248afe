"""What a traced run tells: TensorFlow's entries, as "Sharing variables" prints them."""

import time

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS
from tfdist.wire.server import start_servers

TASK = "/job:local/replica:0/task:{}/device:CPU:0"


@pytest.fixture(params=EXECUTORS)
def tasks(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)
    servers = start_servers({"local": 2})
    yield servers
    for each in servers:
        each.stop()


def traced(session, fetches, feed_dict=None):
    """Run once and return the metadata."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session.run(fetches, feed_dict, options, metadata)
    return metadata


def entries(metadata):
    """Return (task index, node names) of each entry."""
    stats = metadata.step_stats.dev_stats
    return [(each.device, [node.node_name for node in each.node_stats]) for each in stats]


def local(index, *names):
    return TASK.format(index), list(names)


def test_a_run_on_the_sessions_own_task(tasks):
    var = tf.Variable(0.0, name="var")
    with tf.Session(tasks[0].target) as session:
        session.run(var.initializer)
        for _ in range(2):
            assert entries(traced(session, var)) == [local(0, "_SOURCE", "var")]


def test_a_run_with_an_update(tasks):
    var = tf.Variable(0.0, name="var")
    with tf.Session(tasks[0].target) as session:
        session.run(var.initializer)
        session.run(var.assign_add(1.0))
        [(device, names)] = entries(traced(session, var.assign_add(1.0)))
    assert device == TASK.format(0)
    assert names[0] == "_SOURCE"
    assert sorted(names[1:]) == ["AssignAdd_1", "AssignAdd_1/value", "var"]


def test_a_run_on_another_task(tasks):
    var = tf.Variable(0.0, name="var")
    with tf.Session(tasks[1].target) as session:
        session.run(var.initializer)
        found = entries(traced(session, var))
    assert found[0] == local(1, "RecvTensor")
    assert sorted(found[1:]) == sorted([local(1, "_SOURCE"), local(0, "_SOURCE", "var")])


def test_transfers_both_ways(tasks):
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.device("/job:local/task:1"):
        y = tf.multiply(x, 2.0, name="y")
    with tf.Session(tasks[0].target) as session:
        stats = traced(session, y, {x: [1.0, 2.0, 3.0]}).step_stats.dev_stats
    received = {each.device: each.node_stats[0] for each in stats[:2]}
    assert set(received) == {TASK.format(0), TASK.format(1)}
    for device, node in received.items():
        assert node.node_name == "RecvTensor"
        assert node.timeline_label.startswith("[12B] [")
        other = TASK.format(0 if device == TASK.format(1) else 1)
        assert node.timeline_label.endswith(f" from {other} to {device}")


def test_a_node_tells_time_label_and_outputs():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.matmul(x, tf.ones([2, 3]), name="product")
    with tf.Session() as session:
        [entry] = traced(session, y, {x: np.ones((4, 2))}).step_stats.dev_stats
    [node] = [node for node in entry.node_stats if node.node_name == "product"]
    assert node.timeline_label == "product = MatMul(x, ones)"
    assert node.all_start_micros > 1.5e15
    assert node.all_start_nanos // 1000 == node.all_start_micros
    assert 0 <= node.op_end_rel_micros <= node.all_end_rel_micros < 10e6
    [output] = node.output
    description = output.tensor_description
    assert (output.slot, description.dtype) == (0, tf.float32.as_datatype_enum)
    assert tf.TensorShape(description.shape).as_list() == [4, 3]
    assert description.allocation_description.requested_bytes == 48


def test_the_label_of_a_node_tells_what_it_ran_after():
    x, y = tf.constant(1, name="x"), tf.constant(2, name="y")
    with tf.control_dependencies([x]):
        z = tf.negative(y, name="minus")
    with tf.Session() as session:
        [entry] = traced(session, z).step_stats.dev_stats
    [node] = [node for node in entry.node_stats if node.node_name == "minus"]
    assert node.timeline_label == "minus = Neg(y, ^x)"


def memory(node):
    """Return the bytes that a node got, and those that it keeps."""
    used = sum(each.total_bytes for each in node.memory if each.allocator_name == "cpu")
    return used, node.memory_stats.persistent_memory_size


def test_nodes_tell_what_memory_they_took_for_profilers_and_tensorboard():
    var = tf.Variable([1.0, 2.0], name="var")
    grown = tf.reshape(tf.multiply(var, [3.0, 4.0], name="product"), [2, 1], name="column")
    with tf.Session() as session:
        session.run(var.initializer)
        fetches = [grown, var.assign_add([1.0, 1.0], name="more")]
        [entry] = traced(session, fetches).step_stats.dev_stats
    found = {node.node_name: memory(node) for node in entry.node_stats}
    assert found["product"] == (8, 0)
    assert found["var"] == found["product/y"] == (0, 8)
    assert found["var/read"] == found["column"] == found["more"] == found["_SOURCE"] == (0, 0)


def test_times_in_microseconds_keep_their_order():
    total = tf.add_n([tf.constant(float(i)) for i in range(50)])
    with tf.Session() as session:
        [entry] = traced(session, total).step_stats.dev_stats
    for node in entry.node_stats:
        assert node.scheduled_micros <= node.all_start_micros
        assert 0 <= node.op_start_rel_micros <= node.op_end_rel_micros <= node.all_end_rel_micros
        end = (node.all_start_nanos + node.all_end_rel_nanos) // 1000
        assert node.all_start_micros + node.all_end_rel_micros == end


def test_a_node_is_scheduled_when_what_it_waits_for_has_ended():
    queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    with tf.control_dependencies([queue.enqueue(1.0)]):
        taken = queue.dequeue(name="taken")
    later = tf.negative(taken, name="later")
    with tf.Session() as session:
        [entry] = traced(session, later).step_stats.dev_stats
    found = {node.node_name: node for node in entry.node_stats}
    took = found["taken"]
    assert found["later"].scheduled_nanos == took.all_start_nanos + took.all_end_rel_nanos


def test_a_node_with_several_outputs():
    parts = tf.unstack(tf.constant([1, 2, 3], name="c"), name="u")
    with tf.Session() as session:
        [entry] = traced(session, parts).step_stats.dev_stats
    [node] = [node for node in entry.node_stats if node.node_name == "u"]
    assert [output.slot for output in node.output] == [0, 1, 2]


def test_two_devices_of_one_task_have_entries_of_their_own():
    with tf.device("/cpu:1"):
        x = tf.constant(1, name="x")
    with tf.device("/cpu:0"):
        y = tf.add(x, x, name="y")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        found = {device[-5:]: names for device, names in entries(traced(session, y))}
    assert found == {"CPU:1": ["_SOURCE", "x"], "CPU:0": ["_SOURCE", "y"]}


def test_waiting_shows_as_time():
    queue = tf.FIFOQueue(1, tf.int32)
    put, take = queue.enqueue(1), queue.dequeue(name="take")
    with tf.Session() as session:
        [entry] = traced(session, [put, take]).step_stats.dev_stats
    names = [node.node_name for node in entry.node_stats]
    assert names.count("take") == names.count("fifo_queue_enqueue") == 1


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(None, id="no options"),
        pytest.param(tf.RunOptions(), id="options that ask for nothing"),
        pytest.param(tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE), id="no trace"),
    ],
)
def test_a_run_that_is_not_traced_tells_nothing(options):
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="from another run")
    with tf.Session() as session:
        session.run(tf.constant(1), options=options, run_metadata=metadata)
    assert not metadata.step_stats.dev_stats


def test_metadata_is_filled_anew():
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        for name in ("x", "y"):
            session.run(tf.constant(1, name=name), options=options, run_metadata=metadata)
    assert entries(metadata)[0][1] == ["_SOURCE", "y"]


def test_constants_and_identities_show_as_the_user_built_them(tasks):
    c = tf.identity(tf.constant(1, name="c"), name="i")
    with tf.Session(tasks[0].target) as session:
        for _ in range(2):
            assert entries(traced(session, c)) == [local(0, "_SOURCE", "c", "i")]


# what runs of one program differ in


def told(node):
    """Return what is said of a node besides its times: label, shapes and sizes."""
    shapes = [[dim.size for dim in out.tensor_description.shape.dim] for out in node.output]
    return node.timeline_label, shapes, [each.total_bytes for each in node.memory]


def test_each_run_tells_of_its_own_shapes_and_branches():
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    chosen = tf.cond(n > 0, lambda: tf.reduce_sum(x, name="a"), lambda: tf.negative(x, name="b"))
    ends = tf.while_loop(lambda i: i < n, lambda i: tf.add(i, 1), [0])
    runs = [(size, count) for size in (3, 5, 3, 7, 1, 2, 4, 3) for count in (0, 2, 0)]
    with tf.Session() as session:
        for size, count in runs:
            feeds = {x: np.ones(size), n: count}
            [entry] = traced(session, [chosen, ends], feeds).step_stats.dev_stats
            with tf.Session(graph=session.graph) as other:
                [alone] = traced(other, [chosen, ends], feeds).step_stats.dev_stats
            assert sorted(map(told, entry.node_stats)) == sorted(map(told, alone.node_stats))


def test_what_a_users_function_gave_is_told_not_what_was_promised():
    given = tf.py_func(lambda: np.zeros(4, np.float32), [], tf.float32, name="given")
    given.set_shape([3])
    with tf.Session() as session:
        for _ in range(3):  # interpreted, then compiled
            [stats] = traced(session, given).step_stats.dev_stats
            [node] = [each for each in stats.node_stats if each.node_name == "given"]
            [dim] = node.output[0].tensor_description.shape.dim
            assert dim.size == 4


def test_a_node_starts_no_sooner_than_what_it_takes_was_there():
    x = tf.placeholder(tf.float32, [9], name="x")
    last = tf.add(tf.square(x, name="s"), tf.exp(x, name="e"), name="last")
    with tf.Session() as session:
        for _ in range(3):
            began = time.time_ns()
            [entry] = traced(session, last, {x: np.ones(9)}).step_stats.dev_stats
            found = {node.node_name: node for node in entry.node_stats}
            ends = [
                found[name].all_start_nanos + found[name].all_end_rel_nanos for name in ("s", "e")
            ]
            assert began <= found["_SOURCE"].all_start_nanos <= min(ends)
            assert max(ends) == found["last"].scheduled_nanos <= found["last"].all_start_nanos
            for node in found.values():
                assert node.all_start_micros == node.all_start_nanos // 1000
                assert node.op_end_rel_nanos == node.all_end_rel_nanos < 1e9
                assert node.scheduled_micros == node.scheduled_nanos // 1000


# loops and conds


def labels(metadata):
    """Return the labels of all nodes that ran."""
    stats = metadata.step_stats.dev_stats
    return [node.timeline_label for each in stats for node in each.node_stats]


def test_the_label_of_a_node_in_a_loop_tells_its_round_behind_tensorflows():
    ends = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="add"), [0])
    with tf.Session() as session:
        session.run(ends)
        found = labels(traced(session, ends))
    label = "while/add = Add(while/Identity, while/add/y)"
    assert [each for each in found if each.startswith(label)] == [
        f"{label} [round {i} of while]" for i in range(3)
    ]
    assert sum(each.startswith("while/Less =") for each in found) == 4
    assert "while/Enter = Enter(while/Const)" in found
    assert "while/Exit = Exit(while/Switch) [round 3 of while]" in found


def test_rounds_of_a_loop_in_a_loop_are_told_from_the_outside():
    def body(i):
        j = tf.while_loop(lambda j: j < 2, lambda j: tf.add(j, 1, name="add"), [i * 0], name="in")
        return i + j - 1

    ends = tf.while_loop(lambda i: i < 2, body, [0], name="out")
    with tf.Session() as session:
        found = labels(traced(session, ends))
    ending = [each.partition(" [")[2] for each in found if each.startswith("out/in/add =")]
    assert ending == [f"round {i}/{j} of out, out/in]" for i in range(2) for j in range(2)]


def test_only_the_living_side_of_a_switch_is_an_output():
    x = tf.placeholder(tf.float32, [], name="x")
    chosen = tf.cond(x > 0.0, lambda: tf.identity(x, name="a"), lambda: tf.negative(x, name="b"))
    with tf.Session() as session:
        [entry] = traced(session, chosen, {x: 1.0}).step_stats.dev_stats
    found = {node.node_name: [output.slot for output in node.output] for node in entry.node_stats}
    assert found["cond/a/Switch"] == [1]
    assert "cond/a" in found
    assert "cond/b" not in found


def test_a_device_that_runs_only_in_a_loop_has_a_beginning():
    def body(i):
        with tf.device("/cpu:1"):
            return tf.add(i, i, name="twice")

    with tf.device("/cpu:0"):
        ends = tf.while_loop(lambda i: i < 8, body, [1])
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        found = {device[-5:]: names for device, names in entries(traced(session, ends))}
    assert found["CPU:1"] == ["_SOURCE", "while/twice", "while/twice", "while/twice"]
