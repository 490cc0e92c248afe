"""A task that answers nonsense fails the step, at once and with an error that is no crash."""

from contextlib import contextmanager
from functools import partial

import pytest

import tfdist as tf
from tfdist.runtime.task.task import Task
from tfdist.wire.common.calls import Method
from tfdist.wire.grpc.server import GrpcListener
from tfdist.wire.peers.remote_peers import RemotePeers
from tfdist.wire.server import Server
from tfdist.wire.service_methods import WORKER
from tfdist.wire.services.runner import LoopRunner
from tfdist.wire.services.session_reaper import Presence, SessionReaper
from tfdist.wire.services.worker import WorkerService

TWO = b"\x0a\x08\x08\x01\x22\x04\0\0\0\0" * 2  # floats


@contextmanager
def worker_that_answers(method, reply):
    """Give the target of a cluster whose second task answers `method` with `reply`."""
    listener = GrpcListener("localhost:0")
    address = f"127.0.0.1:{listener.port}"
    with Server({"a": ["localhost:0"], "b": [address]}, "a", 0, inproc=False) as server:
        name = "/job:{}/replica:0/task:0".format
        addresses = {name("a"): server.address, name("b"): address}
        task = Task("b", 0, addresses, make_peers=partial(RemotePeers, direct=False))
        runner = LoopRunner()
        reaper = SessionReaper(Presence(set, set()), runner)
        methods = dict(WorkerService(task, runner, reaper).methods())
        methods[WORKER + method] = Method(lambda request, call: call.respond([reply]))
        listener.start(methods)
        try:
            yield server.target
        finally:
            task.stop()
            listener.stop()
            reaper.stop()
            runner.stop()


@pytest.mark.parametrize(
    ("method", "reply"),
    [
        pytest.param("GetStatus", b"\xff\xff", id="GetStatus: nonsense"),
        pytest.param("GetStatus", b"", id="GetStatus: no devices"),
        pytest.param("CreateWorkerSession", b"\xff\xff", id="CreateWorkerSession: nonsense"),
        pytest.param("RegisterGraph", b"\xff\xff", id="RegisterGraph: nonsense"),
        pytest.param("RegisterGraph", b"\x0a\x01z", id="RegisterGraph: another handle"),
        pytest.param("RunGraph", b"\xff\xff", id="RunGraph: nonsense"),
        pytest.param("RecvTensor", b"\xff\xff", id="RecvTensor: nonsense"),
        pytest.param("RecvTensor", b"", id="RecvTensor: no tensor"),
        pytest.param("RecvTensor", TWO, id="RecvTensor: two tensors"),
    ],
)
def test_a_task_that_answers_nonsense_fails_the_step(method, reply):
    with worker_that_answers(method, reply) as target:
        with tf.device("/job:b"):
            x = tf.constant(1.0) + 1.0
        with tf.device("/job:a"):
            y = x + 1.0
        with tf.Session(target) as session:
            with pytest.raises(tf.errors.OpError) as raised:
                session.run(y, options=tf.RunOptions(timeout_in_ms=5_000))
    assert not isinstance(raised.value, tf.errors.DeadlineExceededError | tf.errors.InternalError)
