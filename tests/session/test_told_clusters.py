"""Sessions whose clients tell the cluster: ConfigProto.cluster_def."""

from contextlib import ExitStack

import pytest

import tfdist as tf
from tfdist import errors


@pytest.fixture(params=["direct", "local path", "grpc"])
def servers(request, monkeypatch):
    """Give three servers, each started as a cluster of its own."""
    if request.param == "grpc":
        monkeypatch.setenv("TFDIST_TRANSPORT", "grpc")
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                tf.train.Server({f"own{i}": ["localhost:0"]}, inproc=request.param == "direct")
            )
            for i in range(3)
        ]


def opened(jobs, target, **options):
    cluster = tf.train.ClusterSpec(jobs).as_cluster_def()
    return tf.Session(target, config=tf.ConfigProto(cluster_def=cluster, **options))


def addresses(servers):
    return [server.address for server in servers]


def test_tasks_have_the_names_that_the_client_tells(servers):
    ps, *workers = addresses(servers)
    with tf.device("/job:ps"):
        variable = tf.Variable(1.0)
    with tf.device("/job:worker/task:1"):
        doubled = variable * 2.0
    with tf.device("/job:worker/task:0"):
        total = tf.while_loop(lambda i: i < 5.0, lambda i: i + doubled, [0.0])
    with opened({"ps": [ps], "worker": workers}, servers[1].target) as session:
        assert [device.name for device in session.list_devices()] == [
            "/job:ps/replica:0/task:0/device:CPU:0",
            "/job:worker/replica:0/task:0/device:CPU:0",
            "/job:worker/replica:0/task:1/device:CPU:0",
        ]
        session.run(variable.initializer)
        for _ in range(3):
            assert session.run([doubled, total]) == [2.0, 6.0]
        session.run(variable.assign_add(1.0))
        assert session.run([doubled, total]) == [4.0, 8.0]
        traced = tf.RunMetadata()
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(doubled, options=full, run_metadata=traced)
        assert {each.device.split("/device")[0] for each in traced.step_stats.dev_stats} >= {
            "/job:ps/replica:0/task:0",
            "/job:worker/replica:0/task:1",
        }


def test_a_partial_run_there(servers):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device("/job:b"):
        first = x + 1.0
    with tf.device("/job:a"):
        second = first * y
    one, other, _ = addresses(servers)
    with opened({"a": [one], "b": [other]}, servers[0].target) as session:
        run = session.partial_run_setup([first, second], [x, y])
        assert session.partial_run(run, first, {x: 2.0}) == 3.0
        assert session.partial_run(run, second, {y: 10.0}) == 30.0


def test_state_is_the_sessions_own(servers):
    one, other, _ = addresses(servers)
    with tf.device("/job:ps"):
        variable = tf.Variable(1.0, name="v")
    jobs = {"ps": [one], "worker": [other]}
    with opened(jobs, servers[1].target) as first, opened(jobs, servers[1].target) as second:
        first.run(variable.initializer)
        assert first.run(variable) == 1.0
        with pytest.raises(errors.FailedPreconditionError):
            second.run(variable)
    with tf.Graph().as_default(), tf.device("/job:own0"), tf.Session(servers[0].target) as session:
        variable = tf.Variable(1.0, name="v")
        with pytest.raises(errors.FailedPreconditionError):
            session.run(variable)


def test_a_server_keeps_its_own_name_for_others(servers):
    one, other, _ = addresses(servers)
    with opened({"worker": [one, other]}, servers[0].target) as told:
        with tf.Session(servers[0].target) as session:
            for _ in range(2):
                assert session.run(tf.constant(1.0)) == told.run(tf.constant(1.0)) == 1.0
            [device] = session.list_devices()
            assert device.name == "/job:own0/replica:0/task:0/device:CPU:0"


@pytest.mark.parametrize("stopped", [0, 1])
def test_a_server_stops_meanwhile(servers, stopped):
    one, other, _ = addresses(servers)
    with tf.device("/job:worker/task:1"):
        x = tf.constant(1.0) + 1.0
    with opened({"worker": [one, other]}, servers[0].target) as session:
        assert session.run(x) == 2.0
        servers[stopped].stop()
        with pytest.raises((errors.AbortedError, errors.UnavailableError)):
            session.run(x)


def test_filters_leave_out_who_is_not_there(servers):
    jobs = {"worker": [servers[0].address, "localhost:1"]}
    with opened(jobs, servers[0].target, device_filters=["/job:worker/task:0"]) as session:
        assert session.run(tf.constant(1.0)) == 1.0
    limited = {"operation_timeout_in_ms": 100}
    with opened(jobs, servers[0].target, **limited) as session:
        with pytest.raises((errors.DeadlineExceededError, errors.UnavailableError)):
            session.run(tf.constant(1.0))


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ({"worker": [1]}, r"The master \(current machine\) is not included in the provided"),
        ({}, r"The master \(current machine\) is not included in the provided cluster_def"),
        ({"worker": [0, 0]}, "Found multiple matching tasks"),
        ({"own0": [0, 1]}, "This is currently not allowed. Job: own0, task index: 0"),
    ],
)
def test_clusters_that_cannot_be(servers, jobs, words):
    jobs = {job: [servers[i].address for i in tasks] for job, tasks in jobs.items()}
    with opened(jobs, servers[0].target) as session:
        with pytest.raises(errors.InvalidArgumentError, match=words):
            session.run(tf.constant(1.0))


def test_a_session_without_server_has_no_cluster():
    with opened({"worker": ["localhost:1"]}, "") as session:
        with pytest.raises(errors.InvalidArgumentError, match="cluster_def"):
            session.run(tf.constant(1.0))
