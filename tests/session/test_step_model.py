"""What was learned of a step by running it: the model alone, and on servers of this process."""

import pytest

import tfdist as tf
from tests.ports import free_ports
from tests.simulation.problems import Maker
from tfdist.launch.start import start_cluster
from tfdist.session.link_probe import all_links, probe_links
from tfdist.session.step_model import Ran, StepModel, learned, recalled
from tfdist.simulation.step import simulate_step


@pytest.fixture
def session():
    """Yield a session over three tasks."""
    addresses = [f"localhost:{port}" for port in free_ports(3)]
    servers = [tf.train.Server({"worker": addresses}, "worker", i) for i in range(3)]
    with tf.Graph().as_default(), tf.Session(servers[0].target) as session:
        yield session
    for server in servers:
        server.stop()


def chain(count):
    made = Maker()
    last = made.add(1000)
    for _ in range(count - 1):
        last = made.add(1000, [last])
    return made.problem()


def model(problem, *missed):
    """Return a model of a step that took longer than simulated: (placement, milliseconds)."""
    ran = [
        Ran(placed, simulate_step(problem, placed).span_us / 1e6 + ms / 1e3, [], 0.0)
        for placed, ms in missed
    ]
    return StepModel(problem, missed[0][0], tuple(ran), (), None, None, None, None)


TOGETHER, APART, BETWEEN = (0,) * 9, (0, 1) * 4 + (0,), (0,) * 5 + (1,) * 3 + (0,)


def missed_ms(found, placed):
    span_us = simulate_step(found.problem, placed).span_us
    return pytest.approx(found.predicted_s(placed) * 1e3 - span_us / 1e3)


def test_what_the_simulation_missed_of_one_placement_is_added_to_all():
    found = model(chain(9), (TOGETHER, 2.0))
    assert missed_ms(found, TOGETHER) == 2.0
    assert missed_ms(found, APART) == 2.0


def test_what_is_missed_of_two_grows_with_what_crosses():
    """Eight tensors cross where nodes take turns, and two where three of them are elsewhere."""
    found = model(chain(9), (TOGETHER, 2.0), (APART, 10.0))
    assert missed_ms(found, APART) == 10.0
    assert missed_ms(found, BETWEEN) == 2.0 + 2 * 1.0


def test_fewer_crossings_are_never_predicted_to_be_missed_more():
    found = model(chain(9), (TOGETHER, 3.0), (APART, 1.0))
    assert missed_ms(found, BETWEEN) == missed_ms(found, TOGETHER) == 2.0


def test_another_placement_is_run_and_learned_from(session):
    with tf.device("/job:worker/task:0"):
        v = tf.Variable(1.0)
    total = tf.add(v + 1.0, v + 2.0, name="total")
    session.run(v.initializer)
    found = learned(session, total, runs=2)
    number = found.problem.names.index("total")
    other = list(found.present)
    other[number] = 2
    refined = found.refined(other, runs=2)
    assert [each.placed[number] for each in refined.ran] == [0, 2]
    with refined.session(other) as elsewhere:
        assert elsewhere.run(total) == 5
    before, after = refined.timed_in_turn([found.present, other], runs=2)
    assert before > 0
    assert after > 0


def test_every_link_is_probed_both_ways(session):
    found = probe_links(session)
    assert [(each.source, each.target) for each in found] == all_links(session)
    assert len(found) == 6
    assert all(each.latency_s >= 0 and each.bytes_per_s > 0 for each in found)


def test_links_that_are_named_are_probed(session):
    link = all_links(session)[-1]
    [found] = probe_links(session, [link])
    assert (found.source, found.target) == link


def test_what_steps_took_so_far_needs_no_other_run(session):
    with tf.device("/job:worker/task:0"):
        v = tf.Variable(0)
    count = v.assign_add(1)
    session.run(v.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no step has run yet"):
        with tf.Session(session.sess_str) as fresh:
            recalled(fresh, v)
    for _ in range(4):
        session.run(count)
    found = recalled(session, count)
    assert session.run(v) == 4
    assert found.ran == ()
    assert found.measured_s == found.predicted_s(found.present) > 0
    assert found.problem.cost_us[found.problem.names.index(count.op.name)] > 0


def test_a_placement_is_found_by_what_steps_took_so_far(session):
    total = tf.reduce_sum(tf.ones([10]), name="total")
    session.run(total)
    session.run(total)
    found = session.optimize_placement(total, runs=0, seconds=0.05)
    assert "a step should take, by what units took so far, " in found.sentence()


def test_tasks_of_other_processes_tell_what_steps_took_too():
    with start_cluster({"worker": 2}, "for costs", processes=True).require() as cluster:
        with tf.Graph().as_default(), tf.Session(cluster.target("worker", 1)) as session:
            with tf.device("/job:worker/task:0"):
                x = tf.random_normal([50, 50], name="x")
            with tf.device("/job:worker/task:1"):
                total = tf.reduce_sum(tf.matmul(x, x), name="total")
            for _ in range(4):
                session.run(total)
            found = recalled(session, total)
    costs = dict(zip(found.problem.names, found.problem.cost_us, strict=True))
    assert costs["x/RandomStandardNormal"] > 0
    assert costs["total"] > 0
    assert found.problem.devices[found.problem.client].startswith("/job:worker/replica:0/task:1/")
    assert len(found.probed) == 2
