"""What servers tell of themselves: counts, bytes, queues, transfers, in every kind of cluster."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import grpc
import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, blocked, until
from tests.tracing.test_census import WHOLE
from tests.wire.calls_at import calls_at
from tfdist.launch.attached_cluster import attach
from tfdist.launch.census import CensusTaker, take_census
from tfdist.launch.start import start_cluster
from tfdist.protos import pb
from tfdist.tracing.device_names import short_name
from tfdist.wire.peers.census import DOES_NOT_TELL
from tfdist.wire.services.inspection import census_from, census_proto

pytestmark = pytest.mark.usefixtures("no_garbage")

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"


def program():
    """Return what a program on a parameter server and a worker has."""
    with tf.device("/job:ps"):
        weights = tf.get_variable("weights", [100], initializer=tf.zeros_initializer())
        queue = tf.FIFOQueue(3, tf.float32, shapes=[[5]], name="numbers")
    with tf.device("/job:worker"):
        doubled = tf.multiply(weights, 2.0, name="doubled")
    return weights, queue, doubled


def at_rest(taker):
    """Return a census of a moment at which no step is in flight: a part may end a little later."""
    until(lambda: not any(task.in_flight for task in taker.take().tasks))
    return taker.take(holdings=True)


def check(taker, session, weights, doubled, put):
    """Run a few steps, and check that the census counts them."""
    before = at_rest(taker)
    for _ in range(4):
        session.run(doubled)
    session.run(put)
    now = at_rest(taker)
    tasks = {task.task: task for task in now.tasks}
    earlier = {task.task: task.steps for task in before.tasks}
    assert tasks[WORKER].steps == earlier[WORKER] + 5
    assert tasks[PS].steps == earlier[PS] + 5
    assert (tasks[PS].variables, tasks[PS].variable_bytes) == (1, 400)
    assert tasks[PS].resource_bytes == 20
    assert [task.in_flight for task in now.tasks] == [0, 0]
    assert tasks[WORKER].sessions == 1
    assert tasks[PS].process_bytes > 1e6
    sent = {each.link: (each.tensors, each.nbytes) for each in now.traffic}
    assert sent[PS, WORKER] == (4, 1600)
    [stock] = now.stocks
    assert (stock.name, stock.kind, stock.fill, stock.capacity) == ("numbers", "FIFOQueue", 1, 3)
    assert [(each.kind, each.name, each.about) for each in now.holdings] == [
        ("queue", "numbers", ""),
        ("variable", "weights", "float32[100]"),
    ]
    assert now.silent == ()


@pytest.mark.parametrize("processes", [False, True], ids=["in kernel", "processes"])
def test_a_cluster_counts_what_it_does(processes):
    weights, queue, doubled = program()
    cluster = start_cluster({"ps": 1, "worker": 1}, processes=processes).cluster
    put = queue.enqueue(np.ones(5))
    try:
        with tf.Session(cluster.target()) as session, closing(CensusTaker(cluster)) as taker:
            session.run(weights.initializer)
            check(taker, session, weights, doubled, put)
            with blocked_at(cluster, session, queue) as told:
                [waiter] = told.waiters
                assert (waiter.node, waiter.needs, waiter.missing) == ("take", "elements", 1)
                assert sum(task.in_flight for task in told.tasks) == 2
            whole = [take_census(each) for each in (session, cluster.target(), "main", None)]
            assert [len(each.tasks) for each in whole] == [2] * 4
    finally:
        cluster.stop()


@contextmanager
def blocked_at(cluster, session, queue):
    """Let a step wait for an element, and give a census of that."""
    take = queue.dequeue(name="take")
    call = Call(lambda: [session.run(take) for _ in range(2)])
    until(lambda: take_census(cluster).waiters)
    yield take_census(cluster)
    session.run(queue.enqueue(np.ones(5)))
    call.result()


def test_an_attached_cluster_tells_too():
    cluster = start_cluster({"a": 1}, processes=True, name="far").cluster
    try:
        attached = attach(f"a={cluster.servers[0].address}", "near").cluster
        assert [task.task for task in take_census(attached).tasks] == ["/job:a/replica:0/task:0"]
        attached.stop()
    finally:
        cluster.stop()


def test_a_session_of_its_own_process():
    with tf.Session() as session:
        session.run(tf.constant(1.0) + 1.0)
        [task] = take_census().tasks
        assert (task.steps, task.sessions, task.in_flight) == (1, 1, 0)
    assert take_census().tasks == ()


def test_repeated_steps_are_counted_one_by_one():
    """A thread that fills a queue repeats its step without going back to its master each time."""
    queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        for _ in range(50):
            session.run(queue.dequeue())
        [task] = take_census(session).tasks
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads)
    assert task.steps >= 100


def test_a_census_crosses_whole():
    told = WHOLE._replace(cursor=(1, 2, 2**32 - 1))
    assert census_from(pb.CensusResponse.FromString(census_proto(told).SerializeToString())) == told


def test_what_has_not_changed_is_not_sent_again(two, way):
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
    take = queue.dequeue()
    with tf.Session(two[1].target) as session, calls_at(two[0].address, way) as ps:
        with blocked(two[0], session.run, take) as call:
            first = ps.ask(pb.CensusRequest(holdings=True))
            again = ps.ask(pb.CensusRequest(holdings=True, cursor=first.cursor))
            whole = ps.ask(pb.CensusRequest(whole_cluster=True))
            session.run(queue.enqueue(1.0))
            call.result()
    assert ([len(first.stocks), len(first.holdings)], first.tasks[0].in_flight) == ([1, 1], 1)
    assert (len(again.stocks), len(again.holdings), again.cursor) == (0, 0, first.cursor)
    assert [waiter.node for waiter in again.waiters] == [take.op.name]
    assert [task.task for task in whole.tasks] == [PS, WORKER]


def test_servers_of_tensorflow_do_not_tell():
    server = grpc.server(ThreadPoolExecutor(2))  # answers all calls as one that knows none of them
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        found = take_census(f"grpc://127.0.0.1:{port}")
    finally:
        server.stop(0).wait()
    assert [each.reason for each in found.silent] == [DOES_NOT_TELL]


def test_a_task_that_is_lost_is_silent_and_the_others_tell():
    cluster = start_cluster({"a": 2}, processes=True).cluster
    try:
        cluster.kill("a:1")
        found = take_census(cluster)
        assert [task.task for task in found.tasks] == ["/job:a/replica:0/task:0"]
        assert [each.task for each in found.silent] == ["/job:a/task:1"]
    finally:
        cluster.stop()


def test_processes_tell_what_they_computed_moved_and_waited():
    cluster = start_cluster({"ps": 1, "worker": 1}, processes=True).require()
    try:
        with tf.Graph().as_default(), tf.Session(cluster.target("worker")) as session:
            with tf.device("/job:ps"):
                large = tf.random_normal([1000, 1000])
            with tf.device("/job:worker"):
                total = tf.reduce_sum(tf.matmul(large, large))
            for _ in range(3):
                session.run(total)
        told = {short_name(each.task): each for each in take_census(cluster).tasks}
    finally:
        cluster.stop()
    ps, worker = told["ps:0"], told["worker:0"]
    assert min(ps.computed, worker.computed, ps.moved, worker.waited) > 0
    assert min(ps.processor, worker.processor) > 0
    assert ps.process != worker.process
