"""Steps as Dask tasks, and the way of dask-tensorflow."""

import pytest
from dask import delayed
from distributed import Client, get_worker

import tfdist as tf
from tfdist.launch.clusters import find_cluster
from tfdist.launch.managers.dask.start_tensorflow import start_tensorflow
from tfdist.launch.managers.dask.steps import run_on_dask


@pytest.fixture
def client(dask_cluster):
    """Yield the current client."""
    with Client(dask_cluster.address) as client:
        yield client


def added(number):
    """Add a number to the variable of the parameter server's; run on a Dask worker."""
    server = get_worker().tensorflow_server
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            total = tf.get_variable("total", [])
        with tf.Session(server.target) as session:
            return session.run(total.assign_add(number)), server.task_index


def test_old_programs_and_steps_of_futures_work_on_one_cluster(client, runtime):
    tf_spec, dask_spec = start_tensorflow(client, ps=1, worker=2)
    with find_cluster() as cluster, tf.Graph().as_default():
        assert tf_spec == cluster.spec
        assert set(map(len, dask_spec.values())) == {1, 2}
        with tf.device("/job:ps"):
            total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
            number = tf.placeholder(tf.float32, name="number")
            more = total.assign_add(number)
        with tf.Session(cluster.target()) as session:
            session.run(total.initializer)
            future = client.submit(added, 1.0, workers=dask_spec["worker"][1], pure=False)
            assert future.result() == (1.0, 1)
            step = run_on_dask(session, {"more": more}, {number: client.submit(float, "2")})
            assert step.result() == {"more": 3.0}
            assert client.submit(lambda told: told["more"] * 2, step).result() == 6.0
            again = run_on_dask(session, [more, "total:0"], {"number:0": delayed(float)("3")})
            assert again.result()[0] == 6.0
            assert again.key.startswith("tfdist-step-")


def test_a_session_of_this_process_is_refused(client):
    with (
        tf.Graph().as_default(),
        tf.Session() as session,
        pytest.raises(ValueError, match="name a task's target"),
    ):
        run_on_dask(session, tf.constant(1.0))
