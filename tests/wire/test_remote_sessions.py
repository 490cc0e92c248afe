"""Sessions of other processes, as users have them: what is asked for, what is shared, what ends."""

import gc
import threading

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import PATIENCE, Call, blocked, until, waiters

FULL_TRACE = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

pytestmark = pytest.mark.usefixtures("transport")


# what a session is asked for


def test_a_session_tells_the_devices_of_its_cluster(tasks):
    with tf.Session(tasks[2].target) as session:
        devices = session.list_devices()
    assert [each.name for each in devices] == [
        f"/job:{job}/replica:0/task:{i}/device:CPU:0"
        for job, i in (("worker", 1), ("ps", 0), ("worker", 0))
    ]
    own = [each.task.worker.devices[0] for each in (tasks[2], tasks[0], tasks[1])]
    for device, known in zip(devices, own, strict=True):
        assert device.device_type == "CPU"
        assert device.memory_limit == known.memory_limit
        assert device.incarnation % 2**64 == known.incarnation % 2**64


def test_devices_are_told_when_one_of_them_is_gone(tasks):
    with tf.device("/job:worker/task:1"):
        x = tf.constant(1.0) + 1.0
    with tf.Session(tasks[2].target) as session:
        assert session.run(x) == 2.0
        tasks[0].stop()
        assert len(session.list_devices()) == 3
        assert session.run(x) == 2.0


def test_a_callable_runs_again_and_again(session):
    x = tf.placeholder(tf.float32, [])
    double = session.make_callable(x * 2.0, [x])
    assert [double(float(i)) for i in range(5)] == [0.0, 2.0, 4.0, 6.0, 8.0]
    traced = session.make_callable(x * 2.0, [x], accept_options=True)
    metadata = tf.RunMetadata()
    assert traced(1.0, options=FULL_TRACE, run_metadata=metadata) == 2.0
    assert metadata.step_stats.dev_stats


def test_placement_is_logged_on_request(tasks, capfd):
    config = tf.ConfigProto(log_device_placement=True)
    with tf.device("/job:ps"):
        a = tf.constant(1.0, name="a")
    with tf.device("/job:worker/task:1"):
        b = tf.negative(a, name="b")
    with tf.Session(tasks[1].target, config=config) as session:
        session.run(b)
        ps, worker = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:1"
        assert capfd.readouterr().err == (
            f"a: (Const): {ps}/device:CPU:0\nb: (Neg): {worker}/device:CPU:0\n"
        )
        with tf.device("/job:ps"):
            c = tf.negative(b, name="c")
        session.run(c)
        assert capfd.readouterr().err == f"c: (Neg): {ps}/device:CPU:0\n"


def test_a_graph_may_grow_between_runs(session):
    total = tf.constant(0)
    for i in range(1, 20):
        total = total + i
        assert session.run(total) == i * (i + 1) // 2
    with pytest.raises(TypeError):
        session.run(tf.Graph())
    assert session.run(total + 0) == 190


def test_a_session_goes_on_after_a_node_that_cannot_be_placed(session):
    x = tf.constant(1.0)
    assert session.run(x) == 1.0
    with tf.device("/job:nobody/task:7"):
        y = x + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="nobody"):
        session.run(y)
    assert session.run(x + 2.0) == 3.0


def test_an_error_tells_the_line_that_made_its_node(session):
    x = tf.placeholder(tf.float32)
    y = tf.check_numerics(x, "not here", name="check")
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not here") as raised:
            session.run(y, {x: np.nan})
        assert raised.value.op is y.op
        assert __file__ in str(raised.value)


def test_a_graph_over_the_limit_is_refused_before_it_is_sent(session):
    x = tf.constant(1.0)
    assert session.run(x) == 1.0
    y = tf.constant(0.0, name="huge")
    y.op._set_attr("value", np.broadcast_to(np.float32(0), (2**29,)))  # 2 GB that take 4 bytes
    with pytest.raises(tf.errors.InvalidArgumentError, match="'huge' with 2147483648 bytes"):
        session.run(y)
    assert session.run(x) == 1.0


# sharing


def test_two_sessions_share_variables_and_queues(tasks):
    v = tf.Variable(0.0, name="v")
    add = v.assign_add(1.0)
    queue = tf.FIFOQueue(5, tf.float32, shared_name="q")
    put, take = queue.enqueue(v), queue.dequeue()
    one, other = (tf.Session(each.target) for each in tasks[1:])
    with one, other:
        one.run(v.initializer)
        assert [one.run(add), other.run(add), one.run(add)] == [1.0, 2.0, 3.0]
        one.run(put)
        assert other.run(take) == 3.0


def test_a_session_goes_on_when_another_one_of_its_server_is_closed(server):
    x = tf.constant(1.0)
    one, other = (tf.Session(server.target) for _ in range(2))
    assert [one.run(x), other.run(x)] == [1.0, 1.0]
    one.close()
    one.close()
    assert other.run(x + 1.0) == 2.0
    with pytest.raises(RuntimeError, match="closed"):
        one.run(x)
    other.close()


def test_isolated_sessions_share_nothing(tasks):
    with tf.device("/job:ps"):
        v = tf.Variable(0.0, name="v")
    config = tf.ConfigProto(isolate_session_state=True)
    one, other = (tf.Session(tasks[1].target, config=config) for _ in range(2))
    with one, other:
        one.run(v.initializer)
        assert one.run(v.assign_add(1.0)) == 1.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(v)


def test_two_hundred_sessions_at_once_lose_no_increment(server):
    v = tf.Variable(0)
    add = v.assign_add(1).op
    with tf.Session(server.target) as session:
        session.run(v.initializer)
        start = threading.Barrier(200)

        def work():
            with tf.Session(server.target, graph=v.graph) as own:
                start.wait(PATIENCE)
                for _ in range(5):
                    own.run(add)

        for call in [Call(work) for _ in range(200)]:
            call.result()
        assert session.run(v) == 1000


# ends


def test_closing_ends_a_blocked_run(server):
    queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
    take, put, size = queue.dequeue(), queue.enqueue(1.0), queue.size()
    session = tf.Session(server.target)
    with blocked(server, session.run, take) as call:
        session.close()
        with pytest.raises(tf.errors.CancelledError):
            call.result()
    with tf.Session(server.target) as other:
        other.run(put)
        assert other.run(size) == 1


def test_a_reset_with_blocked_steps_leaves_a_server_that_works(tasks):
    """Again and again; TensorFlow's next session hangs."""
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]], shared_name="q")
        take, put, size = queue.dequeue(), queue.enqueue(1.0), queue.size()
        v = tf.Variable(1.0)
    with tf.device("/job:worker/task:1"):
        doubled = take * 2.0
    ps, worker = tasks[:2]
    for i in range(30):
        session = tf.Session(worker.target)
        with blocked(ps, session.run, take if i % 2 else doubled) as call:
            tf.Session.reset(worker.target)
            with pytest.raises(tf.errors.AbortedError, match="reset"):
                call.result()
        with pytest.raises(tf.errors.AbortedError):
            session.run(size)
        session.close()
        with tf.Session(worker.target) as fresh:
            with pytest.raises(tf.errors.FailedPreconditionError):
                fresh.run(v)
            fresh.run([v.initializer, put])
            assert fresh.run([size, v]) == [1, 1.0]
            assert fresh.run(take) == 1.0
    until(lambda: not any(each.task.is_busy for each in tasks))


def test_sessions_that_open_during_resets_leave_nothing_behind(tasks):
    x = tf.constant(1.0)
    graph, start = x.graph, threading.Barrier(5)

    def open_and_close(server):
        start.wait(PATIENCE)
        for _ in range(30):
            with tf.Session(server.target, graph=graph) as session:
                try:
                    session.run(x)
                except tf.errors.AbortedError:
                    pass

    def reset():
        start.wait(PATIENCE)
        for i in range(60):
            tf.Session.reset(tasks[i % 2].target)

    calls = [Call(reset), *(Call(open_and_close, tasks[i % 2]) for i in range(4))]
    for call in calls:
        call.result()
    until(lambda: not any(each.task.worker._sessions for each in tasks))


def test_a_reset_of_one_container_leaves_the_others(tasks):
    with tf.device("/job:ps"), tf.container("mine"):
        mine = tf.Variable(1.0, name="mine")
    with tf.device("/job:ps"):
        others = tf.Variable(2.0, name="others")
    with tf.Session(tasks[1].target) as session:
        session.run(tf.global_variables_initializer())
    tf.Session.reset(tasks[2].target, ["mine"])
    with tf.Session(tasks[1].target) as session:
        assert session.run(others) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(mine)


def test_closed_sessions_leave_nothing_on_the_servers(tasks):
    with tf.device("/job:ps"):
        x = tf.constant(1.0) + 1.0
    with tf.device("/job:worker/task:1"):
        y = x + 1.0
    for _ in range(5):
        with tf.Session(tasks[1].target) as session:
            assert session.run(y) == 3.0
            assert any(each.task.worker._sessions for each in tasks)
    until(lambda: not any(each.task.worker._sessions for each in tasks))
    until(lambda: not any(each.task.worker._rendezvous for each in tasks))
    assert not tasks[1].task.master._prepared
    assert not tasks[1].task.master._active


def test_forgotten_sessions_are_closed(server):
    x = tf.constant(1.0)
    session = tf.Session(server.target)
    session.run(x)
    assert server.task.worker._sessions
    del session
    gc.collect()
    assert not server.task.worker._sessions


def test_the_first_error_of_a_step_is_the_one_that_is_told(tasks):
    """Others on other tasks follow from it, in whatever order they arrive."""
    with tf.device("/job:ps"):
        x = tf.placeholder(tf.float32, name="x")
        bad = tf.check_numerics(x, "the cause", name="bad")
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
        stuck = queue.dequeue()
    with tf.device("/job:worker/task:0"):
        near = bad + 1.0
        also_stuck = stuck + 1.0
    with tf.device("/job:worker/task:1"):
        far = near * bad
    for server in tasks:
        with tf.Session(server.target) as session:
            for fetches in ([far, also_stuck], [also_stuck, near], [far]):
                for _ in range(4):
                    with pytest.raises(tf.errors.InvalidArgumentError, match="the cause") as told:
                        session.run(fetches, {x: np.inf})
                    assert told.value.op is bad.op
                    assert told.value.device.startswith("/job:ps/")
    until(lambda: waiters(tasks[0]) == 0)
    until(lambda: not any(each.task.is_busy for each in tasks))


def test_a_deadline_is_kept_though_a_kernel_still_computes(server):
    """Nobody can stop a kernel: its step is given up, and others go on."""
    free = threading.Event()
    long = tf.py_func(lambda: np.float32(free.wait(30)), [], tf.float32)
    with tf.Session(server.target) as session:
        try:
            with pytest.raises(tf.errors.DeadlineExceededError, match="it still computes"):
                session.run(long, options=tf.RunOptions(timeout_in_ms=50))
            assert session.run(tf.constant(1.0) + 1.0) == 2.0
        finally:
            free.set()
        assert session.run(long) == 1.0


def test_a_deadline_names_what_another_process_waits_for(tasks):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take = queue.dequeue(name="take")
    with tf.device("/job:worker/task:1"):
        y = take + 1.0
    options = tf.RunOptions(timeout_in_ms=50)
    with tf.Session(tasks[1].target) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError, match="50 ms") as told:
                session.run(y, options=options)
            assert "take: dequeue on queue 'q' waits for 1 more element" in told.value.message
            assert told.value.op is take.op
    until(lambda: waiters(tasks[0]) == 0)
