"""Steps that wait: for elements, for other tasks; and what ends them."""

import gc
import threading

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, blocked, until, waiters
from tests.runtime.places import EXECUTORS
from tfdist.graph.op_def import REGISTRY, OpDef, raw
from tfdist.runtime.step.step import Step
from tfdist.wire.server import start_servers


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


@pytest.fixture
def tasks():
    """A parameter server and a worker."""
    servers = start_servers({"ps": 1, "worker": 1})
    yield servers
    for each in servers:
        each.stop()


@pytest.fixture
def queue():
    return tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q", shared_name="q")


def milliseconds(n):
    return tf.RunOptions(timeout_in_ms=n)


def test_a_step_waits_for_an_element(server, queue):
    put, take = queue.enqueue(3.0), queue.dequeue()
    with tf.Session(server.target) as session, blocked(server, session.run, take) as call:
        session.run(put)
        assert call.result() == 3.0


def test_a_step_waits_for_room(server, queue):
    fill, put, take = queue.enqueue_many([[1.0, 2.0]]), queue.enqueue(3.0), queue.dequeue()
    with tf.Session(server.target) as session:
        session.run(fill)
        with blocked(server, session.run, put) as call:
            assert session.run(take) == 1.0
            assert call.result() is None
        assert session.run([take, queue.size()])[1] <= 2


def test_steps_of_two_sessions_meet_in_a_queue(tasks, queue):
    ps, worker = tasks
    put, take = queue.enqueue(3.0), queue.dequeue()
    with tf.Session(ps.target) as one, tf.Session(worker.target) as other:
        with blocked(ps, one.run, take) as call:
            other.run(put)
            assert call.result() == 3.0


def test_those_who_wait_are_served_in_order(server, queue):
    take = queue.dequeue()
    with tf.Session(server.target) as session:
        with (
            blocked(server, session.run, take) as first,
            blocked(server, session.run, take) as second,
        ):
            session.run(queue.enqueue_many([[1.0, 2.0]]))
            assert (first.result(), second.result()) == (1.0, 2.0)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_timeout_names_what_is_waited_for_and_takes_nothing(monkeypatch, executor):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    queue = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q")
    two = queue.dequeue_many(2, name="two")
    text = r"50 ms; it waits for: two: dequeue_many\(2\) on queue 'q' waits for 1 more element"
    with tf.Session() as session:
        session.run(queue.enqueue(1.0))
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError, match=text):
                session.run(two, options=milliseconds(50))
            assert session.run(queue.size()) == 1
        session.run(queue.enqueue(2.0))
        assert session.run(two, options=milliseconds(5000)).tolist() == [1.0, 2.0]


def test_a_session_can_bound_all_of_its_runs(queue):
    config = tf.ConfigProto(operation_timeout_in_ms=30)
    take = queue.dequeue()
    traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(config=config) as session:
        for options in (None, traced):
            with pytest.raises(tf.errors.DeadlineExceededError, match="30 ms"):
                session.run(take, options=options)
        with pytest.raises(tf.errors.DeadlineExceededError, match="40 ms"):
            session.run(take, options=milliseconds(40))
        session.run(queue.enqueue(1.0))
        assert session.run(queue.dequeue()) == 1.0


def test_a_timeout_across_tasks_names_the_queue_before_the_transfer(tasks, queue):
    with tf.device("/job:worker"):
        doubled = queue.dequeue(name="take") * 2.0
    with tf.Session(tasks[1].target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="it waits for: take: dequeue on"):
            session.run(doubled, options=milliseconds(50))
        assert waiters(tasks[0]) == 0


def test_closing_a_session_ends_its_waits(server, queue):
    put, take = queue.enqueue(1.0), queue.dequeue()
    session = tf.Session(server.target)
    with blocked(server, session.run, take) as call:
        session.close()
        with pytest.raises(tf.errors.CancelledError, match="the session was closed"):
            call.result()
    with tf.Session(server.target) as other:
        other.run(put)
        assert other.run([queue.size(), take]) == [1, 1.0]


def test_closing_one_session_leaves_the_other_waiting(server, queue):
    put, take = queue.enqueue(1.0), queue.dequeue()
    one, other = tf.Session(server.target), tf.Session(server.target)
    with blocked(server, one.run, take) as first, blocked(server, other.run, take) as second:
        one.close()
        with pytest.raises(tf.errors.CancelledError):
            first.result()
        other.run(put)
        assert second.result() == 1.0
    other.close()


def test_a_reset_ends_waits(server, queue):
    session = tf.Session(server.target)
    with blocked(server, session.run, queue.dequeue()) as call:
        tf.Session.reset(server.target)
        with pytest.raises(tf.errors.AbortedError, match="reset"):
            call.result()
    with pytest.raises(tf.errors.AbortedError, match="open a new one"):
        session.run(queue.size())
    session.close()
    with tf.Session(server.target) as other:
        assert other.run(queue.size()) == 0


def test_a_stopped_task_ends_waits(tasks, queue):
    ps, worker = tasks
    session = tf.Session(worker.target)
    with blocked(ps, session.run, queue.dequeue()) as call:
        ps.stop()
        with pytest.raises(tf.errors.AbortedError, match="/job:ps/replica:0/task:0 is gone"):
            call.result()
    session.close()


def test_a_grace_period_lets_a_step_end(server, queue):
    take = queue.dequeue()
    with tf.Session(server.target) as session, blocked(server, session.run, take) as call:
        stop = Call(server.stop, 15.0)
        session.run(queue.enqueue(4.0))
        assert call.result() == 4.0
        stop.result()
    assert not server.is_running


def test_closing_the_queue_ends_waits(server, queue):
    close = queue.close()
    with tf.Session(server.target) as session:
        with blocked(server, session.run, queue.dequeue()) as call:
            session.run(close)
            with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
                call.result()


def test_closing_the_queue_can_cancel_who_would_put(server, queue):
    fill, put = queue.enqueue_many([[1.0, 2.0]]), queue.enqueue(3.0)
    close = queue.close(cancel_pending_enqueues=True)
    with tf.Session(server.target) as session:
        session.run(fill)
        with blocked(server, session.run, put) as call:
            session.run(close)
            with pytest.raises(tf.errors.CancelledError, match="closed before"):
                call.result()
        assert session.run(queue.size()) == 2


def test_nothing_is_left_of_a_step(tasks):
    with tf.device("/job:ps"):
        x = tf.placeholder(tf.float32, name="x")
        checked = tf.check_numerics(x, "bad")
    with tf.device("/job:worker"):
        y = tf.identity(checked)
    with tf.Session(tasks[1].target) as session:
        for value in (1.0, np.inf):
            try:
                session.run(y, {x: value})
            except tf.errors.InvalidArgumentError:
                pass
        assert [each.task.worker._rendezvous for each in tasks] == [{}, {}]
        assert not any(tasks[1].task.master._active.values())


THREADS, TURNS = 6, 40


def run_together(function):
    """Call `function` with 0, 1, ... at the same time, each in a thread of its own."""
    start = threading.Barrier(THREADS)

    def body(i):
        start.wait(20)
        return function(i)

    calls = [Call(body, i) for i in range(THREADS)]
    return [call.result() for call in calls]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_threads_share_a_session(monkeypatch, executor):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    x = tf.placeholder(tf.int64, [], name="x")
    v = tf.Variable(tf.zeros([], tf.int64))
    add, square = v.assign_add(x), x * x
    with tf.Session() as session:
        session.run(v.initializer)

        def work(i):
            results = [session.run([square, add], {x: i})[0] for _ in range(TURNS)]
            return results == [i * i] * TURNS

        assert run_together(work) == [True] * THREADS
        assert session.run(v) == TURNS * sum(range(THREADS))


def test_sessions_of_many_threads_share_a_variable(tasks):
    with tf.device("/job:ps"):
        v = tf.Variable(0)
    add = v.assign_add(1)
    targets = [each.target for each in tasks]
    with tf.Session(targets[0]) as session:
        session.run(v.initializer)

        def work(i):
            with tf.Session(targets[i % 2], graph=v.graph) as own:
                for _ in range(TURNS):
                    own.run(add.op)

        run_together(work)
        assert session.run(v) == THREADS * TURNS


def test_producers_and_consumers_share_a_session():
    queue = tf.FIFOQueue(3, tf.int32)
    x = tf.placeholder(tf.int32, [], name="x")
    put, take = queue.enqueue(x), queue.dequeue()
    with tf.Session() as session:

        def work(i):
            if i % 2:
                return [session.run(put, {x: i * TURNS + n}) for n in range(TURNS)]
            return [session.run(take) for _ in range(TURNS)]

        found = run_together(work)
        taken = [int(each) for part in found[::2] for each in part]
        assert sorted(taken) == sorted(i * TURNS + n for i in (1, 3, 5) for n in range(TURNS))


def test_a_graph_may_grow_while_others_run():
    base = tf.Variable(1)
    graph = base.graph
    with tf.Session() as session:
        session.run(base.initializer)

        def work(i):
            with graph.as_default():
                return [int(session.run(base + n)) for n in range(TURNS // 4)]

        expected = [1 + n for n in range(TURNS // 4)]
        assert run_together(work) == [expected] * THREADS


@pytest.fixture
def failing():
    """An op whose kernel raises what a test puts into the list."""
    errors = []
    op = OpDef("Failing(x: T) -> y: T [T: type]")

    @op.kernel
    def kernel(x):
        raise errors[0]

    yield errors
    del REGISTRY["Failing"]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(ValueError("v"), tf.errors.InvalidArgumentError, id="ValueError"),
        pytest.param(TypeError("t"), tf.errors.InvalidArgumentError, id="TypeError"),
        pytest.param(IndexError("i"), tf.errors.InvalidArgumentError, id="IndexError"),
        pytest.param(ZeroDivisionError(), tf.errors.InvalidArgumentError, id="ZeroDivisionError"),
        pytest.param(MemoryError("m"), tf.errors.ResourceExhaustedError, id="MemoryError"),
        pytest.param(KeyError("k"), tf.errors.InternalError, id="KeyError"),
        pytest.param(tf.errors.DataLossError("d"), tf.errors.DataLossError, id="our own"),
    ],
)
def test_what_kernels_raise(monkeypatch, failing, executor, error, expected):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    failing.append(error)
    y = tf.negative(raw.Failing(tf.negative(1.0), name="f"))
    with tf.Session() as session:
        for _ in range(2):  # interpreted, then compiled
            with pytest.raises(expected) as raised:
                session.run(y)
            assert raised.value.op.name == "f"
            assert type(raised.value) is expected
            assert raised.value is error or raised.value.__cause__ is error


@pytest.fixture
def put_and_fail():
    """An op whose kernel puts 5 into a queue, and fails."""
    op = OpDef("PutAndFail(handle: resource) -> () !")

    @op.kernel
    def kernel(handle):
        handle.put_one([np.int32(5)]).start(lambda outcome: None)
        raise ValueError("too late")

    yield
    del REGISTRY["PutAndFail"]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.usefixtures("put_and_fail")
def test_what_comes_as_a_step_fails_goes_back(monkeypatch, executor):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    queue = tf.FIFOQueue(9, tf.int32)
    put, take, size = queue.enqueue(6), queue.dequeue(), queue.size()
    fail = raw.PutAndFail(queue.queue_ref)
    with tf.Session() as session:
        for _ in range(2):  # interpreted, then compiled
            with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
                session.run([take, fail])
            session.run(put)
            assert session.run(size) == 2
            assert [session.run(take), session.run(take)] == [5, 6]


def test_a_failed_step_does_not_harm_the_next(server):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.check_numerics(x, "bad")
    with tf.Session(server.target) as session:
        for value in (np.nan, 1.0, np.inf, 2.0):
            if np.isfinite(value):
                assert session.run(y, {x: value}) == value
            else:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(y, {x: value})


def test_what_is_printed_goes_to_the_thread_that_runs(server, capfd):
    with tf.Session(server.target) as session:
        session.run(tf.Print(tf.constant([1, 2]), ["x is", tf.constant([1, 2])]))
    assert capfd.readouterr().err == "[x is][1 2]\n"


def test_what_is_printed_shows_while_the_step_waits(server, queue, capfd):
    with tf.control_dependencies([tf.Print(1, ["before"])]):
        shown = tf.no_op()
    put, take = queue.enqueue(1.0), queue.dequeue()
    seen = []

    def shows():
        seen.append(capfd.readouterr().err)
        return "".join(seen) == "[before]\n"

    with tf.Session(server.target) as session:
        with blocked(server, session.run, [shown, take]) as call:
            until(shows)
            session.run(put)
            call.result()


def test_waiting_steps_do_not_hold_each_other_up(server):
    """Twenty runs wait; a twenty-first goes through."""
    queue = tf.FIFOQueue(100, tf.int32, name="q", shared_name="q")
    take, other = queue.dequeue(), tf.constant(1) + 1
    with tf.Session(server.target) as session:
        calls = [Call(session.run, take) for _ in range(20)]
        until(lambda: waiters(server) == 20)
        assert session.run(other) == 2
        session.run(queue.enqueue_many([list(range(20))]))
        assert sorted(int(call.result()) for call in calls) == list(range(20))


@pytest.fixture(params=[True, False], ids=["called directly", "as from other processes"])
def tasks_either_way(request):
    """The same two tasks, which call each other directly or not."""
    servers = start_servers({"ps": 1, "worker": 1}, inproc=request.param)
    yield servers
    for each in servers:
        each.stop()


@pytest.fixture
def uncollected():
    """Return a function that counts the steps since the test's beginning that nobody collected."""

    def steps():
        return {id(each) for each in gc.get_objects() if type(each) is Step}

    gc.collect()
    gc.disable()
    before = steps()
    yield lambda: len(steps() - before)
    gc.enable()


def test_steps_that_waited_need_no_garbage_collector(tasks_either_way, uncollected):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q")
        put, take = queue.enqueue(1.0), queue.dequeue()
    with tf.device("/job:worker"):
        total = take + 1.0
    with tf.Session(tasks_either_way[1].target) as session:
        session.run([put, total])
        with blocked(tasks_either_way[0], session.run, total, None, milliseconds(60_000)) as call:
            assert uncollected() > 0
            session.run(put)
        assert call.result() == 2.0
        until(lambda: not uncollected())
