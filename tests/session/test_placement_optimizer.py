"""`Session.optimize_placement` on servers of this process; the magic's tests have slow nodes."""

import pytest

import tfdist as tf
from tests.ports import free_ports

OPTIONS = {"runs": 3, "seconds": 0.05}


@pytest.fixture
def session():
    """Yield a session over two tasks."""
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    servers = [tf.train.Server({"worker": addresses}, "worker", i) for i in range(2)]
    with tf.Graph().as_default(), tf.Session(servers[0].target) as session:
        yield session
    for server in servers:
        server.stop()


def test_a_small_step_stays_where_it_is(session):
    x = tf.placeholder(tf.float32, [2])
    found = session.optimize_placement(x + 1.0, {x: [1.0, 2.0]}, **OPTIONS)
    assert not found.is_worth_it
    assert found.sentence().startswith("Nothing is to be moved: a step takes ")
    assert found.predicted_s <= found.measured_s * 1.000001  # rounding
    with found.session() as other:
        assert other.run(x + 1.0, {x: [1.0, 2.0]}).tolist() == [2, 3]


def test_both_placements_are_run_in_turn(session):
    with tf.device("/job:worker/task:1"):
        v = tf.Variable(0)
    count = v.assign_add(1)
    session.run(v.initializer)
    found = session.optimize_placement(count, **OPTIONS)
    before = session.run(v)
    verdict = found.verify(runs=2)
    assert verdict.runs == 2
    assert verdict.speedup == pytest.approx(verdict.before_s / verdict.after_s)
    assert session.run(v) - before == 2 * (3 + 2)  # each warms up three times


def test_one_device_leaves_no_choice():
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="spans one device, /job:localhost"),
    ):
        session.optimize_placement(tf.constant(1.0))


def test_a_step_is_measured_twice_at_least(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="runs is 1; two at least"):
        session.optimize_placement(tf.constant(1.0), runs=1)


def test_what_a_step_raises_comes_through(session):
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.optimize_placement(v + 1.0, **OPTIONS)
