"""Steps that no thread waits for: who resumes them, where, and what ends them."""

import threading
from collections import deque
from contextlib import closing

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until, waiters
from tests.wire.calls_at import WAYS, calls_at, step_request
from tfdist.errors import (
    AbortedError,
    CancelledError,
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    UnknownError,
)
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.graph.records import records
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.step.async_driver import drive_async
from tfdist.runtime.step.requests import SessionOptions
from tfdist.runtime.step.step import Step
from tfdist.runtime.task.peers import DirectPeers
from tfdist.runtime.task.task import Task, local_task
from tfdist.runtime.task.worker import RunOptions
from tfdist.wire.server import Server
from tfdist.wire.services.runner import LoopRunner


class Bench:
    """A runner that does nothing by itself: the test resumes steps, and lets time pass."""

    def __init__(self):
        self.submitted = deque()
        self.lights = []
        self.timers = []
        self.called_off = 0

    def submit(self, function, is_light):
        self.submitted.append(function)
        self.lights.append(is_light)

    def later(self, seconds, function):
        self.timers.append((seconds, function))

        def call_off():
            self.called_off += 1

        return call_off

    def run(self):
        """Call what was submitted; returns how much that was."""
        count = 0
        while self.submitted:
            self.submitted.popleft()()
            count += 1
        return count


class Outcome(list):
    """What a step's end was told."""

    __call__ = list.append


class Session:
    """A master's session on a task of its own, whose steps run aside.

    Args:
      runner: resumes them.
    """

    def __init__(self, runner):
        self.runner = runner
        self.task = local_task()
        self.handle = self.task.master.create_session(SessionOptions())
        nodes = records(tf.get_default_graph().get_operations())
        self.task.master.extend_session(self.handle, nodes, 0)

    def start(self, *fetches, timeout=None, feeds=()):
        """Start a step; returns it, and what will be told of its end."""
        endpoints = tuple((each.op.name, 0) for each in fetches)
        fed = tuple((tensor.op.name, 0) for tensor, _ in feeds)
        prepared = self.task.master.prepare(self.handle, Signature(fed, endpoints, ()))
        outcome = Outcome()
        step = self.task.master.run_step_async(
            prepared, [value for _, value in feeds], timeout, False, self.runner, outcome
        )
        return step, outcome

    def run(self, *fetches):
        """Run a step to its end."""
        _, outcome = self.start(*fetches)
        self.runner.run()
        return outcome[0].values

    def close(self):
        self.task.master.close_session(self.handle)


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def queue():
    return tf.FIFOQueue(2000, tf.float32, shapes=[[]], name="q", shared_name="q")


# how a step is resumed


def test_a_step_that_is_not_known_to_be_short_leaves_the_callers_thread(bench):
    y = tf.constant(1.0) + 1.0
    with closing(Session(bench)) as session:
        _, outcome = session.start(y)
        assert (bench.lights, outcome) == ([False], [])
        assert bench.run() == 1
        assert [each.values for each in outcome] == [[2.0]]
        assert not session.task.is_busy


def test_a_short_step_ends_before_the_call_returns(bench, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", "auto")
    y = tf.constant(1.0) + 1.0
    with closing(Session(bench)) as session:
        for _ in range(4):
            session.run(y)
        bench.lights.clear()
        _, outcome = session.start(y)
        assert [each.values for each in outcome] == [[2.0]]
        assert bench.lights == []


def test_a_step_that_waits_is_submitted_when_its_element_comes(bench, queue):
    take, put, other = queue.dequeue(), queue.enqueue(5.0), tf.constant(1.0) + 1.0
    with closing(Session(bench)) as session:
        _, outcome = session.start(take)
        bench.run()
        assert session.run(other) == [2.0]
        assert outcome == []
        enqueue(session, put)
        bench.run()
        assert [each.values for each in outcome] == [[5.0]]


@pytest.mark.parametrize("is_large", [False, True])
def test_who_takes_a_large_input_leaves_the_thread_that_others_wait_for(
    bench, monkeypatch, is_large
):
    monkeypatch.setenv("TFDIST_EXECUTOR", "auto")
    queue = tf.FIFOQueue(9, tf.float32, shared_name="q")
    x = tf.placeholder(tf.float32, [None])
    take, put = queue.dequeue(), queue.enqueue(x)
    total = tf.reduce_sum(take) * 0.0
    with closing(Session(bench)) as session:
        for _ in range(6):
            enqueue(session, put, (x, np.ones(2, np.float32)))
            session.run(total)
        _, outcome = session.start(total)
        bench.lights.clear()
        enqueue(session, put, (x, np.ones(1 << 20 if is_large else 2, np.float32)))
        bench.run()
        assert bench.lights[-1:] == [not is_large]
        assert outcome[0].values == [0.0]


def enqueue(session, put, *feeds):
    """Start a step of an operation without outputs."""
    fed, values = tuple((x.op.name, 0) for x, _ in feeds), [value for _, value in feeds]
    prepared = session.task.master.prepare(session.handle, Signature(fed, (), (put.name,)))
    outcome = Outcome()
    step = session.task.master.run_step_async(
        prepared, values, None, False, session.runner, outcome
    )
    return step, outcome


def test_nobody_is_woken_while_nothing_happens(bench, queue):
    take, size = queue.dequeue(), queue.size()
    with closing(Session(bench)) as session:
        session.start(take)
        bench.run()
        assert not bench.submitted
        session.start(size)
        assert bench.run() == 1


def test_steps_that_wait_are_served_in_order(bench, queue):
    take, put = queue.dequeue(), queue.enqueue_many([[0.0, 1.0, 2.0, 3.0]])
    with closing(Session(bench)) as session:
        outcomes = []
        for _ in range(4):
            outcomes.append(session.start(take)[1])
            bench.run()
        enqueue(session, put)
        bench.run()
        assert [each.values for [each] in outcomes] == [[0.0], [1.0], [2.0], [3.0]]


def test_several_waits_of_one_step_may_end_in_any_order(bench):
    queues = [tf.FIFOQueue(2, tf.float32, shapes=[[]], name=f"q{i}") for i in range(3)]
    takes = [each.dequeue() for each in queues]
    puts = [each.enqueue(float(i)) for i, each in enumerate(queues)]
    total = tf.add_n(takes)
    with closing(Session(bench)) as session:
        _, outcome = session.start(*takes, total)
        bench.run()
        for put in (puts[1], puts[2], puts[0]):
            assert outcome == []
            enqueue(session, put)
            bench.run()
        assert [each.values for each in outcome] == [[0.0, 1.0, 2.0, 3.0]]


# what ends it


def test_a_deadline_ends_a_step_and_names_what_it_waited_for(bench, queue):
    take = queue.dequeue(name="take")
    with closing(Session(bench)) as session:
        _, outcome = session.start(take, timeout=0.25)
        bench.run()
        [(seconds, ring)] = bench.timers
        assert seconds == 0.25
        ring()
        assert outcome == []
        bench.run()
        [error] = outcome
        assert type(error) is DeadlineExceededError
        assert "250 ms; it waits for: take: dequeue on queue 'q' waits" in error.message
        assert (error.node_name, waiters(session)) == ("take", 0)


def test_a_step_that_ends_calls_its_deadline_off(bench):
    y = tf.constant(1.0) + 1.0
    with closing(Session(bench)) as session:
        _, outcome = session.start(y, timeout=9.0)
        bench.run()
        assert bench.called_off == 1
        [(_, ring)] = bench.timers
        ring()  # it was about to
        bench.run()
        assert len(outcome) == 1


def test_aborting_ends_a_step_by_its_first_error(bench, queue):
    take, size = queue.dequeue(), queue.size()
    with closing(Session(bench)) as session:
        step, outcome = session.start(take)
        bench.run()
        step.abort(AbortedError("one"))
        step.abort(CancelledError("two"))
        bench.run()
        assert [str(each.message) for each in outcome] == ["one"]
        step.abort(CancelledError("three"))
        bench.run()
        assert len(outcome) == 1
        assert session.run(size) == [0]
        assert waiters(session) == 0
        assert not session.task.is_busy


def test_a_task_is_busy_until_the_steps_of_a_closed_session_have_ended(bench, queue):
    take = queue.dequeue()
    session = Session(bench)
    _, outcome = session.start(take)
    bench.run()
    session.close()
    assert (outcome, session.task.is_busy) == ([], True)
    bench.run()
    assert [type(each) for each in outcome] == [CancelledError]
    assert not session.task.is_busy


def test_a_task_is_busy_while_a_session_is_closed():
    noted = []

    class Noting(DirectPeers):
        def close_session(self, task, handle):
            noted.append(self._own.is_busy)
            super().close_session(task, handle)

    task = Task("a", 0, {"/job:a/replica:0/task:0": ""}, make_peers=Noting)
    task.master.close_session(task.master.create_session(SessionOptions()))
    assert noted == [True]
    assert not task.is_busy


def test_a_worker_is_busy_until_the_end_of_a_partition_is_told(bench):
    y = tf.constant(1.0) + 1.0
    with closing(Session(bench)) as session:
        prepared = session.task.master.prepare(session.handle, Signature((), ((y.op.name, 0),), ()))
        [(_, graph)] = prepared.parts
        worker, told = session.task.worker, []
        worker.run_alone(
            session.handle,
            graph,
            RunOptions(1, False, bench),
            lambda error, run: told.append((error, worker.is_busy)),
        )
        bench.run()
        assert told == [(None, True)]
        assert not worker.is_busy


def test_a_failing_kernel_ends_a_step_with_its_error(bench):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.check_numerics(x, "bad", name="y")
    with closing(Session(bench)) as session:
        for _ in range(3):
            _, outcome = session.start(y, feeds=[(x, np.float32(np.inf))])
            bench.run()
            [error] = outcome
            assert (type(error), error.node_name) == (InvalidArgumentError, "y")
            assert not session.task.is_busy


@pytest.fixture
def leaving():
    """An op whose kernel wants the process to end."""
    op_def = OpDef("Leaving_() -> y: float")

    @op_def.kernel
    def kernel():
        raise SystemExit("enough")

    yield op_def
    del REGISTRY["Leaving_"]


def test_a_step_ends_whatever_its_kernel_raises(bench, leaving):
    left = leaving()
    with closing(Session(bench)) as session:
        for _ in range(3):
            _, outcome = session.start(left)
            bench.run()
            [error] = outcome
            assert isinstance(error, UnknownError)
            assert error.message == "the step was ended by SystemExit: enough"
            assert not session.task.is_busy


def test_an_error_beside_a_wait_takes_nothing(bench, queue):
    x = tf.placeholder(tf.float32, [], name="x")
    y, take = tf.check_numerics(x, "bad"), queue.dequeue()
    with closing(Session(bench)) as session:
        _, outcome = session.start(take, y, feeds=[(x, np.float32(np.nan))])
        bench.run()
        assert [type(each) for each in outcome] == [InvalidArgumentError]
        assert waiters(session) == 0


# parts that other processes run

CAUSE = InvalidArgumentError("the cause")
FOLLOWING = InvalidArgumentError("the cause")
FOLLOWING.is_derived = True


def started(bench, parts):
    """Return a step that other processes run in `parts` parts, the parts, and its outcome."""
    step, outcome = Step(1), Outcome()
    remote = [step.launch_remote() for _ in range(parts)]
    drive_async(step, bench, outcome, is_light=False)
    bench.run()
    return step, remote, outcome


def test_a_step_ends_with_its_last_part(bench):
    step, [one, other], outcome = started(bench, 2)
    one.end("statistics of one")
    bench.run()
    assert outcome == []
    other.end("of the other")
    bench.run()
    assert outcome == [None]
    assert step.remote_stats == ["statistics of one", "of the other"]


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        pytest.param([CAUSE, FOLLOWING], CAUSE, id="the cause first"),
        pytest.param([FOLLOWING, CAUSE], CAUSE, id="what follows first"),
        pytest.param([CancelledError("stopped"), CAUSE], CAUSE, id="a cancelled one first"),
        pytest.param([FOLLOWING, None], FOLLOWING, id="only what follows"),
        pytest.param([CAUSE, InternalError("later")], CAUSE, id="the first of two causes"),
        pytest.param([None, CAUSE], CAUSE, id="the other part ended well"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_the_cause_is_told_in_whatever_order_errors_come(bench, ends, told, at_once):
    _, parts, outcome = started(bench, 2)
    for part, end in zip(parts, ends, strict=True):
        part.end(end)
        if not at_once:
            bench.run()
    bench.run()
    assert outcome == [told]


def test_an_error_cancels_the_other_parts_and_waits_for_them_a_while(bench):
    _, [one, silent], outcome = started(bench, 2)
    cancelled = []
    silent.cancel = lambda: cancelled.append(True)
    one.end(CAUSE)
    bench.run()
    assert (cancelled, outcome) == ([True], [])
    [(seconds, look)] = bench.timers
    assert 0 < seconds < 1
    silent.end(CancelledError("stopped"))
    bench.run()
    look()
    bench.run()
    assert outcome == [CAUSE]


def test_a_part_that_never_ends_is_given_up(bench, monkeypatch):
    monkeypatch.setattr("tfdist.runtime.step.step.CANCEL", 0.0)
    _, [one, _], outcome = started(bench, 2)
    one.end(CAUSE)
    bench.run()
    for _, look in bench.timers:
        look()
    bench.run()
    assert outcome == [CAUSE]


def test_a_step_that_is_aborted_tells_why_even_if_its_parts_tell_otherwise(bench):
    step, [part], outcome = started(bench, 1)
    why = DeadlineExceededError("too long")
    part.cancel = lambda: part.end(CancelledError("stopped"))
    step.abort(why)
    bench.run()
    assert outcome == [why]


# many threads


def test_elements_that_come_from_many_threads_end_all_steps():
    """Whoever ends a wait submits the step, and one thread at a time resumes it."""
    queues = [tf.FIFOQueue(100, tf.float32, shapes=[[]], name=f"q{i}") for i in range(8)]
    takes = [each.dequeue() for each in queues]
    puts = [each.enqueue(1.0) for each in queues]
    total = tf.add_n(takes)
    runner = LoopRunner()
    try:
        with closing(Session(runner)) as session:
            outcomes = [session.start(total)[1] for _ in range(30)]

            def feed(put):
                for _ in range(30):
                    enqueue(session, put)

            for call in [Call(feed, put) for put in puts]:
                call.result()
            until(lambda: all(outcomes))
            assert [each.values for [each] in outcomes] == [[8.0]] * 30
            until(lambda: not session.task.is_busy)
    finally:
        runner.stop()


def test_closing_while_steps_end_tells_every_one_of_them():
    queue = tf.FIFOQueue(1000, tf.float32, shapes=[[]], name="q")
    take, put = queue.dequeue(), queue.enqueue(1.0)
    runner = LoopRunner()
    try:
        for _ in range(10):
            session = Session(runner)
            outcomes = [session.start(take)[1] for _ in range(20)]
            call = Call(lambda: [enqueue(session, put) for _ in range(10)])  # noqa: B023
            session.close()
            try:
                call.result()
            except AbortedError:
                pass
            until(lambda: all(outcomes))  # noqa: B023
            ends = [each for [each] in outcomes]
            assert {type(each) for each in ends if isinstance(each, Exception)} <= {CancelledError}
            until(lambda: not session.task.is_busy)  # noqa: B023
    finally:
        runner.stop()


# on a real server


@pytest.fixture(params=WAYS)
def asker(request):
    with Server({"a": ["localhost:0"]}, inproc=False) as server:
        with calls_at(server.address, request.param) as asker:
            asker.server = server
            yield asker


def session_of(asker):
    """Return a session with the default graph."""
    graph_def = tf.get_default_graph().as_graph_def()
    return asker.ask(pb.CreateSessionRequest(graph_def=graph_def)).session_handle


def test_a_thousand_blocked_steps_hold_no_thread_and_are_served_in_order(asker, queue):
    queue.dequeue(name="take")
    queue.enqueue_many(tf.range(1000.0), name="put")
    tf.add(1.0, 1.0, name="y")
    handle, before = session_of(asker), threading.active_count()
    first = asker.begin(step_request(handle, fetch=["take:0"]))
    until(lambda: waiters(asker.server) == 1)  # planned: now no step overtakes another
    begun = [first, *(asker.begin(step_request(handle, fetch=["take:0"])) for _ in range(999))]
    until(lambda: waiters(asker.server) == 1000)
    until(lambda: threading.active_count() - before < 5)
    assert make_ndarray(asker.run(handle, fetch=["y:0"])["y:0"]) == 2.0
    asker.run(handle, target=["put"])
    taken = [make_ndarray(each.outcome().tensor[0].tensor).item() for each in begun]
    assert sorted(taken) == list(range(1000))
    assert taken[0] == 0.0
    until(lambda: not asker.server.task.is_busy)


def test_a_thousand_blocked_steps_end_with_their_session(asker, queue):
    queue.dequeue(name="take")
    handle = session_of(asker)
    begun = [asker.begin(step_request(handle, fetch=["take:0"])) for _ in range(1000)]
    until(lambda: waiters(asker.server) == 1000)
    asker.ask(pb.CloseSessionRequest(session_handle=handle))
    assert {type(each.outcome()) for each in begun} == {CancelledError}
    assert waiters(asker.server) == 0
    until(lambda: not asker.server.task.is_busy)


@pytest.fixture
def where():
    """An op whose kernel notes on which thread it runs, and computes as long as it is told."""
    threads = []
    op_def = OpDef("Where_(x: T) -> y: T [T: type]")

    @op_def.kernel
    def kernel(x):
        threads.append(threading.current_thread().name)
        for _ in range(int(x)):
            np.sort(np.arange(100_000)[::-1])
        return x

    yield op_def, threads
    del REGISTRY["Where_"]


def run_where(asker, where, work, times):
    """Return the names of the threads that a step ran on, each time."""
    op_def, threads = where
    x = tf.placeholder(tf.float32, [], name="x")
    op_def(x, name="y")
    handle = session_of(asker)
    for _ in range(times):
        content = np.float32(work).tobytes()
        feed = {"x:0": pb.TensorProto(dtype=1, tensor_content=content)}
        asker.run(handle, feed=feed, fetch=["y:0"])
    return [name.split("_")[0] for name in threads]


def test_short_steps_come_to_run_on_the_loop(asker, where):
    op_def, threads = where
    op_def(tf.placeholder(tf.float32, [], name="x"), name="y")
    comes_to_run_on_the_loop(asker, session_of(asker), threads, 0.0)


def test_long_steps_stay_off_the_loop(asker, where):
    assert "tfdist-wire" not in run_where(asker, where, 30, 6)


def feed_where(asker, handle, *values):
    """Run what `y` is made of, once for each value that is fed as `x`."""
    for value in values:
        asker.run(handle, feed={"x:0": tf.make_tensor_proto(value)}, fetch=["y:0"])


def comes_to_run_on_the_loop(asker, handle, threads, value):
    """Run a short step until it runs on the loop; a busy machine lets some look like long ones."""

    def does():
        feed_where(asker, handle, value)
        return threads[-1].startswith("tfdist-wire")

    until(does)


def test_a_large_input_stays_off_the_loop_however_short_its_steps_were(asker, where):
    op_def, threads = where
    x = tf.placeholder(tf.float32, [None], name="x")
    op_def(tf.reduce_min(tf.exp(x)) * 0.0, name="y")
    handle, small = session_of(asker), np.zeros(2, np.float32)
    comes_to_run_on_the_loop(asker, handle, threads, small)
    feed_where(asker, handle, np.zeros(1 << 20, np.float32))
    assert not threads[-1].startswith("tfdist-wire")


@pytest.mark.parametrize(
    ("make", "is_served_by_the_loop"),
    [
        pytest.param(lambda x: tf.fill(x, 1.0), False, id="a size that is fed"),
        pytest.param(lambda x: tf.tile([1.0], x * 2), False, id="one computed of what is fed"),
        pytest.param(
            lambda x: tf.range(0.0, 1.0, 1 / tf.to_float(x[0])), False, id="a step that is fed"
        ),
        pytest.param(lambda x: tf.fill(tf.shape(x), 1.0), True, id="the size of what is fed"),
        pytest.param(lambda x: tf.reshape([1.0], x), True, id="no more than there is"),
    ],
)
def test_who_tells_the_size_of_a_result(asker, where, make, is_served_by_the_loop):
    op_def, threads = where
    x = tf.placeholder(tf.int32, [1], name="x")
    op_def(tf.reduce_sum(make(x)) * 0.0, name="y")
    handle = session_of(asker)
    if is_served_by_the_loop:
        comes_to_run_on_the_loop(asker, handle, threads, np.ones(1, np.int32))
    else:
        feed_where(asker, handle, *[np.ones(1, np.int32)] * 6)
        assert not any(each.startswith("tfdist-wire") for each in threads)
