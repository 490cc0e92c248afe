"""Queues: elements, batches, closing; the waiting itself is tested in tests/runtime."""

import contextlib

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def test_its_nodes_have_tensorflows_names():
    q = tf.FIFOQueue(3, ["float32", tf.int32], [[], [2]], name="qq")
    nodes = [
        q.enqueue([1.0, [1, 2]]), q.enqueue_many([[1.0], [[1, 2]]]), q.dequeue()[0],
        q.dequeue_many(2)[0], q.dequeue_up_to(2)[0], q.close(), q.size(), q.is_closed(),
    ]  # fmt: skip
    assert [node.name for node in nodes] == [
        "qq_enqueue", "qq_EnqueueMany", "qq_Dequeue:0", "qq_DequeueMany:0", "qq_DequeueUpTo:0",
        "qq_Close", "qq_Size:0", "qq_Is_Closed:0",
    ]  # fmt: skip
    assert tf.FIFOQueue(1, "int32").dequeue().name == "fifo_queue_Dequeue:0"


def test_what_is_known_of_shapes():
    q = tf.FIFOQueue(3, ["float32", "int32"], [[], [2]])
    assert [str(part.shape) for part in q.dequeue()] == ["()", "(2,)"]
    assert [str(part.shape) for part in q.dequeue_many(5)] == ["(5,)", "(5, 2)"]
    assert [str(part.shape) for part in q.dequeue_up_to(5)] == ["(?,)", "(?, 2)"]


def test_elements_come_in_order_and_as_batches(session):
    q = tf.FIFOQueue(9, ["float32", "string"], [[], [2]])
    session.run(q.enqueue_many([[1, 2, 3], [["a", "b"], ["c", "d"], ["e", "f"]]]))
    number, words = session.run(q.dequeue())
    assert (number, words.tolist()) == (1.0, [b"a", b"b"])
    numbers, words = session.run(q.dequeue_many(2))
    assert (numbers.tolist(), words.tolist()) == ([2.0, 3.0], [[b"c", b"d"], [b"e", b"f"]])


def test_components_can_have_names(session):
    q = tf.FIFOQueue(2, ["float32", "int32"], [[], []], names=["x", "y"])
    session.run(q.enqueue({"x": 1.0, "y": 2}))
    assert session.run(q.dequeue()) == {"x": 1.0, "y": 2}


def test_one_component_needs_no_list(session):
    q = tf.FIFOQueue(2, tf.float32, shapes=[2])
    session.run(q.enqueue(np.array([1.0, 2.0])))
    assert session.run(q.dequeue()).tolist() == [1.0, 2.0]


def test_values_take_the_components_type(session):
    q = tf.FIFOQueue(2, tf.float32, [[]])
    session.run(q.enqueue(np.float64(1.5)))
    assert session.run(q.dequeue()).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error"),
    [
        pytest.param(lambda q: q.enqueue([]), ValueError, id="no components"),
        pytest.param(lambda q: q.enqueue([1.0, [1, 2, 3]]), ValueError, id="another shape"),
        pytest.param(lambda q: q.enqueue(["a", [1, 2]]), TypeError, id="another type"),
        pytest.param(lambda q: q.enqueue({"x": 1.0}), ValueError, id="names it does not have"),
        pytest.param(
            lambda q: tf.FIFOQueue(1, ["int32"], [[], []]), ValueError, id="too many shapes"
        ),
    ],
)
def test_what_does_not_fit_is_told_while_building(call, error):
    q = tf.FIFOQueue(3, ["float32", "int32"], [[], [2]])
    with pytest.raises(error):
        call(q)


def test_a_shape_that_only_the_run_knows_is_checked_there(session):
    q = tf.FIFOQueue(3, tf.float32, [[2]])
    x = tf.placeholder(tf.float32, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds elements of float32"):
        session.run(q.enqueue(x), {x: [1.0, 2.0, 3.0]})


def test_batches_need_shapes(session):
    q = tf.FIFOQueue(3, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="made with shapes="):
        session.run(q.dequeue_many(2))


def test_a_closed_queue_gives_what_it_has(session):
    q = tf.FIFOQueue(5, tf.int32, [[]])
    session.run(q.enqueue_many([[1, 2, 3]]))
    session.run(q.close())
    assert session.run(q.is_closed())
    with pytest.raises(tf.errors.OutOfRangeError, match="requested 4, current size 3"):
        session.run(q.dequeue_many(4))
    assert session.run(q.dequeue_up_to(4)).tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(q.dequeue())
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        session.run(q.enqueue(4))


def test_a_shared_name_is_one_queue(session):
    one = tf.FIFOQueue(3, tf.int32, [[]], shared_name="common")
    other = tf.FIFOQueue(3, tf.int32, [[]], shared_name="common")
    session.run(one.enqueue(7))
    assert session.run(other.dequeue()) == 7


def test_a_shared_name_with_other_components_is_an_error(session):
    one = tf.FIFOQueue(3, tf.int32, [[]], shared_name="common")
    other = tf.FIFOQueue(3, tf.float32, [[]], shared_name="common")
    session.run(one.enqueue(7))
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="component types int32 but requested component types were float32",
    ):
        session.run(other.dequeue())


def in_two_sessions(make):
    """Return what `make` gives in each of two graphs with a session on one server."""
    stack = contextlib.ExitStack()
    server = stack.enter_context(tf.train.Server.create_local_server())
    found = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            found.append((stack.enter_context(tf.Session(server.target, graph=graph)), make()))
    return stack, found


@pytest.mark.parametrize("shared_name", [None, "common"])
def test_sessions_of_a_server_share_what_has_a_shared_name(shared_name):
    def make():
        queue = tf.FIFOQueue(3, tf.int32, shared_name=shared_name)
        return queue.enqueue(7), queue.size()

    stack, [(one, (put, _)), (other, (_, size))] = in_two_sessions(make)
    with stack:
        one.run(put)
        assert other.run(size) == (1 if shared_name else 0)


def test_a_session_ends_with_its_own_queues():
    queue = tf.FIFOQueue(3, tf.int32)
    close, is_closed = queue.close(), queue.is_closed()
    with tf.train.Server.create_local_server() as server:
        with tf.Session(server.target) as session:
            session.run(close)
            assert session.run(is_closed)
        assert server.task.worker.resources.rows() == []
        with tf.Session(server.target) as session:
            assert not session.run(is_closed)


def test_programs_subclass_queues(session):
    class Twice(tf.FIFOQueue):
        def enqueue(self, vals, name=None):
            return tf.group(super().enqueue(vals, name), super().enqueue(vals))

    queue = Twice(9, tf.int32, [[]], name="twice")
    session.run(queue.enqueue(4))
    assert isinstance(queue, tf.QueueBase)
    assert session.run(queue.dequeue_many(2)).tolist() == [4, 4]


def test_what_was_put_is_no_longer_the_users(session):
    for queue in (tf.FIFOQueue(9, tf.float32, [[2]]), tf.RandomShuffleQueue(9, 0, tf.float32)):
        x = tf.placeholder(tf.float32, [None])
        fed = np.ones(2, np.float32)
        session.run(queue.enqueue(x), {x: fed})
        fed[:] = 5
        assert session.run(queue.dequeue()).tolist() == [1.0, 1.0]


def test_what_was_taken_is_private(session):
    queue = tf.FIFOQueue(9, tf.float32, [[2]])
    session.run(queue.enqueue_many(np.ones([4, 2], np.float32)))
    for take in (queue.dequeue_many(2), queue.dequeue()):
        taken = session.run(take)
        taken[:] = 9
    assert session.run(queue.dequeue()).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shapes", [[[]], None])
def test_a_seed_repeats_the_order(shapes):
    def order():
        with tf.Graph().as_default(), tf.Session() as session:
            queue = tf.RandomShuffleQueue(99, 0, tf.int32, shapes, seed=5)
            session.run(queue.enqueue_many([list(range(30))]))
            take = queue.dequeue()
            return [int(session.run(take)) for _ in range(30)]

    assert order() == order()
    assert order() != sorted(order()) == list(range(30))


def test_a_wait_tells_what_stays_in(session):
    queue = tf.RandomShuffleQueue(9, 4, tf.int32, [[]], name="many")
    session.run(queue.enqueue_many([[1, 2]]))
    with pytest.raises(
        tf.errors.DeadlineExceededError,
        match=r"dequeue on queue 'many' waits for 3 more elements .it holds 2 of 9, and keeps 4",
    ):
        session.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=300))
