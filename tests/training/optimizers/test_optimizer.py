"""GradientDescentOptimizer: what it changes, by how much, and what it refuses."""

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.places import EXECUTORS, PLACES


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request, executor):
    with request.param() as place:
        yield place


def sgd(rate=0.5, **arguments):
    return tf.train.GradientDescentOptimizer(rate, **arguments)


def test_a_step_goes_down_the_gradient():
    w = tf.Variable([5.0, 1.0])
    train = sgd(0.25).minimize(tf.reduce_sum(tf.square(w)))
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(train) is None
        assert session.run(w).tolist() == [2.5, 0.5]


def test_a_regression_finds_its_line(place):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2)).astype(np.float32)
    y = x @ [[2.0], [-1.0]] + 0.5
    with tf.device(place.there):
        w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(tf.zeros([1]))
    with tf.device(place.here):
        inputs = tf.placeholder(tf.float32, [None, 2])
        targets = tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs, w) + b - targets))
        train = sgd(0.2).minimize(loss)
    with tf.Session(place.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(train, {inputs: x, targets: y})
        assert session.run(loss, {inputs: x, targets: y}) < 1e-6
        np.testing.assert_allclose(session.run(w), [[2.0], [-1.0]], atol=1e-3)


def test_the_step_counter_is_raised_after_the_update():
    w = tf.Variable(1.0)
    step = tf.Variable(0, trainable=False)
    train = sgd().minimize(w * w, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        assert session.run(step) == 3
    assert train.inputs[0].op is step.op


def test_a_trainable_counter_does_no_harm():
    """Programs make global_step trainable by accident."""
    w, step = tf.Variable(1.0), tf.Variable(0)
    train = sgd().minimize(w * w, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([w, step]) == [0.0, 1]


def test_only_trainable_variables_are_changed():
    w, fixed = tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    train = sgd().minimize(w * w + fixed * fixed)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([w, fixed]) == [0.0, 1.0]


def test_only_the_named_variables_are_changed():
    w, v = tf.Variable(1.0), tf.Variable(1.0)
    train = sgd().minimize(w * w + v * v, var_list=[v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([w, v]) == [1.0, 0.0]


@pytest.mark.parametrize(
    "rate",
    [
        pytest.param(lambda: 0.5, id="a function"),
        pytest.param(tf.float32.as_numpy_dtype(0.5), id="a NumPy number"),
        pytest.param(1, id="an integer"),
    ],
)
def test_learning_rates(rate):
    w = tf.Variable(4.0)
    train = sgd(rate).minimize(w)
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        assert session.run(w) == 4.0 - float(rate() if callable(rate) else rate)


def test_a_rate_can_be_fed():
    w = tf.Variable(4.0)
    rate = tf.placeholder(tf.float32, [])
    train = sgd(rate).minimize(w)
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train, {rate: 3.0})
        assert session.run(w) == 1.0


def test_variables_of_another_type():
    w = tf.Variable(4.0, dtype=tf.float64)
    train = sgd(0.5).minimize(w)
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        assert session.run(w) == 3.5


def test_gradients_can_be_changed_on_the_way():
    w, unused = tf.Variable(10.0), tf.Variable(1.0)
    optimizer = sgd(1.0)
    pairs = optimizer.compute_gradients(w * w)
    assert [variable for _, variable in pairs] == [w, unused]
    assert pairs[1][0] is None
    clipped = [(None if g is None else tf.minimum(g, 1.0), v) for g, v in pairs]
    train = optimizer.apply_gradients(clipped, name="apply")
    assert train.name == "apply"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(w) == 9.0


def test_rows_that_were_looked_up_are_changed_alone():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    rows = tf.gather(table, [0, 2, 2])
    train = sgd(0.5).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(table.initializer)
        session.run(train)
        assert session.run(table).tolist() == [[0.5], [2.0], [2.0]]


def test_an_update_sits_with_its_variable():
    with tf.device("/job:ps/task:1"):
        w = tf.Variable(1.0, name="w")
    with tf.device("/job:worker"):
        sgd(name="SGD").minimize(w * w)
    update = w.graph.get_operation_by_name("SGD/update_w/ApplyGradientDescent")
    assert update.device == "/job:ps/task:1"
    assert update.colocation_groups() == [b"loc:@w"]


def test_the_train_op_is_in_its_collection():
    w = tf.Variable(1.0)
    train = sgd().minimize(w)
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]
    assert (train.name, sgd().get_name()) == ("GradientDescent", "GradientDescent")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        pytest.param(
            lambda w: sgd().minimize(tf.constant(1.0)),
            "depends on none|No gradients|no gradients",
            id="a loss that depends on no variable",
        ),
        pytest.param(
            lambda w: sgd().minimize(w, var_list=[]), "[Nn]o variables", id="no variables at all"
        ),
        pytest.param(
            lambda w: sgd().apply_gradients([(None, w)]), "[Nn]o gradients", id="no gradient at all"
        ),
        pytest.param(lambda w: sgd(name=""), "name", id="no name"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call(tf.Variable(1.0, name="w"))


def test_two_workers_train_one_variable():
    """Between-graph replication: each has a graph of its own, the variable is one."""
    from tfdist.wire.server import start_servers

    servers = start_servers({"ps": 1, "worker": 2})
    sessions = []
    try:
        for index in (0, 1):
            with tf.Graph().as_default() as graph:
                device = f"/job:worker/task:{index}"
                setter = tf.train.replica_device_setter(ps_tasks=1, worker_device=device)
                with tf.device(setter):
                    w = tf.Variable(8.0, name="w")
                    sgd(0.25, name="train").minimize(w * w)
            sessions.append(tf.Session(servers[1 + index].target, graph=graph))
        sessions[0].run("w/Assign")
        for session in (*sessions, *sessions):
            session.run("train")
        assert [session.run("w:0") for session in sessions] == [0.5, 0.5]
    finally:
        for each in (*sessions, *reversed(servers)):
            each.close() if isinstance(each, tf.Session) else each.stop()
