"""What is reported of steps in flight: waits, queues, what computes, and what is yet to be done."""

import cProfile
import threading

import pytest

import tfdist as tf
from tests.runtime.blocking import Call, blocked, until, waiters
from tests.runtime.places import EXECUTORS
from tfdist.tracing.waits import key_of, merged

TASK = "/job:local/replica:0/task:0"


@pytest.fixture
def server():
    with tf.train.Server.create_local_server() as server:
        yield server


@pytest.fixture
def session(server):
    with tf.Session(server.target) as session:
        yield session


def report(server):
    return server.task.report()


def queue_of(capacity=2, **more):
    return tf.FIFOQueue(capacity, tf.float32, shapes=[[]], name="q", **more)


def deeds(found, node):
    """Return (what it gives, what waits before it) of a node's deeds in steps in flight."""
    return [
        (pending.gives.partition(" ")[0], pending.behind)
        for pending in found.deeds
        if pending.node == node and pending.step
    ]


def test_nothing_runs(server):
    assert report(server) == merged([])


def test_a_wait_at_a_queue(server, session):
    queue = queue_of(shared_name="shared")
    put, take = queue.enqueue(1.0, name="put"), queue.dequeue_many(2, name="take")
    with blocked(server, session.run, take) as call:
        session.run(put)
        found = report(server)
        session.run(put)
        call.result()
    [wait], [stock], [step] = found.waits, found.stocks, found.steps
    assert (wait.node, wait.op, wait.task, wait.kind) == (
        "take",
        "QueueDequeueManyV2",
        TASK,
        "queue",
    )
    assert wait.text.startswith("dequeue_many(2) on queue 'shared' waits for 1 more element")
    assert (wait.missing, wait.needs, wait.stock) == (1, key_of("elements", stock.key), stock.key)
    assert (stock.kind, stock.name, stock.task) == ("FIFOQueue", "shared", TASK)
    assert (stock.fill, stock.capacity, stock.producers, stock.consumers) == (0, 2, 0, 1)
    assert (step.step, step.master, step.fetches) == (wait.step, TASK, ("take:0",))
    assert 0 <= wait.seconds <= step.seconds
    assert step.session == session._connection.handle


def test_a_wait_for_room(server, session):
    queue = queue_of(1)
    put, take = queue.enqueue(1.0, name="put"), queue.dequeue()
    session.run(put)
    with blocked(server, session.run, put) as call:
        found = report(server)
        session.run(take)
        call.result()
    [wait], [stock] = found.waits, found.stocks
    assert wait.needs == key_of("room", stock.key)
    assert (wait.missing, stock.fill, stock.producers) == (1, 1, 1)


def test_sessions_have_queues_of_their_own_and_share_those_with_a_name(server, session):
    own, shared = queue_of(), queue_of(shared_name="shared")
    takes = [own.dequeue(name="own"), shared.dequeue(name="shared_take")]
    with tf.Session(server.target) as other:
        calls = []
        for each in (session, other):
            for take in takes:
                with blocked(server, each.run, take) as call:
                    calls.append(call)
        found = report(server)
        session.run([own.enqueue(1.0), shared.enqueue_many([[1.0, 2.0]])])
        other.run(own.enqueue(1.0))
        for call in calls:
            call.result()
    keys = {(wait.node, wait.needs) for wait in found.waits}
    assert len([key for node, key in keys if node == "own"]) == 2
    assert len([key for node, key in keys if node == "shared_take"]) == 1


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_a_step_has_still_to_do(monkeypatch, executor):
    monkeypatch.setenv("TFDIST_EXECUTOR", executor)
    first, second, third = (queue_of(), queue_of(), queue_of())
    done = third.enqueue(1.0, name="done")
    with tf.control_dependencies([done]):
        take = first.dequeue(name="take")
    put = second.enqueue(take, name="put")
    with tf.train.Server.create_local_server() as server, tf.Session(server.target) as session:
        with blocked(server, session.run, put) as call:
            found = report(server)
            session.run(first.enqueue(1.0))
            call.result()
    assert deeds(found, "put") == [("elements", ("take",))]
    assert deeds(found, "take") == [("room", ("take",))]
    assert deeds(found, "done") == []


def test_what_nodes_of_the_graph_could_do(server, session):
    queue = queue_of()
    take = queue.dequeue(name="take")
    queue.enqueue(1.0, name="put")
    with blocked(server, session.run, take) as call:
        found = report(server)
        session.run("put")
        call.result()
    [wait] = found.waits
    could = [pending for pending in found.deeds if not pending.step and pending.gives == wait.needs]
    assert [(pending.node, pending.op, pending.task) for pending in could] == [
        ("put", "QueueEnqueueV2", TASK)
    ]


def test_what_a_loop_will_do_in_later_rounds(server, session):
    queue = queue_of()

    def body(i):
        with tf.control_dependencies([queue.enqueue(1.0, name="put")]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])
    with blocked(server, session.run, loop) as call:
        found = report(server)
        session.run(queue.dequeue_many(2))
        call.result()
    [wait] = found.waits
    assert wait.node == "while/put"
    assert deeds(found, "while/put") == [("elements", ("while/put",))]


@pytest.mark.parametrize("runs", [1, 2], ids=["interpreted", "compiled"])
def test_what_computes(server, session, runs):
    began, go_on = threading.Event(), threading.Event()

    def work(x):
        began.set()
        go_on.wait(20)
        return x

    result = tf.py_func(work, [1.0], tf.float32, name="work") + 1.0
    for _ in range(runs - 1):
        go_on.set()
        session.run(result)
    began.clear(), go_on.clear()
    call = Call(session.run, result)
    began.wait(20)
    [step] = report(server).steps
    go_on.set()
    call.result()
    assert step.computing == (f"work on {TASK}",)


def test_a_loop_that_computes(server, session):
    endless = tf.while_loop(lambda i: i > 0, lambda i: i * 1.0, [1.0], name="endless")
    call = Call(session.run, endless)
    until(lambda: report(server).steps and report(server).steps[0].computing)
    [computing] = report(server).steps[0].computing or ("endless",)
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        call.result()
    assert "endless" in computing


def test_a_step_keeps_no_run_when_it_is_over(server, session):
    queue = queue_of()
    take = queue.dequeue()
    with blocked(server, session.run, take) as call:
        [step] = [each for steps in server.task.master._active.values() for each in steps.values()]
        assert step.runs
        session.run(queue.enqueue(1.0))
        call.result()
    assert step.runs == []


def calls_of_a_report(server, session, count):
    """Return how many functions are called to report `count` steps that wait for one queue."""
    queue = queue_of(shared_name=f"of {count}")
    take, close = queue.dequeue(), queue.close()
    calls = [Call(run_until_closed, session, take) for _ in range(count)]
    until(lambda: waiters(server) == count)
    profile = cProfile.Profile(builtins=False)
    found = profile.runcall(report, server)
    session.run(close)
    for call in calls:
        call.result()
    assert len(found.waits) == count
    assert {wait.missing for wait in found.waits} == {1}
    return sum(each.callcount for each in profile.getstats())


def run_until_closed(session, take):
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(take)


def test_a_report_of_many_steps_takes_no_longer_for_each(server, session):
    few, many = (calls_of_a_report(server, session, count) for count in (20, 80))
    assert many < 5 * few, "each step looks at all that wait, or at all threads"
