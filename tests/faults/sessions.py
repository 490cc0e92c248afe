"""Rows about blocked and crowded sessions: 17, 18, 19, 37 and two hundred sessions at once."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import tfdist as tf
from tests.faults import probes
from tests.faults.calls import Running, until
from tests.faults.graphs import Counter, Queue
from tests.faults.place import Place
from tests.faults.references import calls_at_once
from tests.faults.row import GRPC, Measured, Row
from tfdist.protos import pb
from tfdist.wire.grpc.options import grpc

TIMEOUT = 0.2  # seconds of a run
BLOCKED = 1000  # steps
SMALL_STACK = 256 * 1024  # bytes; a thousand threads wait here, none in the servers
MANY = 200  # sessions, or steps
CALLS = 8  # of a session to its master: it begins, gets a graph, runs five times and ends
ANSWER = 0.5  # seconds in which a server answers while very many steps wait
PATIENCE = 60.0  # seconds


def close_blocked(place: Place, times: int) -> Measured:
    """A session is closed while a step of it waits; the next session works."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    slowest = Measured(0.0)
    for turn in range(times):
        session = place.session(master)
        session.run(queue.size)
        call = place.call(session.run, queue.take)
        until(keeper.waits, "the step waits")
        fault = time.monotonic()
        session.close()
        error = call.error()
        slowest = max(
            slowest, Measured(call.seconds_after(fault), error), key=lambda each: each.seconds
        )
        later = place.session(master)
        queue.add(later, turn)
        assert later.run(queue.take) == turn, "the closed step ate an element"
        later.close()
    return slowest


def reset_blocked(place: Place, times: int) -> Measured:
    """A server is reset while a step waits; the next session works."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    slowest = Measured(0.0)
    for _ in range(times):
        session = place.session(master)
        queue.add(session, 1)
        assert session.run(queue.take) == 1
        call = place.call(session.run, queue.take)
        until(keeper.waits, "the step waits")
        fault = time.monotonic()
        tf.Session.reset(master.target)
        error = call.error()
        slowest = max(
            slowest, Measured(call.seconds_after(fault), error), key=lambda each: each.seconds
        )
        later = place.call(session.run, queue.size).error()
        assert isinstance(later, tf.errors.AbortedError), f"the old session's next run: {later!r}"
        session.close()
    return slowest


def time_out(place: Place) -> Measured:
    """Runs with a timeout wait for an element that does not come; then for some that do."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    session = place.session(master)
    options = tf.RunOptions(timeout_in_ms=int(TIMEOUT * 1000))
    session.run(queue.size)
    worst = Measured(0.0)
    for _ in range(10):
        start = time.monotonic()
        call = place.call(session.run, queue.take, None, options)
        error = call.error()
        off = abs(call.seconds_after(start) - TIMEOUT)
        worst = max(worst, Measured(off, error, (queue.name,)), key=lambda each: each.seconds)
    _check_order(session, queue, random.Random(18))
    assert session.run(queue.size) == 0
    return worst


def _check_order(session: Any, queue: Queue, dice: random.Random) -> None:
    """Put and take at random, with short timeouts: the order is that of a deque."""
    inside: deque[int] = deque()
    options = tf.RunOptions(timeout_in_ms=20)
    for element in range(100):
        if dice.random() < 0.5:
            queue.add(session, element)
            inside.append(element)
        elif inside:
            assert session.run(queue.take) == inside.popleft()
        else:
            error = Running(session.run, queue.take, None, options).error()
            assert isinstance(error, tf.errors.DeadlineExceededError), repr(error)
    while inside:
        assert session.run(queue.take) == inside.popleft()


def thousand_blocked(place: Place) -> Measured:
    """A thousand steps wait; a further step, and a question, are answered at once."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper, capacity=BLOCKED)
    session = place.session(master)
    session.run([queue.size, queue.take_many], {queue.count: 0})
    before = [probes.threads(each.pid) for each in (master, keeper)]
    with small_stacks():
        calls = [place.call(session.run, queue.take) for _ in range(BLOCKED)]
    until(lambda: len(keeper.waits()) == BLOCKED, "a thousand steps wait", PATIENCE)
    fault = time.monotonic()
    size = place.call(session.run, queue.size)
    assert size.value() == 0
    more = [probes.threads(each.pid) for each in (master, keeper)]
    start = time.monotonic()
    queue.add(session, *range(BLOCKED))
    taken = sorted(int(call.value(PATIENCE)) for call in calls)
    assert taken == list(range(BLOCKED)), "an element was lost or came twice"
    note = (
        f"threads of master and worker: {before} before, {more} with {BLOCKED} steps waiting; all "
        f"ended {time.monotonic() - start:.2f} s after their elements came"
    )
    assert sum(more) - sum(before) < 70, note
    return Measured(size.seconds_after(fault), note=note)


def full_queue(place: Place) -> Measured:
    """All of a queue's capacity is waited for by those that put; one that takes comes through."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper, capacity=1)
    session = place.session(master)
    queue.add(session, MANY)
    with small_stacks():
        puts = [place.call(session.run, queue.put, {queue.element: i}) for i in range(MANY)]
    until(lambda: len(keeper.waits()) == MANY, "all that put wait", PATIENCE)
    fault = time.monotonic()
    call = place.call(session.run, queue.take)
    assert call.value() == MANY, "the first element came not first"
    taken = sorted(int(session.run(queue.take)) for _ in range(MANY))
    for each in puts:
        each.value()
    assert taken == list(range(MANY)), "an element was lost or came twice"
    return Measured(call.seconds_after(fault))


def many_sessions(place: Place) -> Measured:
    """Two hundred clients open a session each at once, and count to five."""
    ps, master = place.tasks({"ps": 1, "worker": 1}).values()
    counter = Counter(ps)
    add = counter.added(1)
    first = place.session(master)
    first.run(counter.start)
    before = probes.memory(master.pid)

    def count() -> None:
        with tf.Session(master.target, graph=first.graph) as session:
            for _ in range(5):
                session.run(add)

    fault = time.monotonic()
    with small_stacks():
        calls = [place.call(count) for _ in range(MANY)]
    for call in calls:
        call.value(PATIENCE)
    seconds = time.monotonic() - fault
    assert first.run(counter.value) == 5 * MANY
    more = (probes.memory(master.pid) - before) / probes.MIB
    return Measured(seconds, note=f"the master took {more:.0f} MiB more for {MANY} sessions")


def same_request(place: Place) -> Measured:
    """A step is asked for twice with one request id, one after the other and at once."""
    [master] = place.tasks({"worker": 1}).values()
    counter = Counter(master)
    add = counter.added(1)
    session = place.session(master)
    session.run(counter.start)
    request = pb.CreateSessionRequest(graph_def=session.graph_def)
    handle = _ask(master.address, "CreateSession", request).session_handle

    def run(number: int) -> Any:
        step = pb.RunStepRequest(session_handle=handle, fetch=[add.name], request_id=number)
        return _ask(master.address, "RunStep", step)

    run(77)
    fault = time.monotonic()
    again = place.call(run, 77)
    error = again.error()
    assert isinstance(error, grpc.RpcError), repr(error)
    twins = [place.call(run, 78) for _ in range(8)]
    answered = sum(_succeeds(each) for each in twins)
    assert answered == 1, f"{answered} of 8 equal requests were carried out"
    value = session.run(counter.value)
    assert value == 2, f"the counter is {value} after two different requests"
    text = f"{error.code().name}: {error.details()}"
    assert error.code() is grpc.StatusCode.ABORTED, text
    raised = tf.errors.AbortedError(error.details())
    return Measured(again.seconds_after(fault), raised, ("77", "twice"))


def _ask(address: str, method: str, request: Any) -> Any:
    answer = getattr(pb, f"{method}Response")
    return probes.ask(address, f"/tensorflow.MasterService/{method}", request, answer)


def _succeeds(call: Running) -> bool:
    try:
        call.value()
    except grpc.RpcError:
        return False
    return True


@contextmanager
def small_stacks() -> Iterator[None]:
    """Let new threads have little memory."""
    before = threading.stack_size(SMALL_STACK)
    try:
        yield
    finally:
        threading.stack_size(before)


def _some(run: Callable[..., Measured], times: int) -> Callable[[Place], Measured]:
    return partial(run, times=times)


CANCELLED, ABORTED, LATE = "CancelledError", "AbortedError", "DeadlineExceededError"
ROWS = [
    Row("17", "close() with a blocked step, 100 times", 1, CANCELLED, "", _some(close_blocked, 100),
        False),
    Row("17 some", "close() with a blocked step, 3 times", 1, CANCELLED, "",
        _some(close_blocked, 3)),
    Row("17 reset", "reset() with a blocked step, 100 times", 1, ABORTED, "new",
        _some(reset_blocked, 100), False),
    Row("17 reset some", "reset() with a blocked step, 3 times", 1, ABORTED, "new",
        _some(reset_blocked, 3)),
    Row("18", "run timeouts on a queue: how far off, and the order is kept", 0.05, LATE, "",
        time_out),
    Row("19", "another run while 1000 steps wait for elements", ANSWER, "", "", thousand_blocked,
        False),
    Row("19 grpc", "as 19, by gRPC alone", ANSWER, "", "", thousand_blocked, False, GRPC),
    Row("19 full", "a take from a full queue that 200 steps put into", ANSWER, "", "", full_queue),
    Row("S", "200 sessions at once, five runs each", 4, "", "", many_sessions, False,
        reference=partial(calls_at_once, MANY, CALLS)),
    Row("37", "the same request id twice", 1, ABORTED, "", same_request),
]  # fmt: skip
