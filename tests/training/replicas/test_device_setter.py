"""replica_device_setter: variables on parameter servers in turn, the rest on the worker."""

import pytest

import tfdist as tf

CLUSTER = {"ps": ["p0:1", "p1:1"], "worker": ["w0:1", "w1:1", "w2:1"]}


def placed(setter):
    """Return the requests of three variables and of a sum, made inside `setter`."""
    with tf.device(setter):
        variables = [tf.Variable(float(i), name=f"v{i}") for i in range(3)]
        total = tf.add(variables[0], 1.0, name="total")
    return [each.device for each in (*variables, total)]


PS = [f"/job:ps/task:{i}" for i in (0, 1, 0)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"ps_tasks": 2}, [*PS, "/job:worker"], id="a number of parameter servers"),
        pytest.param({"ps_tasks": 1}, ["/job:ps/task:0"] * 3 + ["/job:worker"], id="one of them"),
        pytest.param({"cluster": CLUSTER}, [*PS, "/job:worker"], id="a dict"),
        pytest.param(
            {"cluster": tf.train.ClusterSpec(CLUSTER)}, [*PS, "/job:worker"], id="a ClusterSpec"
        ),
        pytest.param(
            {"cluster": tf.train.ClusterSpec(CLUSTER).as_cluster_def()}, [*PS, "/job:worker"],
            id="a ClusterDef",
        ),
        pytest.param(
            {"ps_tasks": 2, "worker_device": "/job:worker/task:7"}, [*PS, "/job:worker/task:7"],
            id="a certain worker",
        ),
        pytest.param(
            {"ps_tasks": 2, "ps_device": "/job:p/cpu:0"},
            [f"/job:p/task:{i}/device:CPU:0" for i in (0, 1, 0)] + ["/job:worker"],
            id="another job, and a device",
        ),
        pytest.param(
            {"cluster": {"params": ["a:1"], "worker": ["b:1"]}, "ps_device": "/job:params"},
            ["/job:params/task:0"] * 3 + ["/job:worker"], id="another job of the cluster",
        ),
        pytest.param({"ps_tasks": 2, "ps_ops": ["Add"]},
                     ["/job:worker"] * 3 + ["/job:ps/task:0"], id="other ops that are shared"),
        pytest.param({"ps_tasks": 2, "ps_strategy": lambda op: 7},
                     ["/job:ps/task:7"] * 3 + ["/job:worker"], id="another strategy"),
        pytest.param({"ps_tasks": 0}, [""] * 4, id="no parameter servers: no requests"),
        pytest.param({"cluster": {"worker": ["b:1"]}}, [""] * 4, id="a cluster without them"),
        pytest.param({"ps_tasks": 2, "worker_device": ""}, [*PS, ""], id="any worker"),
    ],
)  # fmt: skip
def test_where_nodes_are_asked_to_go(arguments, expected):
    assert placed(tf.train.replica_device_setter(**arguments)) == expected


def test_initializers_follow_their_variable():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        tf.Variable(0.0)
        v = tf.Variable(lambda: tf.zeros([2]), name="v")
    devices = {op.name: op.device for op in v.graph.get_operations()}
    assert devices["v"] == devices["v/Assign"] == devices["v/read"] == "/job:ps/task:1"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        pytest.param("/job:ps/task:5", ["/job:ps/task:5"] * 2, id="a task of its own"),
        pytest.param("/cpu:0", ["/job:ps/task:0/device:CPU:0", "/job:worker/device:CPU:0"],
                     id="a device is added"),
        pytest.param("/job:other", ["/job:other", "/job:other"], id="another job"),
    ],
)  # fmt: skip
def test_what_is_asked_for_inside_wins(inner, expected):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)), tf.device(inner):
        v = tf.Variable(0.0)
        n = tf.no_op()
    assert [v.device, n.device] == expected


def test_a_strategy_must_be_a_function():
    with pytest.raises(TypeError, match="ps_strategy"):
        tf.train.replica_device_setter(ps_tasks=1, ps_strategy=3)


def test_a_queue_is_not_spread():
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        queue = tf.FIFOQueue(1, tf.int32)
    assert queue.queue_ref.device == "/job:worker"
