"""Rows in which a task is lost for good, or comes back with nothing: 1, 2, 3, 4 and 13."""

from __future__ import annotations

import time

import tfdist as tf
from tests.faults.calls import until
from tests.faults.graphs import Counter, Loop, Queue, on
from tests.faults.histories import check_counter, check_fifo
from tests.faults.place import Place
from tests.faults.row import GRPC, TCP, Measured, Row

BUSY = 30  # runs after which a loop is interrupted
GONE = "start|restart|new session"  # what is advised when a task is gone


def kill_worker(place: Place) -> Measured:
    """A step waits on two workers; one of them is killed."""
    tasks = place.tasks({"worker": 3})
    master, victim, other = tasks.values()
    lost, kept = Queue(victim, "lost"), Queue(other, "kept")
    session = place.session(master)
    session.run([lost.size, kept.size])
    call = place.call(session.run, [lost.take, kept.take])
    until(lambda: victim.waits() and other.waits(), "both workers wait")
    fault = victim.kill()
    error = call.error()
    freed = until(lambda: not master.waits() + other.waits(), "the others forget the step")
    assert freed - fault < place.stretched(1.5), (
        f"the others forgot the step only after {freed - fault:.2f} s"
    )
    later = place.session(master, [other])
    kept.add(later, 7)
    assert kept.inside(later) == [7], "the step that failed ate an element"
    note = f"the others were free after {freed - fault:.2f} s"
    return Measured(call.seconds_after(fault), error, (victim.pattern, victim.where), note)


def kill_busy_worker(place: Place) -> Measured:
    """Steps add what a worker computes to a counter elsewhere; the worker is killed."""
    tasks = place.tasks({"ps": 1, "worker": 2})
    ps, master, victim = tasks.values()
    counter = Counter(ps)
    session = place.session(master)
    session.run(counter.start)
    loop = Loop(session, counter.added(on(victim, 1)))
    call = place.call(loop)
    until(lambda: len(loop.values) >= BUSY, "the loop runs")
    fault = victim.kill()
    error = call.error()
    value = place.session(master, [ps]).run(counter.value)
    check_counter(value, len(loop.values), 1)
    note = f"counter {value} after {len(loop.values)} acknowledged steps and one unknown"
    return Measured(call.seconds_after(fault), error, (victim.pattern, victim.where), note)


def kill_ps(place: Place) -> Measured:
    """Steps take elements from a worker's queue and add them on the ps, which is killed."""
    ps, master = place.tasks({"ps": 1, "worker": 1}).values()
    queue, total = Queue(master), Counter(ps, "total")
    session = place.session(master)
    session.run(total.start)
    put = 400
    queue.add(session, *range(put))
    taken = queue.take
    loop = Loop(session, [taken, total.added(taken)])
    call = place.call(loop)
    until(lambda: len(loop.values) >= BUSY, "the loop runs")
    fault = ps.kill()
    error = call.error()
    names = (ps.pattern, ps.where)
    measured = Measured(call.seconds_after(fault), error, names)
    alone = place.session(master, [master])
    inside = queue.inside(alone)
    check_fifo([int(element) for element, _ in loop.values], inside, put, unknown_takes=1)
    return measured


def kill_ps_and_restart(place: Place) -> Measured:
    """A ps is killed and restarted empty; a new session reads its variable."""
    ps, master = place.tasks({"ps": 1, "worker": 1}).values()
    counter = Counter(ps)
    session = place.session(master)
    session.run(counter.start)
    ps.kill()
    ps.restart()
    fault = time.monotonic()
    later = place.session(master)
    call = place.call(later.run, counter.value)
    error = call.error()
    seconds = call.seconds_after(fault)
    later.run(counter.start)
    assert later.run(counter.value) == 0
    return Measured(seconds, error, (counter.name,))


def kill_master(place: Place) -> Measured:
    """A client waits for a step, and its master is killed."""
    master, other = place.tasks({"worker": 2}).values()
    queue = Queue(other)
    session = place.session(master)
    session.run(queue.size)
    call = place.call(session.run, queue.take)
    until(other.waits, "the step waits")
    fault = master.kill()
    error = call.error()
    freed = until(lambda: not other.waits(), "the other task forgets the step")
    assert freed - fault < place.stretched(1.5), (
        f"the other forgot the step only after {freed - fault:.2f} s"
    )
    later = place.session(other, [other])
    queue.add(later, 7)
    assert queue.inside(later) == [7], "the step that failed ate an element"
    note = f"the other task was free after {freed - fault:.2f} s"
    return Measured(call.seconds_after(fault), error, (master.where,), note)


def restart_master(place: Place) -> Measured:
    """A client goes on with its session after the master was restarted."""
    [master] = place.tasks({"worker": 1}).values()
    x = on(master, 1)
    session = place.session(master)
    session.run(x)
    master.kill()
    master.restart()
    fault = time.monotonic()
    call = place.call(session.run, x)
    error = call.error()
    assert place.session(master).run(x) == 1
    return Measured(call.seconds_after(fault), error, ("session", "restarted"))


def restart_master_in_step(place: Place) -> Measured:
    """As above, but the session was in a step when the master was killed, and tried meanwhile."""
    [master] = place.tasks({"worker": 1}).values()
    queue = Queue(master)
    session = place.session(master)
    session.run(queue.size)
    call = place.call(session.run, queue.take)
    until(master.waits, "the step waits")
    master.kill()
    for error in (call.error(), place.call(session.run, queue.size).error()):
        assert isinstance(error, tf.errors.UnavailableError), repr(error)
    master.restart()
    fault = time.monotonic()
    call = place.call(session.run, queue.size)
    error = call.error()
    return Measured(call.seconds_after(fault), error, ("session", "restarted"))


def restart_worker(place: Place) -> Measured:
    """A worker is restarted between two steps of a session."""
    master, victim = place.tasks({"worker": 2}).values()
    x = on(victim, 1)
    session = place.session(master)
    session.run(x)
    victim.kill()
    victim.restart()
    fault = time.monotonic()
    call = place.call(session.run, x)
    error = call.error()
    seconds = call.seconds_after(fault)
    assert place.session(master).run(x) == 1
    recovered = time.monotonic() - fault
    assert recovered <= place.stretched(2.0), f"the first success came after {recovered:.2f} s"
    note = f"a new session had its first success after {recovered:.2f} s"
    names = (victim.pattern, victim.where, "incarnation [0-9a-f]{16} -> [0-9a-f]{16}")
    return Measured(seconds, error, names, note)


UNAVAILABLE, ABORTED = "UnavailableError", "AbortedError"
ROWS = [
    Row("1", "kill -9 of a worker that a step waits for", 1, UNAVAILABLE, GONE, kill_worker),
    Row("1 busy", "kill -9 of a worker in busy steps: the counter is right", 1, UNAVAILABLE, GONE,
        kill_busy_worker),
    Row("1 grpc", "as 1, by gRPC alone", 1, UNAVAILABLE, GONE, kill_worker, False, GRPC),
    Row("1 tcp", "as 1 busy, by frames over TCP", 1, UNAVAILABLE, GONE, kill_busy_worker,
        environment=TCP),
    Row("2", "kill -9 of a ps in busy steps: no element is lost", 1, UNAVAILABLE, GONE, kill_ps),
    Row("2 empty", "ps killed and restarted: a new session finds it empty", 1,
        "FailedPreconditionError", "initializ", kill_ps_and_restart),
    Row("2 grpc", "as 2, by gRPC alone", 1, UNAVAILABLE, GONE, kill_ps, False, GRPC),
    Row("2 tcp", "as 2, by frames over TCP", 1, UNAVAILABLE, GONE, kill_ps, environment=TCP),
    Row("3", "kill -9 of the master that a client waits for", 1, UNAVAILABLE, GONE, kill_master),
    Row("3 grpc", "as 3, by gRPC alone", 1, UNAVAILABLE, GONE, kill_master, False, GRPC),
    Row("3 tcp", "as 3, by frames over TCP", 1, UNAVAILABLE, GONE, kill_master, environment=TCP),
    Row("4", "master restarted: its client's next run", 1, ABORTED, "new", restart_master),
    Row("4 step", "master restarted, its client had tried meanwhile", 1, ABORTED, "new",
        restart_master_in_step),
    Row("13", "worker restarted between steps", 1, ABORTED, "new session", restart_worker),
    Row("13 tcp", "as 13, by frames over TCP", 1, ABORTED, "new session", restart_worker, False,
        TCP),
    Row("13 grpc", "as 13, by gRPC alone", 1, ABORTED, "new session", restart_worker, False, GRPC),
]  # fmt: skip
