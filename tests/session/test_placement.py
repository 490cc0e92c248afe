"""Where a session puts nodes: several CPUs, soft placement, the log, filters, the default."""

import pytest

import tfdist as tf
from tfdist.wire.server import start_servers


@pytest.fixture
def tasks():
    servers = start_servers({"a": 1, "b": 2})
    yield servers
    for each in servers:
        each.stop()


def devices(session, fetches):
    """Return "a0" by node name."""
    found = {}
    for node in session.placement(fetches):
        spec = tf.DeviceSpec.from_string(node.device)
        found[node.name] = f"{spec.job}{spec.task}"
    return found


def test_several_cpu_devices():
    with tf.device("/cpu:1"):
        x = tf.constant(1, name="x")
    with tf.device("/cpu:0"):
        y = tf.add(x, 1, name="y")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert session.run([x, y]) == [1, 2]
        assert [device.name[-5:] for device in session.list_devices()] == ["CPU:0", "CPU:1"]
        found = {node.name: node.device[-5:] for node in session.placement([x, y])}
    assert (found["x"], found["y"]) == ("CPU:1", "CPU:0")


def test_a_cpu_that_is_not_there():
    with tf.device("/cpu:1"):
        x = tf.constant(1)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="CPU:1"):
        session.run(x)


@pytest.mark.parametrize("device", ["/gpu:0", "/cpu:7", "/device:GPU:*"])
def test_soft_placement(device):
    with tf.device(device):
        x = tf.constant(1) + 1
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(x) == 2
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="allow_soft_placement=True"):
            session.run(x)


def test_devices_tell_of_themselves(tasks):
    with tf.Session(tasks[0].target) as session:
        found = session.list_devices()
    assert [device.name for device in found] == [
        "/job:a/replica:0/task:0/device:CPU:0",
        "/job:b/replica:0/task:0/device:CPU:0",
        "/job:b/replica:0/task:1/device:CPU:0",
    ]
    assert {device.device_type for device in found} == {"CPU"}
    assert all(device.memory_limit > 0 for device in found)
    assert len({device.incarnation for device in found}) == 3


def test_unpinned_nodes_go_to_the_first_task_from_every_session(tasks):
    v = tf.Variable(1.0, name="v")
    for server in tasks:
        with tf.Session(server.target) as session:
            assert devices(session, v) == {"v": "a0"}


def test_the_masters_own_task_can_be_the_default(tasks, monkeypatch):
    monkeypatch.setenv("TFDIST_DEFAULT_DEVICE", "master")
    v = tf.Variable(1.0, name="v")
    with tf.Session(tasks[2].target) as session:
        assert devices(session, v) == {"v": "b1"}


def test_placement_runs_nothing(tasks):
    with tf.device("/job:b"):
        x = tf.placeholder(tf.float32, name="x")
    lost = tf.Variable(x, name="v", validate_shape=False)
    with tf.Session(tasks[0].target) as session:
        found = {node.name: node for node in session.placement(lost.initializer)}
    assert (found["x"].requested, found["x"].reason) == ("/job:b", "pinned to /job:b")
    assert found["v/Assign"].inputs == ("v", "x")
    assert found["v/Assign"].op == "Assign"


def test_placement_of_a_whole_graph():
    tf.constant(1, name="x")
    tf.no_op(name="n")
    with tf.Session() as session:
        assert [node.name for node in session.placement()] == ["x", "n"]


def test_placement_of_a_node_that_has_no_place():
    with tf.device("/job:nowhere"):
        x = tf.constant(1, name="x")
    with tf.Session() as session:
        [node] = session.placement(x)
    assert node.device == ""
    assert "no device fits" in node.reason


def test_the_log_names_every_new_node_once(capsys):
    with tf.device("/cpu:0"):
        x = tf.constant(1, name="x")
    config = tf.ConfigProto(log_device_placement=True)
    with tf.Session(config=config) as session:
        session.run(x)
        y = tf.add(x, x, name="y")
        for _ in range(2):
            session.run(y)
    cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [f"x: (Const): {cpu}", f"y: (Add): {cpu}"]
    assert captured.out == ""


def test_filters_hide_tasks(tasks, monkeypatch):
    monkeypatch.setenv("TFDIST_TIMEOUTS", "session=1")
    tasks[1].stop()
    x = tf.constant(1, name="x")
    config = tf.ConfigProto(device_filters=["/job:b/task:1"])
    with tf.Session(tasks[0].target, config=config) as session:
        names = {device.name for device in session.list_devices()}
        assert session.run(x) == 1
        assert not any("/job:b/replica:0/task:0" in name for name in names)
    session = tf.Session(tasks[0].target)
    with pytest.raises(tf.errors.UnavailableError, match="/job:b/replica:0/task:0"):
        session.run(x)


def test_what_filters_hide_cannot_be_asked_for(tasks):
    with tf.device("/job:b/task:0"):
        x = tf.constant(1)
    config = tf.ConfigProto(device_filters=["/job:b/task:1"])
    with tf.Session(tasks[0].target, config=config) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned"):
            session.run(x)
