"""A task that comes back at another address while others look for it is found there."""

import socket
from contextlib import closing

import pytest

import tfdist as tf
from tests.ports import free_port
from tests.runtime.blocking import Call
from tfdist.cluster.spec import ClusterSpec
from tfdist.wire.server import Server


@pytest.fixture
def silent():
    """Yield a socket that takes connections, and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        found.settimeout(60.0)
        yield found


def run_at(target, fetch):
    with tf.Session(target, graph=fetch.graph) as session:
        return session.run(fetch)


def test_a_session_that_is_being_opened_goes_on_at_the_new_address(silent):
    old = f"127.0.0.1:{silent.getsockname()[1]}"
    first, new = (f"127.0.0.1:{free_port()}" for _ in range(2))
    back = ClusterSpec({"a": [first, new]})
    with (
        Server({"a": [first, old]}, task_index=0, inproc=False) as master,
        Server(back, task_index=1, inproc=False),
        tf.Graph().as_default(),
    ):
        with tf.device("/job:a/task:1"):
            total = tf.constant(1.0) + tf.constant(2.0)
        running = Call(run_at, master.target, total)
        with closing(silent.accept()[0]):
            master.move(back)
            assert running.result() == 3.0
