"""Distribution strategies: replicas in one process, and gradients summed over workers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tfdist as tf
from tests.ports import free_ports

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


@pytest.fixture
def pair():
    """Give a strategy of two replicas."""
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def values(*fetches):
    """Return what a new session gives, with all variables initialised."""
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        return [session.run(each) for each in fetches]


def test_no_strategy_is_one_replica():
    context = tf.distribute.get_replica_context()
    assert not tf.distribute.has_strategy()
    assert not tf.distribute.in_cross_replica_context()
    assert (context.num_replicas_in_sync, context.replica_id_in_sync_group) == (1, 0)
    assert context.merge_call(lambda strategy, x: x, args=(3,)) == 3


def test_a_scope_is_across_replicas(pair):
    with pair.scope() as entered:
        assert entered is tf.distribute.get_strategy() is pair
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_replica_context() is None
        with pytest.raises(RuntimeError, match="Mixing different"):
            tf.distribute.OneDeviceStrategy("/cpu:0").scope().__enter__()


def test_replicas_share_variables_and_have_names_of_their_own(pair):
    def build():
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        return tf.multiply(w, 2.0, name="twice"), w

    made, w = pair.experimental_run_v2(build)
    assert [each.op.name for each in pair.unwrap(made)] == ["twice", "replica_1/twice"]
    assert [each.device[-5:] for each in pair.unwrap(made)] == ["CPU:0", "CPU:1"]
    assert pair.unwrap(w) == (w,)
    assert tf.global_variables() == [w]


def test_batches_are_dealt_out(pair):
    rows = tf.data.Dataset.from_tensor_slices(np.arange(8.0)).batch(4)
    iterator = pair.make_dataset_iterator(rows)
    parts = pair.unwrap(pair.experimental_run(lambda batch: batch, iterator))
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(iterator.initialize())
        assert np.array_equal(session.run(parts), [[0.0, 1.0], [2.0, 3.0]])


def test_gradients_of_replicas_are_added(pair):
    def step(number):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        context = tf.distribute.get_replica_context()
        factor = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        return tf.train.GradientDescentOptimizer(1.0).minimize(w * factor * number)

    train = pair.experimental_run_v2(step, (2.0,))
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        session.run(pair.group(train))
        assert session.run(tf.global_variables()[0]) == 1.0 - 2.0 * (1 + 2)


def test_gradients_of_rows_are_added(pair):
    def step():
        table = tf.get_variable("table", [3], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(tf.gather(table, [0, 1]))
        return tf.train.GradientDescentOptimizer(1.0).minimize(loss)

    train = pair.experimental_run_v2(step)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        session.run(pair.group(train))
        assert session.run(tf.global_variables()[0]).tolist() == [-2.0, -2.0, 0.0]


@pytest.mark.parametrize(("op", "wanted"), [(SUM, 3.0), (MEAN, 1.5)])
def test_replicas_reduce(pair, op, wanted):
    def build():
        context = tf.distribute.get_replica_context()
        own = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        merged = context.merge_call(lambda strategy, x: strategy.reduce(op, x), args=(own,))
        return own, merged, context.all_reduce(op, own)

    own, merged, everywhere = pair.experimental_run_v2(build)
    found = values(pair.reduce(op, own, axis=None), merged, everywhere)
    assert found == [wanted] * 3


@pytest.mark.parametrize(("name", "wanted"), [
    ("SUM", 3.0), ("MEAN", 1.5), ("ONLY_FIRST_REPLICA", 1.0),
])  # fmt: skip
def test_updates_of_replicas_become_one(pair, name, wanted):
    aggregation = tf.VariableAggregation[name]

    def build():
        v = tf.Variable(0.0, aggregation=aggregation)
        context = tf.distribute.get_replica_context()
        return v.assign_add(tf.cast(context.replica_id_in_sync_group + 1, tf.float32))

    changed = pair.experimental_run_v2(build)
    assert values(pair.unwrap(changed)[0]) == [wanted]


def test_an_update_that_says_no_aggregation_is_refused(pair):
    with pytest.raises(ValueError, match="You must specify an aggregation method"):
        pair.experimental_run_v2(lambda: tf.Variable(0.0).assign(1.0))


def test_what_a_replica_raises_is_raised(pair):
    def fail():
        tf.distribute.get_replica_context().all_reduce(SUM, 1.0)
        raise KeyError("of a replica")

    with pytest.raises(KeyError, match="of a replica"):
        pair.experimental_run_v2(fail)


def test_replicas_must_come_together(pair):
    def build():
        context = tf.distribute.get_replica_context()
        if context._number:
            context.all_reduce(SUM, 1.0)

    with pytest.raises(ValueError, match="merge_call equally often"):
        pair.experimental_run_v2(build)


def test_metrics_add_up_over_replicas(pair):
    def build():
        context = tf.distribute.get_replica_context()
        return tf.metrics.mean(tf.cast(context.replica_id_in_sync_group, tf.float32))

    value, update = pair.experimental_run_v2(build)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.local_variables_initializer())
        session.run(pair.unwrap(update))
        assert session.run(pair.unwrap(value)[0]) == 0.5


def test_devices_stand_once():
    with pytest.raises(AssertionError, match="No duplicates"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="Must only specify one"):
        tf.contrib.distribute.MirroredStrategy(devices=["/cpu:0"], num_gpus=2)


def test_variables_stand_on_parameter_servers():
    strategy = tf.contrib.distribute.ParameterServerStrategy()
    strategy.configure(None, {"ps": ["a:1", "b:1"], "worker": ["c:1"]}, "worker", 0)
    with strategy.scope():
        made = [tf.Variable(1.0), tf.Variable(2.0)]
        product = strategy.experimental_run_v2(lambda: made[0] * made[1])
    assert [each.device for each in made] == ["/job:ps/task:0", "/job:ps/task:1"]
    assert product.device == "/job:worker/replica:0/task:0"
    config = strategy.update_config_proto(tf.ConfigProto())
    assert list(config.device_filters) == ["/job:ps", "/job:worker/task:0"]


def of_worker(cluster, number):
    """Return what a worker of several has to run: to initialise, a step, and its variables."""
    strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
    strategy.configure(None, cluster, "worker", number)
    with tf.Graph().as_default() as graph, strategy.scope():
        w = tf.Variable(3.0 + number)
        count = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        train = strategy.experimental_run_v2(
            lambda: optimizer.minimize(w * (number + 1.0), global_step=count)
        )
        return graph, strategy, tf.global_variables_initializer(), train, [w, count]


def test_workers_keep_in_step():
    cluster = {"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]}
    built = [of_worker(cluster, number) for number in range(2)]

    def work(server, number):
        graph, strategy, initialize, train, fetches = built[number]
        config = strategy.update_config_proto(tf.ConfigProto())
        with tf.Session(server.target, graph, config) as session:
            session.run(initialize)
            for _ in range(3):
                session.run(train)
            return session.run(fetches)

    with (
        tf.train.Server(cluster, "worker", 0) as first,
        tf.train.Server(cluster, "worker", 1) as second,
        ThreadPoolExecutor(2) as threads,
    ):
        for found in threads.map(work, (first, second), (0, 1), timeout=60):
            assert found == [3.0 - 3 * (1 + 2), 3]
