"""Partial runs: one step that several calls feed and fetch."""

import gc
import os
import signal
import threading
import weakref

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until
from tests.runtime.places import EXECUTORS, PLACES, Place
from tfdist import errors


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


@pytest.fixture
def session(place):
    with tf.Session(place.target) as session:
        yield session


class Sum:
    """Placeholders, and what is made of them on two tasks."""

    def __init__(self, place):
        self.a, self.b, self.c = (tf.placeholder(tf.float32, [], name) for name in "abc")
        with tf.device(place.there):
            self.sum = tf.add(self.a, self.b, name="sum")
        with tf.device(place.here):
            self.product = tf.multiply(self.sum, self.c, name="product")

    def set_up(self, session):
        return session.partial_run_setup([self.sum, self.product], [self.a, self.b, self.c])


@pytest.fixture
def graph_of_sum(place):
    return Sum(place)


def refused(words, call, *args):
    with pytest.raises(errors.InvalidArgumentError) as info:
        call(*args)
    assert info.value.message == words


def gone(session, run, fetches):
    with pytest.raises(errors.InvalidArgumentError, match=r"^Must run .*[sS]etup.* before perform"):
        session.partial_run(run, fetches)


def test_a_run_goes_on_call_by_call(session, graph_of_sum):
    g = graph_of_sum
    for _ in range(3):  # interpreted first, compiled then
        run = g.set_up(session)
        assert session.partial_run(run, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0
        assert session.partial_run(run, {"p": [g.product]}, {g.c: 3.0}) == {"p": [9.0]}
        gone(session, run, g.product)


def test_feeds_and_fetches_come_one_by_one(session, graph_of_sum):
    g = graph_of_sum
    run = g.set_up(session)
    assert session.partial_run(run, [], {"a:0": 1.0}) == []
    assert session.partial_run(run, []) == []
    assert session.partial_run(run, [], {g.c: 5.0}) == []
    assert session.partial_run(run, ("product:0", g.sum), {g.b: 2.0}) == (15.0, 3.0)


def test_two_runs_know_nothing_of_each_other(session, graph_of_sum):
    g = graph_of_sum
    one, other = g.set_up(session), g.set_up(session)
    assert session.partial_run(one, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0
    assert session.partial_run(other, g.sum, {g.a: 10.0, g.b: 2.0}) == 12.0
    assert session.run(g.product, {g.a: 1.0, g.b: 1.0, g.c: 7.0}) == 14.0
    assert session.partial_run(other, g.product, {g.c: 10.0}) == 120.0
    assert session.partial_run(one, g.product, {g.c: 3.0}) == 9.0


def test_what_is_refused_changes_nothing(session, graph_of_sum):
    g = graph_of_sum
    run = session.partial_run_setup([g.sum, g.product], [g.a, g.b, g.c])
    other = tf.identity(g.sum, name="other")
    go_on = session.partial_run
    refused("The fetch other:0 was not specified in partial_run_setup.", go_on, run, other)
    words = "The feed sum:0 was not specified in partial_run_setup."
    refused(words, go_on, run, [], {g.sum: 1.0})
    words = "Fetch b:0 can't be computed from the feeds that have been fed so far."
    refused(words, go_on, run, g.sum, {g.a: 1.0})
    assert go_on(run, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0
    refused("The feed a:0 has already been fed.", go_on, run, g.product, {g.c: 1.0, g.a: 1.0})
    refused("The fetch sum:0 has already been fetched.", go_on, run, [g.product, g.sum])
    words = "Fetch c:0 can't be computed from the feeds that have been fed so far."
    refused(words, go_on, run, g.product)
    with pytest.raises(ValueError, match="shape"):
        go_on(run, g.product, {g.c: [1.0, 2.0]})
    with pytest.raises(RuntimeError, match=r"partial_run\(\) requires empty target_list"):
        go_on(run, g.product.op, {g.c: 1.0})
    assert go_on(run, g.product, {g.c: 2.0}) == 6.0


def test_what_cannot_be_set_up(session, graph_of_sum):
    g = graph_of_sum
    refused("sum:0 is both fed and fetched.", session.partial_run_setup, [g.sum], [g.sum])
    for fetches, feeds in (([], [g.a]), ([g.sum], [g.a, g.a])):
        with pytest.raises(errors.InvalidArgumentError):
            session.partial_run_setup(fetches, feeds)
    for fetches, feeds in ((3, [g.a]), ([g.sum], [3])):
        with pytest.raises(TypeError):
            session.partial_run_setup(fetches, feeds)


def test_a_handle_is_of_one_session(place, session, graph_of_sum):
    g = graph_of_sum
    run = g.set_up(session)
    gone(session, "nothing", g.sum)
    with tf.Session(place.target) as other:
        gone(other, run, g.sum)
    with pytest.raises(TypeError):
        session.partial_run(3, g.sum)
    assert session.partial_run(None, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0


def test_what_nothing_needs_may_be_fed_too(session, graph_of_sum):
    g = graph_of_sum
    run = session.partial_run_setup([g.sum], [g.a, g.b, g.c])
    assert session.partial_run(run, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0
    assert session.partial_run(run, [], {g.c: 1.0}) == []
    gone(session, run, [])


def test_what_other_nodes_make_is_fed(session, graph_of_sum):
    g = graph_of_sum
    run = session.partial_run_setup(g.product, [g.sum, g.c])
    assert session.partial_run(run, g.product, {g.sum: 4.0, g.c: 3.0}) == 12.0


def test_state_changes_once(place, session):
    a = tf.placeholder(tf.float32, [])
    b = tf.placeholder(tf.float32, [])
    with tf.device(place.there):
        variable = tf.Variable(0.0)
        first, also = variable.assign_add(a), variable.assign_add(100.0)
        with tf.control_dependencies([first, also]):
            last = variable.assign_add(b)
    session.run(variable.initializer)
    run = session.partial_run_setup([also.op, first, last], [a, b])
    assert session.partial_run(run, first, {a: 1.0}) in (1.0, 101.0)
    assert session.partial_run(run, last, {b: 10.0}) == 111.0
    assert session.run(variable) == 111.0


def test_random_numbers_are_drawn_once(place, session):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(place.there):
        x = tf.random_uniform([])
    y, z = x + a, x + b
    run = session.partial_run_setup([x, y, z], [a, b])
    found = session.partial_run(run, x)
    assert session.partial_run(run, y, {a: 1.0}) == pytest.approx(found + 1.0)
    assert session.partial_run(run, z, {b: 2.0}) == pytest.approx(found + 2.0)


def test_values_belong_to_the_caller(place, session):
    x = tf.placeholder(tf.float32, [2])
    with tf.device(place.there):
        variable = tf.Variable([1.0, 2.0])
        total = variable + x
    session.run(variable.initializer)
    run = session.partial_run_setup([variable, total], [x])
    found = session.partial_run(run, variable)
    found[:] = 9.0
    given = np.float32([1.0, 1.0])
    assert session.partial_run(run, total, {x: given}).tolist() == [2.0, 3.0]
    assert session.run(variable).tolist() == [1.0, 2.0]


def test_words_and_sparse_tensors(session):
    word = tf.placeholder(tf.string, [])
    sparse = tf.sparse_placeholder(tf.float32)
    twice = sparse.values * 2.0
    joined = tf.string_join([word, "!"])
    run = session.partial_run_setup([joined, twice], [word, sparse])
    assert session.partial_run(run, joined, {word: "hello"}) == b"hello!"
    value = tf.SparseTensorValue([[0]], [1.5], [3])
    assert session.partial_run(run, twice, {sparse: value}).tolist() == [3.0]


def test_a_queue_is_waited_for(place, session):
    a = tf.placeholder(tf.int32, [])
    with tf.device(place.there):
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="partial")
        put, take, size = queue.enqueue(7), queue.dequeue() + a, queue.size()
    doubled = a * 2
    run = session.partial_run_setup([take, doubled], [a])
    assert session.partial_run(run, doubled, {a: 1}) == 2
    waiting = Call(session.partial_run, run, take)
    session.run(put)
    assert waiting.result() == 8
    assert session.run(size) == 0


def test_a_loop_and_a_branch(place, session):
    n, taken = tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
    with tf.device(place.there):
        total = tf.while_loop(lambda i: i < n, lambda i: i + 2, [0])
        chosen = tf.cond(taken, lambda: total + 1, lambda: n)
    for truth, expected in ((True, 7), (False, 5)):
        run = session.partial_run_setup([total, chosen], [n, taken])
        assert session.partial_run(run, total, {n: 5}) == 6
        assert session.partial_run(run, chosen, {taken: truth}) == expected


def test_a_side_that_was_not_taken(session):
    x, taken = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    no, yes = tf.raw_ops.Switch(data=x, pred=taken)
    no, yes = tf.identity(no, name="no"), tf.identity(yes, name="yes")
    run = session.partial_run_setup([no, yes], [x, taken])
    assert session.partial_run(run, yes, {x: 1.0, taken: True}) == 1.0
    refused("The tensor returned for no:0 was not valid.", session.partial_run, run, no)
    gone(session, run, no)


def test_an_error_ends_the_run(place, session, graph_of_sum):
    g = graph_of_sum
    divisor = tf.placeholder(tf.int32, [])
    with tf.device(place.there):
        quotient = tf.floordiv(10, divisor, name="quotient")
    run = session.partial_run_setup([g.sum, quotient], [g.a, g.b, divisor])
    with pytest.raises(errors.InvalidArgumentError, match="division by zero") as info:
        session.partial_run(run, quotient, {divisor: 0})
    assert info.value.node_name == "quotient"
    gone(session, run, g.sum)


def test_the_graph_grows_meanwhile(session, graph_of_sum):
    g = graph_of_sum
    run = g.set_up(session)
    assert session.partial_run(run, g.sum, {g.a: 1.0, g.b: 2.0}) == 3.0
    assert session.run(g.sum + 1.0, {g.a: 1.0, g.b: 1.0}) == 3.0
    assert session.partial_run(run, g.product, {g.c: 3.0}) == 9.0


def test_two_threads_go_on_with_one_run(session, graph_of_sum):
    g = graph_of_sum
    run = session.partial_run_setup([g.sum, g.product, g.a + 1.0, g.b + 1.0], [g.a, g.b, g.c])
    one = Call(session.partial_run, run, [], {g.a: 1.0})
    other = Call(session.partial_run, run, [], {g.b: 2.0})
    assert one.result() == other.result() == []
    assert session.partial_run(run, [g.product, g.sum], {g.c: 3.0}) == [9.0, 3.0]


def test_a_closed_session_ends_its_runs(place, executor, graph_of_sum):
    g = graph_of_sum
    with tf.device(place.there):
        take = tf.FIFOQueue(3, tf.float32, shapes=[[]]).dequeue()
    session = tf.Session(place.target)
    idle = g.set_up(session)
    session.partial_run(idle, g.sum, {g.a: 1.0, g.b: 2.0})
    blocked = session.partial_run_setup([take, g.sum], [g.a, g.b])
    session.partial_run(blocked, g.sum, {g.a: 1.0, g.b: 2.0})
    call = Call(session.partial_run, blocked, take)
    session.close()
    with pytest.raises((errors.CancelledError, RuntimeError)):
        call.result()
    with pytest.raises(RuntimeError, match="closed"):
        session.partial_run(idle, g.product, {g.c: 1.0})


def test_runs_that_nobody_ends_leave_with_their_session(graph_of_sum, place):
    g = graph_of_sum
    session = tf.Session(place.target)
    for _ in range(3):
        session.partial_run(g.set_up(session), g.sum, {g.a: 1.0, g.b: 2.0})
    connection = weakref.ref(session._connection)
    del session
    gc.collect()
    assert connection() is None


def test_a_finished_run_leaves_nothing():
    g = Sum(Place("", "/cpu:0", "/cpu:0"))
    with tf.Session() as session:
        for _ in range(3):
            run = g.set_up(session)
            session.partial_run(run, [g.sum, g.product], {g.a: 1.0, g.b: 2.0, g.c: 3.0})
        master = session._connection.master
        assert not master.is_busy
        assert not master.peers._own.worker._rendezvous
        assert not any(master.partial_runs._open.values())


def test_a_call_takes_no_longer_than_it_may():
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as session:
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]], name="empty")
        take = queue.dequeue()
        run = session.partial_run_setup(take)
        with pytest.raises(errors.DeadlineExceededError, match="empty"):
            session.partial_run(run, take)
        gone(session, run, take)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_control_c_ends_the_run_and_loses_nothing():
    with tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
        put, take, size = queue.enqueue(7), queue.dequeue(), queue.size()
        run = session.partial_run_setup(take)
        session.run(size)
        [task] = [session._connection.master.peers._own]
        rows = task.worker.resources.rows

        def press():
            until(lambda: any(row[1] == "queue" and row[-1].state.takes for row in rows()))
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            session.partial_run(run, take)
        thread.join()
        session.run(put)
        assert session.run(size) == 1
        gone(session, run, take)
        assert session.run(take) == 7
