"""Arrays that come out belong to the caller; arrays that went in are never changed or followed."""

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place, tf.device(place.there):
        yield place


@pytest.fixture
def session(place):
    with tf.Session(place.target) as session:
        yield session


def spoil(array):
    """Write to every element of a fetched array."""
    assert array.flags.writeable
    array[...] = -1


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: tf.constant([1.0, 2.0]), id="a constant"),
        pytest.param(lambda: tf.identity(tf.constant([1.0, 2.0])), id="what is handed on"),
        pytest.param(lambda: tf.reshape(tf.constant([[1.0], [2.0]]), [2]), id="a view"),
        pytest.param(lambda: tf.constant([0.0, 1.0, 2.0])[1:], id="a slice"),
        pytest.param(lambda: tf.unstack(tf.constant([[1.0, 2.0]]))[0], id="a part"),
        pytest.param(lambda: tf.constant([0.5, 1.0]) * 2.0, id="a result"),
    ],
)
def test_a_fetched_array_can_be_spoiled(session, make):
    tensor = make()
    for _ in range(3):
        found = session.run(tensor)
        assert found.tolist() == [1.0, 2.0]
        spoil(found)


def test_fetches_of_one_value_under_two_names_do_not_share(session):
    x = tf.constant([1.0, 2.0]) * 1.0
    y = tf.identity(x)
    for _ in range(3):
        one, other = session.run([x, y])
        spoil(one)
        assert other.tolist() == [1.0, 2.0]


def test_a_fetched_variable_can_be_spoiled(session):
    v = tf.Variable([1.0, 2.0])
    reads = [v, v.value(), v.read_value(), tf.identity(v)]
    session.run(v.initializer)
    for _ in range(2):
        for each in reads:
            found = session.run(each)
            assert found.tolist() == [1.0, 2.0]
            spoil(found)


def test_what_an_assignment_gives_can_be_spoiled(session):
    v = tf.Variable([0.0, 0.0])
    assign, add = v.assign([1.0, 1.0]), v.assign_add([1.0, 1.0])
    spoil(session.run(assign))
    spoil(session.run(add))
    assert session.run(v).tolist() == [2.0, 2.0]


def test_a_fetch_is_not_changed_by_later_steps(session):
    v = tf.Variable([1.0, 2.0])
    add = v.assign_add([1.0, 1.0]).op
    session.run(v.initializer)
    before = session.run(v)
    session.run(add)
    assert before.tolist() == [1.0, 2.0]


def test_two_variables_do_not_share(session):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    session.run(v.initializer)
    session.run(tf.assign(w, v))
    session.run(tf.scatter_update(v, [0], [9.0]))
    session.run(v.assign_add([1.0, 1.0]))
    assert session.run([v, w])[1].tolist() == [1.0, 2.0]


def test_a_variable_keeps_what_was_fed(session):
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [2])
    assign = v.assign(x)
    for value in (1.0, 2.0):
        array = np.full(2, value, np.float32)
        session.run(assign, {x: array})
        array[:] = -1
        assert session.run(v).tolist() == [value, value]


def test_a_variable_keeps_what_was_fed_through_other_nodes(session):
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [1, 2])
    assign = v.assign(tf.reshape(tf.identity(x), [2]))
    array = np.ones((1, 2), np.float32)
    session.run(assign, {x: array})
    array[:] = -1
    assert session.run(v).tolist() == [1.0, 1.0]


def test_a_fed_array_is_not_changed(session):
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [2])
    array = np.ones(2, np.float32)
    session.run(v.assign(x), {x: array})
    session.run(v.assign_add([1.0, 1.0]))
    session.run(tf.scatter_add(v, [0], [5.0]))
    assert array.tolist() == [1.0, 1.0]


def test_a_fetch_of_a_feed_is_a_copy(session):
    x = tf.placeholder(tf.float32, [2])
    array = np.ones(2, np.float32)
    for tensor in (x, tf.identity(x), tf.reshape(x, [2])):
        spoil(session.run(tensor, {x: array}))
        assert array.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_queue_keeps_what_was_fed(session, many):
    queue = tf.FIFOQueue(5, tf.float32, shapes=[[2]])
    x = tf.placeholder(tf.float32, [1, 2] if many else [2])
    put = queue.enqueue_many(x) if many else queue.enqueue(x)
    array = np.ones(x.shape.as_list(), np.float32)
    session.run(put, {x: array})
    array[...] = -1
    assert session.run(queue.dequeue()).tolist() == [1.0, 1.0]


def test_what_comes_out_of_a_queue_can_be_spoiled(session):
    queue = tf.FIFOQueue(5, tf.float32, shapes=[[2]])
    constant = tf.constant([1.0, 2.0])
    put, take = queue.enqueue(constant), queue.dequeue()
    for _ in range(2):
        session.run(put)
        spoil(session.run(take))
    assert session.run(constant).tolist() == [1.0, 2.0]


def test_fetched_strings_can_be_spoiled(session):
    words = tf.constant(["a", "b"])
    session.run(words)[0] = b"changed"
    assert session.run(words).tolist() == [b"a", b"b"]


def test_a_fed_view_is_not_followed(session):
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [2])
    base = np.arange(4, dtype=np.float32)
    session.run(v.assign(x), {x: base[::2]})
    base[:] = -1
    assert session.run(v).tolist() == [0.0, 2.0]
