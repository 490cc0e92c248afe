"""Disturbed clusters: what is promised holds for tasks of a kernel and for tasks in processes.

Times are compared with what a disturbance adds at least: a busy machine only adds more.
"""

import time
from contextlib import contextmanager

import pytest

import tfdist as tf
from tests.launch.waiting import wait_until
from tests.ports import free_port
from tests.runtime.blocking import Call
from tfdist.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    PermissionDeniedError,
    UnavailableError,
    UnimplementedError,
)
from tfdist.launch.attached_cluster import attach
from tfdist.launch.disturb_call import tell_disturbances
from tfdist.launch.disturbable import Disturbable
from tfdist.launch.start import start_cluster
from tfdist.tracing.disturbances import Disturbance
from tfdist.tracing.steps.node_row import TRANSFER
from tfdist.tracing.steps.rows import rows
from tfdist.wire.server import Server

KINDS = {
    "kernel": (False, {}),
    "processes": (True, {}),
    "processes by gRPC": (True, {"TFDIST_TRANSPORT": "grpc"}),
}
SHORT = {"TFDIST_TIMEOUTS": "alive=0.5,silence=0.5"}  # peers are given up after one second
HERE, THERE = "/job:worker/task:0", "/job:worker/task:1"
AWAY = "worker:1 worker:0"  # from where what is fetched comes
ROUNDS = 3


class Lab:
    """A cluster of two workers, a session on the first one, and what it can run.

    Attributes:
      cluster: the cluster.
    """

    def __init__(self, cluster, session):
        self.cluster, self._session = cluster, session

    def run(self, name, **options):
        """Run what is called so."""
        return self._session.run(name, **options)

    def seconds(self, name):
        """Return how long a run takes."""
        began = time.perf_counter()
        self.run(name)
        return time.perf_counter() - began

    def rows(self, name):
        """Return the rows of a traced run."""
        traced = tf.RunMetadata()
        self.run(
            name, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=traced
        )
        return rows(traced.step_stats)

    def within(self, milliseconds, name):
        """Run with a timeout."""
        return self.run(name, options=tf.RunOptions(timeout_in_ms=milliseconds))


def build():
    with tf.device(THERE):
        count = tf.Variable(0.0, name="count")
        tf.assign_add(count, 1.0, name="more")
        side = tf.fill([300, 300], 0.01)
        work = side
        for _ in range(12):
            work = tf.matmul(work, side)
        total = tf.reduce_sum(work)
        large = tf.fill([25_000], 1.0)  # 100 kB
        queue = tf.FIFOQueue(1, [tf.float32], [[]], shared_name="queue")
        queue.enqueue(7.0, name="put")
        taken = queue.dequeue()
    with tf.device(HERE):
        tf.add(count, 0.0, name="counted")
        tf.add(total, 1.0, name="worked")
        tf.reduce_sum(large, name="large")
        tf.add(taken, 0.0, name="taken")

        def again(i):
            with tf.device(THERE):
                return tf.add(i, 1)

        tf.while_loop(lambda i: i < ROUNDS, again, [tf.constant(0)], name="loop")
        tf.identity(tf.get_default_graph().get_operation_by_name("loop/Exit").outputs[0], "looped")
    return count


@contextmanager
def lab_of(name, processes, environment):
    with pytest.MonkeyPatch.context() as patch, tf.Graph().as_default():
        for variable, value in environment.items():
            patch.setenv(variable, value)
        count = build()
        found = start_cluster({"worker": 2}, name, processes=processes).require()
        with found as cluster, tf.Session(cluster.target("worker", 0)) as session:
            session.run(count.initializer)
            for fetch in 2 * ("counted:0", "worked:0", "large:0", "looped:0"):
                session.run(fetch)
            yield Lab(cluster, session)


@pytest.fixture(scope="module", params=KINDS)
def shared(request):
    with lab_of("stormy", *KINDS[request.param]) as lab:
        yield lab


@pytest.fixture
def lab(shared):
    """Return the lab, in which nothing is wrong before and after a test."""
    yield shared
    shared.cluster.heal()


@pytest.fixture(scope="module", params=[False, True], ids=["kernel", "processes"])
def impatient(request):
    """Return a lab in which peers are given up soon."""
    with lab_of("impatient", request.param, SHORT) as lab:
        yield lab


def test_a_delayed_tensor_comes_late_and_whole(lab):
    with lab.cluster.disturbed(f"delay {AWAY} 40ms"):
        assert lab.seconds("counted:0") >= 0.04
        assert lab.run("large:0") == 25_000


def test_every_round_of_a_loop_is_delayed(lab):
    with lab.cluster.disturbed("delay * * 10ms"):
        assert lab.seconds("looped:0") >= 2 * ROUNDS * 0.01  # there and back
        assert lab.run("looped:0") == ROUNDS


def test_a_rate_counts_bytes(lab):
    with lab.cluster.disturbed(f"rate {AWAY} 1MB/s"):
        assert lab.seconds("large:0") >= 0.1


def test_the_other_way_is_not_disturbed(lab):
    lab.cluster.disturb("delay worker:0 worker:1 600s")
    assert lab.run("worked:0") > 0


def test_a_slow_task_takes_its_time(lab):
    quick = min(lab.seconds("worked:0") for _ in range(4))
    with lab.cluster.disturbed("slow worker:1 40"):
        assert lab.seconds("worked:0") > 4 * quick
    with lab.cluster.disturbed("slow worker:0 40"):
        lab.run("worked:0")  # which computes next to nothing


def test_a_trace_tells_what_was_disturbed(lab):
    with lab.cluster.disturbed("slow worker:1 5", f"delay {AWAY} 20ms"):
        found = lab.rows("worked:0")
    assert {row.disturbed for row in found if "task:1" in row.device} == {"slow worker:1 5"}
    [transfer] = [row for row in found if row.kind == TRANSFER]
    assert transfer.disturbed == f"delay {AWAY} 20ms"
    assert transfer.duration_us >= 19_000


@pytest.mark.parametrize("text", [f"delay {AWAY} 600s", "cut worker:0|worker:1", "freeze worker:1"])
def test_what_waits_says_why_and_goes_on_when_it_is_healed(lab, text):
    lab.cluster.disturb(text)
    call = Call(lab.run, "counted:0")
    verb = text.partition(" ")[0]
    wait_until(lambda: f"by %cluster {verb}; %cluster" in str(tf.why(lab.cluster)))
    assert text in str(tf.why(lab.cluster))
    lab.cluster.heal()
    assert call.result() >= 0


def test_what_was_asked_for_before_a_cut_does_not_get_through(lab):
    with tf.Session(lab.cluster.target("worker", 1)) as there:
        there.run("worked:0")  # a session begins with its first step
        call = Call(lab.run, "taken:0")
        wait_until(lambda: "waits for 1 more element" in str(tf.why(lab.cluster)))
        lab.cluster.disturb("cut worker:0|worker:1")
        there.run("put")
        wait_until(lambda: "by %cluster cut; %cluster" in str(tf.why(lab.cluster)))
        lab.cluster.heal()
        assert call.result() == 7


def test_a_loop_is_held_up_in_its_midst_and_goes_on(lab):
    lab.cluster.disturb("delay * * 20ms", "slow worker 2")
    call = Call(lab.run, "looped:0")
    wait_until(lambda: "step 1" in str(tf.why(lab.cluster)))
    lab.cluster.disturb("freeze worker:1")
    wait_until(lambda: "is frozen by %cluster freeze" in str(tf.why(lab.cluster)))
    lab.cluster.heal()
    assert call.result() == ROUNDS


def test_a_frozen_task_is_named_by_a_timeout(lab):
    lab.cluster.disturb("freeze worker:1")
    with pytest.raises(DeadlineExceededError) as caught:
        lab.within(50, "worked:0")
    assert "worker:1 is frozen by %cluster freeze; %cluster thaw worker:1" in caught.value.message
    lab.cluster.heal("freeze worker:1")
    assert lab.run("worked:0") > 0


def test_a_call_does_not_get_through_a_cut(lab):
    before = lab.run("counted:0")
    lab.cluster.disturb("cut worker:1")
    with pytest.raises(DeadlineExceededError):
        lab.within(50, "more")
    lab.cluster.heal()
    assert lab.run("counted:0") == before


def test_what_is_lost_does_not_come(lab):
    lab.cluster.disturb(f"drop {AWAY}")
    with pytest.raises(DeadlineExceededError, match="is lost by %cluster drop"):
        lab.within(50, "counted:0")


def test_a_context_heals_whatever_happens_in_it(lab):
    def fail():
        with lab.cluster.disturbed("slow worker:1 3", "cut worker:1"):
            assert len(lab.cluster.disturbances) == 3
            raise ZeroDivisionError

    lab.cluster.disturb("slow worker:1 2", "delay worker:0 worker:1 1ms")
    with pytest.raises(ZeroDivisionError):
        fail()
    words = {each.words for each in lab.cluster.disturbances}
    assert words == {"slow worker:1 2", "delay worker:0 worker:1 1ms"}


def test_a_session_with_names_of_its_own_is_disturbed_too(lab):
    first, second = (lab.cluster.server(f"worker:{task}").address for task in (0, 1))
    spec = tf.train.ClusterSpec({"here": [first], "there": [second]})
    config = tf.ConfigProto(cluster_def=spec.as_cluster_def())
    with tf.Graph().as_default():
        with tf.device("/job:there"):
            made = tf.fill([], 1.0)
        with tf.device("/job:here"):
            taken = tf.add(made, 1.0)
        with tf.Session(lab.cluster.target("worker", 0), config=config) as session:
            session.run(taken)
            lab.cluster.disturb(f"delay {AWAY} 30ms")
            began = time.perf_counter()
            assert session.run(taken) == 2
            assert time.perf_counter() - began >= 0.03


def test_healing_tells_what_has_ended(lab):
    lab.cluster.disturb("slow worker:1 2", "delay worker:0 worker:1 1ms")
    assert [each.verb for each in lab.cluster.heal("delay")] == ["delay"]
    assert [each.verb for each in lab.cluster.heal()] == ["slow"]
    assert lab.cluster.heal() == []


@pytest.mark.parametrize("text", [f"drop {AWAY}", "cut worker:0|worker:1", "freeze worker:1"])
def test_a_peer_is_given_up_after_the_bound_and_found_again(impatient, text):
    began = time.monotonic()
    with impatient.cluster.disturbed(text):
        with pytest.raises(UnavailableError) as caught:
            impatient.run("counted:0")
        assert time.monotonic() - began >= 1
    assert f"by %cluster {text.partition(' ')[0]}; %cluster" in caught.value.message
    assert impatient.run("counted:0") >= 0


def test_a_restarted_task_is_disturbed_as_before():
    with start_cluster({"worker": 2}, "restarted", processes=True).require() as cluster:
        cluster.disturb("freeze worker:1")
        cluster.kill("worker:1")
        cluster.disturb("slow worker:0 2")  # who is gone is told later
        cluster.restart("worker:1")
        told = str(tf.why(cluster.target("worker", 1)))
        assert "freeze worker:1; slow worker:0 2" in told


def test_who_did_not_start_a_cluster_may_not_disturb_it():
    with Server({"worker": ["localhost:0"]}) as server:
        with attach(f"worker={server.address}").require() as cluster:
            with pytest.raises(UnimplementedError, match="only %cluster start may disturb what it"):
                cluster.disturb("slow worker:0 2")
            with pytest.raises(UnimplementedError, match="is attached"):
                cluster.heal()
        wanted = [Disturbance("freeze", "worker:0")]
        with pytest.raises(PermissionDeniedError, match="was not started by %cluster"):
            tell_disturbances({"worker:0": server.address}, wanted)


def test_what_was_stopped_cannot_be_disturbed():
    with start_cluster({"worker": 1}, "stopped").require() as cluster:
        pass
    with pytest.raises(FailedPreconditionError, match="cluster 'stopped' was stopped"):
        cluster.disturb("slow worker:0 2")


def test_a_server_refuses_what_it_does_not_know():
    with Server({"worker": ["localhost:0"]}) as server:
        server.task.may_be_disturbed = True
        with pytest.raises(InvalidArgumentError, match="'flood' is no disturbance; there are"):
            tell_disturbances({"worker:0": server.address}, [Disturbance("flood", "worker:0")])


def test_who_is_not_there_is_named():
    wanted = [Disturbance("freeze", "worker:0")]
    with pytest.raises(UnavailableError, match="not told what is to be wrong: worker:0"):
        tell_disturbances({"worker:0": f"localhost:{free_port()}"}, wanted)


class Mixed(Disturbable):
    """A cluster in which the workers are TensorFlow's."""

    name, is_running = "mixed", True
    engines = {"worker": "tensorflow", "ps": "tfdist"}  # noqa: RUF012

    def _tasks(self):
        return ["ps:0", "ps:1", "worker:0"]

    def _tell(self, disturbances):
        pass


@pytest.mark.parametrize("text", ["slow worker:0 2", "delay ps:0 worker:0 1s", "cut ps:0"])
def test_servers_of_tensorflow_obey_nobody(text):
    with pytest.raises(UnimplementedError, match="worker:0 of cluster 'mixed' is a server of Tens"):
        Mixed().disturb(text)


@pytest.mark.parametrize(
    ("inside", "left"),
    [
        ([], ["slow ps:0 2"]),  # what was there before comes back
        (["slow ps:0 9"], ["slow ps:0 9"]),  # what somebody said meanwhile stays
        (["cut ps:0|ps:1"], ["slow ps:0 2", "cut ps:0|ps:1"]),
    ],
)
def test_a_context_leaves_what_is_not_its_own(inside, left):
    mixed = Mixed()
    mixed.disturb("slow ps:0 2")
    with mixed.disturbed("slow ps:0 3", "freeze ps:1"):
        mixed.disturb(*inside)
    assert sorted(each.words for each in mixed.disturbances) == sorted(left)


def test_others_beside_them_do():
    mixed = Mixed()
    mixed.disturb("delay ps:0 ps:1 1s")
    assert [each.words for each in mixed.disturbances] == ["delay ps:0 ps:1 1s"]
