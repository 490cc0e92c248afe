"""Several replicas: the graphs that 1.15.5 builds, and what becomes of their gradients."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until, waiters
from tests.training.replicas import two_workers
from tests.training.replicas.replica_programs import PROGRAMS, outcome
from tfdist.wire.server import start_servers

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected_replicas_1_15.json").read_text(encoding="utf-8"))
WORKERS = json.loads((HERE / "expected_workers_1_15.json").read_text(encoding="utf-8"))
# An average begins with its variable's initial value; TensorFlow asks with `cond` for a later one.
AVERAGES = "synced_with_averages"


def comparable(found, name):
    """Return an outcome without what differs from TensorFlow on purpose."""
    found = json.loads(json.dumps(found))
    if name == "setter_around_a_loop":
        found["nodes"].sort()
    if name == "hooks":  # ours lets go of replicas when the chief ends
        found["nodes"] = [node for node in found["nodes"] if not node.startswith("last_tokens/")]
    if name == AVERAGES:
        found["nodes"] = [node for node in found["nodes"] if "cond" not in node]
        found["nodes"] = [node for node in found["nodes"] if "ExponentialMovingAverage" not in node]
        found["facts"][-1].pop("cond_context", None)
        found["nodes"] = [node for node in found["nodes"] if not node.startswith("IsVariable")]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_tensorflow(name):
    found, wanted = outcome(tf, name), EXPECTED[name]
    assert comparable(found, name) == comparable(wanted, name)


@pytest.fixture(params=["direct", "calls"])
def servers(request):
    """Give a parameter server and two workers."""
    with ExitStack() as stack:
        found = start_servers({"ps": 1, "worker": 2}, inproc=request.param == "direct")
        for server in found:
            stack.callback(server.stop)
        yield found


def test_the_learning_rate_may_depend_on_the_step(servers):
    """It reads the step before an update, and the tokens read it after that."""
    cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(rate), 1)
        train = optimizer.minimize(w, step)
        hooks = [optimizer.make_session_run_hook(True), tf.train.StopAtStepHook(last_step=3)]
        with tf.train.MonitoredTrainingSession(servers[1].target, hooks=hooks) as session:
            while not session.should_stop():
                found = session.run([train, w])[1]
    assert -1.75 <= found <= -1.5


def test_a_replica_that_waits_for_a_token_ends_with_the_chief(servers):
    cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
    with monitored(servers, cluster, 0) as (session, train):
        while not session.should_stop():
            session.run(train)
        take_all_tokens(servers[0])
        other = Call(train_to_the_end, servers, cluster, 1)
        until(lambda: waiters(servers[0]) == 1)
    other.result()


@contextmanager
def monitored(servers, cluster, task):
    """Give a replica's session, which stops at the third update, and its train op."""
    with tf.Graph().as_default():
        made = two_workers.build(tf, cluster, task, 2, False)
        hooks = [
            made["optimizer"].make_session_run_hook(task == 0),
            tf.train.StopAtStepHook(last_step=3),
        ]
        target = servers[1 + task].target
        with tf.train.MonitoredTrainingSession(target, task == 0, hooks=hooks) as session:
            yield session, made["train"]


def train_to_the_end(servers, cluster, task):
    with monitored(servers, cluster, task) as (session, train):
        while not session.should_stop():
            session.run(train)


def take_all_tokens(server):
    with tf.Graph().as_default() as graph, tf.device("/job:ps"):
        tokens = tf.FIFOQueue(-1, tf.int64, (), shared_name="sync_token_q")
        taken = tokens.dequeue_many(tokens.size())
        with tf.Session(server.target, graph=graph) as session:
            session.run(taken)


@pytest.mark.parametrize("sparse", [False, True], ids=["whole", "rows"])
@pytest.mark.parametrize("name", two_workers.STORIES)
def test_gradients_are_applied_and_dropped_as_on_tensorflow(name, sparse, servers):
    cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
    targets = [server.target for server in servers[1:]]
    found = two_workers.told(tf, cluster, targets, two_workers.STORIES[name], sparse)
    assert found == WORKERS[name + ", rows" * sparse]


def test_a_hook_does_what_the_chief_needs(servers):
    cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
    made = two_workers.build(tf, cluster, 0, 1, False)
    hook = made["optimizer"].make_session_run_hook(is_chief=True)
    hook.begin()
    init, coordinator = tf.global_variables_initializer(), tf.train.Coordinator()
    with tf.Session(servers[1].target) as session:
        session.run(init)
        hook.after_create_session(session, coordinator)
        while session.run(made["train"]) < 3:
            pass
        coordinator.request_stop()
    coordinator.join()
    with tf.Session(servers[2].target) as session:
        assert session.run(made["w"])[0, 0] <= -3.0


def test_variables_must_be_initialised_before():
    step, w = tf.train.create_global_step(), tf.Variable(1.0, name="w")
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 1)
    optimizer.minimize(w * w, global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True)
    hook.begin()
    with tf.Session() as session, pytest.raises(RuntimeError, match="global_step, w"):
        hook.after_create_session(session, None)


def test_the_arguments_of_earlier_versions():
    """TensorFlow 0.8 had the averages third and fourth, and told each replica its number."""
    step, w = tf.train.create_global_step(), tf.Variable(1.0, name="w")
    averages = tf.train.ExponentialMovingAverage(0.5)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, replica_id=0,
        total_num_replicas=3, variable_averages=averages, variables_to_average=[w],
    )  # fmt: skip
    optimizer.minimize(w * w, global_step=step)
    assert averages.average(w) is not None
    assert optimizer.get_clean_up_op().type == "NoOp"
    assert tf.train.SyncReplicasOptimizerV2 is tf.train.SyncReplicasOptimizer


def test_the_averages_in_their_earlier_place():
    step, w = tf.train.create_global_step(), tf.Variable(1.0, name="w")
    averages = tf.train.ExponentialMovingAverage(0.5)
    descent = tf.train.GradientDescentOptimizer(1.0)
    tf.train.SyncReplicasOptimizer(descent, 2, averages, [w]).minimize(w * w, global_step=step)
    assert averages.average(w) is not None


def test_a_worker_that_is_gone_does_not_stop_a_filtered_session(servers):
    """Worker 1's session has filters: it begins, and goes on, without worker 0."""
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:1"])
    with tf.device(tf.train.replica_device_setter(1, worker_device="/job:worker/task:1")):
        step = tf.train.get_or_create_global_step()
        raised = step.assign_add(1)
    with tf.Session(servers[2].target, config=config) as session:
        session.run(step.initializer)
        servers[1].stop()
        assert session.run(raised) == 1
        names = {device.name.split("/device")[0] for device in session.list_devices()}
        assert names == {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:1"}
    with tf.Session(servers[2].target, config=config) as session:
        assert session.run(raised) == 2


def test_a_filtered_session_places_nothing_elsewhere(servers):
    config = tf.ConfigProto(device_filters=["/job:ps"], allow_soft_placement=True)
    with tf.device("/job:worker/task:0"):
        total = tf.constant(1.0) + 2.0
    message = "/job:worker/task:0"
    with (
        tf.Session(servers[2].target, config=config) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(total)
