"""What users feed and fetch in sessions of other processes: it crosses whole, and is theirs."""

import gc
import weakref

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call
from tests.wire.codec.tensor_cases import PLAIN

LARGE = 300_000  # elements; they take another way than few

pytestmark = pytest.mark.usefixtures("transport")


@pytest.mark.parametrize("dtype", PLAIN, ids=lambda dtype: dtype.name)
def test_numbers_come_back_as_they_went_in(session, dtype):
    x = tf.placeholder(dtype)
    y = tf.identity(x)
    for shape in [(), (0,), (3,), (2, 0, 3), (2, 3), (LARGE,)]:
        count = np.prod(shape, dtype=int)
        given = (np.arange(count) % 100).reshape(shape).astype(dtype.as_numpy_dtype)
        back = session.run(y, {x: given})
        assert (back.dtype, back.shape) == (given.dtype, given.shape)
        assert np.array_equal(back, given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"a\0\xff", id="any bytes"),
        pytest.param([b"", b"a", b"b" * 300], id="several"),
        pytest.param([[b"x"]], id="a matrix"),
        pytest.param(np.empty([0, 2], object), id="none"),
        pytest.param([b"x" * 1_000_000, b"y"], id="a megabyte"),
    ],
)
def test_strings_come_back_as_they_went_in(session, given):
    x = tf.placeholder(tf.string)
    back = session.run(tf.identity(x), {x: given})
    assert np.array_equal(back, np.asarray(given, object))
    assert np.shape(back) == np.shape(given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(np.arange(2 * LARGE, dtype=np.float32)[::2], id="every other one"),
        pytest.param(np.arange(LARGE, dtype=np.float32).reshape(-1, 3).T, id="turned"),
        pytest.param(np.broadcast_to(np.float32(2), (LARGE,)), id="one for all"),
        pytest.param(np.arange(LARGE, dtype=">f4"), id="the other byte order"),
        pytest.param(np.arange(LARGE, dtype=np.int64), id="another type"),
    ],
)
def test_arrays_of_all_layouts_can_be_fed(session, given):
    x = tf.placeholder(tf.float32)
    assert np.array_equal(session.run(tf.identity(x), {x: given}), given)


def test_what_is_fed_may_be_changed_after_the_run(session):
    x = tf.placeholder(tf.float32, [LARGE])
    v = tf.Variable(tf.zeros([LARGE]))
    fill = v.assign(x)
    given = np.ones(LARGE, np.float32)
    session.run(fill.op, {x: given})
    given[:] = 5
    assert {*session.run(v).tolist()} == {1.0}


@pytest.mark.parametrize("size", [3, LARGE])
def test_fetched_arrays_are_the_callers_own(session, size):
    v = tf.Variable(tf.ones([size]))
    session.run(v.initializer)
    copies = [session.run(v), *session.run([v, tf.identity(v)])]
    for i, each in enumerate(copies):
        assert each.flags.writeable
        each[:] = 10 + i
    assert [{*each.tolist()} for each in copies] == [{10.0}, {11.0}, {12.0}]
    assert {*session.run(v).tolist()} == {1.0}


def test_fetched_arrays_outlive_session_and_server(server):
    x = tf.fill([LARGE], 3.0)
    with tf.Session(server.target) as session:
        value = session.run(x)
    server.stop()
    gc.collect()
    value[0] = 4
    assert value.sum() == 3 * LARGE + 1


def test_a_fetched_variable_is_of_one_moment(server, session):
    """It is read while others write to it, and never torn."""
    v = tf.Variable(tf.zeros([LARGE]))
    add = v.assign_add(tf.ones([LARGE])).op
    session.run(v.initializer)

    def write():
        with tf.Session(server.target, graph=v.graph) as other:
            for _ in range(40):
                other.run(add)

    writer = Call(write)
    seen = [session.run(v) for _ in range(30)]
    writer.result()
    assert all(each.min() == each.max() for each in seen)
    assert session.run(v)[0] == 40


def test_a_tensor_between_tasks_is_of_one_moment(tasks):
    with tf.device("/job:ps"):
        v = tf.Variable(tf.zeros([LARGE]))
        add = v.assign_add(tf.ones([LARGE])).op
    with tf.device("/job:worker/task:0"):
        spread = tf.reduce_max(v) - tf.reduce_min(v)
    with tf.Session(tasks[1].target) as session:
        session.run(v.initializer)

        def write():
            with tf.Session(tasks[2].target, graph=v.graph) as other:
                for _ in range(30):
                    other.run(add)

        writer = Call(write)
        assert {session.run(spread) for _ in range(30)} == {0.0}
        writer.result()


def test_a_failed_run_lets_go_of_what_it_was_fed(session):
    """At once, and not when Python looks for cycles."""
    x = tf.placeholder(tf.float32, [LARGE])
    y = tf.check_numerics(x, "bad")
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            given = np.full(LARGE, np.inf, np.float32)
            lives = weakref.ref(given)
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(y, {x: given})
            del given
            assert lives() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("use_resource", [True, False], ids=["variable", "queue"])
def test_a_handle_stays_on_its_task(session, use_resource):
    if use_resource:
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], name="handle")
    else:
        handle = tf.FIFOQueue(1, [tf.float32], name="handle").queue_ref
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'handle.*stays on its task.*fetch"):
        session.run(handle)


def test_float32_crosses_as_bfloat16_if_that_is_wanted(two):
    """Values as TensorFlow 1.15.5 gives them; a loop over two tasks as well."""
    with tf.device("/job:worker"):
        x = tf.placeholder(tf.float32, [3])
        y = tf.identity(x, name="y")
        exact = tf.identity(tf.cast(x, tf.float64), name="exact")
    with tf.device("/job:ps"):
        near, wide = tf.identity(y, name="near"), tf.identity(exact, name="wide")

        def body(i, total):
            with tf.device("/job:worker"):
                return i + 1, total * 2.0

        loop = tf.while_loop(lambda i, _: i < 5, body, (0, 1.0))
    options = tf.GraphOptions(enable_bfloat16_sendrecv=True)
    feeds = {x: [1.00390625, 3.14159, 1e-3]}
    with tf.Session(two[0].target, config=tf.ConfigProto(graph_options=options)) as session:
        found, also, ended = session.run([near, wide, loop], feeds)
    cut = np.array([1.0, 3.140625, 0.00099945068], np.float32)
    np.testing.assert_array_equal(found, cut)
    np.testing.assert_array_equal(also, cut.astype(np.float64))  # as the feed crossed, too
    assert ended == (5, 32.0)
