"""Following: what another task sends in step after step comes without being asked for."""

import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until
from tests.wire.conftest import running
from tfdist.errors import UnavailableError
from tfdist.wire.service_methods import FOLLOW_SESSION, WORKER

PS, WORKER_0 = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture
def asked(monkeypatch):
    """Return the paths of all calls that tasks begin by frames."""
    from tfdist.wire.frames.client import FramesCaller

    paths, begin = [], FramesCaller.begin

    def noting(self, path, request, done):
        paths.append(path)
        return begin(self, path, request, done)

    monkeypatch.setattr(FramesCaller, "begin", noting)
    return paths


def there_and_back(rounds=1):
    """Return what is fed, and what comes of it between a worker and the parameter server."""
    fed = value = tf.placeholder(tf.float32, [])
    for _ in range(rounds):
        with tf.device(PS):
            value = value * 2.0
        with tf.device(WORKER_0):
            value = value + 1.0
    return fed, value


def test_a_task_is_asked_once_for_what_it_sends_in_all_steps(two, asked):
    _, worker = two
    with tf.device(WORKER_0):
        fed = tf.placeholder(tf.float32, [2, 3])
    with tf.device(PS):
        sums = tf.reduce_sum(fed), tf.reduce_max(fed), fed[0, 0]
    with tf.device(WORKER_0):
        back = [each + 1.0 for each in sums]
    with tf.Session(worker.target) as session:
        value = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        for _ in range(3):  # until both are connected, and nothing that was asked for is to come
            assert session.run(back, {fed: value}) == [22.0, 7.0, 2.0]
        asked.clear()
        for _ in range(5):
            assert session.run(back, {fed: value}) == [22.0, 7.0, 2.0]
    assert f"{WORKER}RecvTensor" not in asked
    assert FOLLOW_SESSION not in asked


def test_each_session_follows_for_itself(two):
    ps, worker = two
    fed, value = there_and_back(3)
    with tf.Session(worker.target) as one, tf.Session(worker.target) as other:
        for step in range(6):
            calls = [Call(each.run, value, {fed: float(step)}) for each in (one, other, one)]
            assert {call.result() for call in calls} == {step * 8.0 + 7.0}
    until(lambda: ps.task.worker.states()[1:] == [])


def test_dead_values_come_too(two):
    _, worker = two
    with tf.device(WORKER_0):
        which = tf.placeholder(tf.bool, [])
        fed = tf.constant(3.0) + 0.0
    taken = tf.cond(which, lambda: on(PS, fed), lambda: fed - 1.0)
    with tf.device(WORKER_0):
        result = taken * 10.0
    with tf.Session(worker.target) as session:
        for _ in range(4):
            assert session.run(result, {which: True}) == 60.0
            assert session.run(result, {which: False}) == 20.0


def on(device, value):
    with tf.device(device):
        return value * 2.0


def test_who_waits_for_a_task_that_is_lost_is_told():
    with running(ps=1, worker=2) as servers:
        _, worker, other = servers
        with tf.device("/job:worker/task:1"):
            queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
            taken = queue.dequeue()
            put = queue.enqueue(1.0)
        with tf.device(WORKER_0):
            result = taken + 1.0
        with tf.Session(worker.target) as session:
            for _ in range(3):
                session.run(put)
                assert session.run(result) == 2.0
            call = Call(session.run, result)
            until(lambda: other.task.report().waits)
            other.stop()
            with pytest.raises(tf.errors.OpError, match="task:1"):
                call.result()


def test_what_may_be_lost_with_a_follower_breaks_its_steps(two):
    """The value was handed on, and the connection was lost: nobody may wait for it for ever."""
    from tfdist.runtime.step.followers import Follower

    ps, worker = two
    with tf.Session(worker.target) as session:
        fed, value = there_and_back()
        assert session.run(value, {fed: 1.0}) == 3.0
        task = ps.task.worker
        [(handle, _, _)] = task.states()[1:]
        key = (
            f"/job:ps/replica:0/task:0/device:CPU:0;{1:016x};{worker.task.name}/device:CPU:0;x;0:0"
        )
        first, second, ended = [], [], []
        follower = Follower(
            worker.task.name, lambda step, sent: first.append((step, sent)), ended.append
        )
        lose = task.follow(handle, follower)
        meeting = task.rendezvous(77)
        meeting.session = handle
        meeting.send(key, 5.0)
        assert meeting.give(key, follower) == 5.0
        lose()
        again = Follower(
            worker.task.name, lambda step, sent: second.append((step, sent)), ended.append
        )
        task.follow(handle, again)
        assert [type(sent) for step, sent in second if step == 77] == [UnavailableError]
        assert type(meeting.receive(key).start(second.append)) is UnavailableError
        task.end_step(77)
    until(lambda: [type(each) for each in ended] == [tf.errors.CancelledError])
