"""Rows in which somebody falls silent: frozen (7), out of reach (10), cut off in a message (12)."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import tfdist as tf
from tests.faults.calls import until
from tests.faults.graphs import Counter, Queue, on
from tests.faults.histories import check_counter
from tests.faults.place import Key, Place
from tests.faults.proxy import Direction, How, Proxy
from tests.faults.row import GRPC, TCP, Measured, Row

PATIENCE = 40.0  # seconds
READS = 200  # of a counter that must not change any more
HEALING = 5.0  # seconds in which a session works once the network does
LARGE = 1_000_000  # int32 elements: 4 MB
DISTURBED = 20  # steps on a bad line
BOTH: tuple[Direction, ...] = ("to server", "to client")
CUTS: list[tuple[int, How]] = [
    (5_000, "reset"), (50_000, "half close"), (300_000, "half close"), (3_900_000, "reset"),
]  # fmt: skip


def freeze_worker(place: Place) -> Measured:
    """A worker is frozen while a step of it waits for the master's queue."""
    master, victim = place.tasks({"worker": 2}).values()
    gate, counter = Queue(master, "gate"), Counter(victim)
    step = counter.added(gate.take)
    session = place.session(master)
    session.run(counter.start)
    gate.add(session, 1)
    assert session.run(step) == 1
    call = place.call(session.run, step)
    until(master.waits, "the step waits")
    fault = victim.freeze()
    error = call.error(PATIENCE)
    seconds = call.seconds_after(fault)
    victim.thaw()
    later = place.session(master)
    gate.add(later, 5)
    _check_still(later, counter, [1])
    assert gate.inside(later) == [5], "the step that failed ate an element"
    return Measured(seconds, error, (victim.pattern, victim.where))


def freeze_worker_with_value(place: Place) -> Measured:
    """As above, but the value comes while the worker is frozen: it wakes up and finds it."""
    master, victim = place.tasks({"worker": 2}).values()
    gate, counter = Queue(master, "gate"), Counter(victim)
    step = counter.added(gate.take)
    session, other = place.session(master), place.session(master, [master])
    session.run(counter.start)
    call = place.call(session.run, step)
    until(master.waits, "the step waits")
    fault = victim.freeze()
    gate.add(other, 1)
    error = call.error(PATIENCE)
    seconds = call.seconds_after(fault)
    victim.thaw()
    value = _check_still(place.session(master), counter, [0, 1])
    note = f"after SIGCONT the increment was {'' if value else 'not '}applied"
    return Measured(seconds, error, (victim.pattern, victim.where), note)


def freeze_master(place: Place) -> Measured:
    """The master is frozen while a client waits for a step."""
    master, other = place.tasks({"worker": 2}).values()
    queue = Queue(other)
    session = place.session(master)
    session.run(queue.size)
    call = place.call(session.run, queue.take)
    until(other.waits, "the step waits")
    fault = master.freeze()
    error = call.error(PATIENCE)
    seconds = call.seconds_after(fault)
    master.thaw()
    until(lambda: not other.waits(), "the step is cancelled once the master wakes up")
    later = place.session(master)
    queue.add(later, 5)
    assert queue.inside(later) == [5], "the step that failed ate an element"
    return Measured(seconds, error, (master.where,))


def swallow_between_tasks(place: Place, directions: tuple[Direction, ...]) -> Measured:
    """The way from the master to a worker becomes a black hole; later it heals."""
    proxies: list[Proxy] = []
    master, victim = place.tasks({"worker": 2}, detours=partial(_detour, place, proxies)).values()
    [proxy] = proxies
    queue, counter = Queue(victim), Counter(victim)
    session = place.session(master)
    session.run([counter.start, queue.size])
    call = place.call(session.run, counter.added(queue.take))
    until(victim.waits, "the step waits")
    proxy.swallow(*directions)
    fault = time.monotonic()
    error = call.error(PATIENCE)
    seconds = call.seconds_after(fault)
    proxy.heal()
    healed = _first_success(place, master.address, counter, [0])
    later = place.session(master)
    queue.add(later, 5)
    _check_still(later, counter, [0])
    assert queue.inside(later) == [5], "the step that failed ate an element"
    note = f"a session worked {healed:.2f} s after healing"
    return Measured(seconds, error, (victim.pattern, proxy.address), note)


def pause_worker(place: Place) -> Measured:
    """A worker is frozen for a moment only, in which the value comes that its step waits for."""
    master, victim = place.tasks({"worker": 2}).values()
    gate, counter = Queue(master, "gate"), Counter(victim)
    session, other = place.session(master), place.session(master, [master])
    session.run(counter.start)
    call = place.call(session.run, counter.added(gate.take))
    until(master.waits, "the step waits")
    victim.freeze()
    gate.add(other, 1)
    until(lambda: other.run(gate.size) == 0, "the value is on its way")
    fault = victim.thaw()
    assert call.value() == 1
    return Measured(call.seconds_after(fault))


def pause_network(place: Place) -> Measured:
    """The way between two tasks is a black hole for a moment only."""
    proxies: list[Proxy] = []
    master, victim = place.tasks({"worker": 2}, detours=partial(_detour, place, proxies)).values()
    [proxy] = proxies
    queue, counter = Queue(victim), Counter(victim)
    session, near = place.session(master), place.session(victim, [victim])
    session.run([counter.start, queue.size])
    call = place.call(session.run, counter.added(queue.take))
    until(victim.waits, "the step waits")
    proxy.swallow(*BOTH)
    queue.add(near, 1)
    until(lambda: near.run(counter.value) == 1, "the worker has done its part")
    proxy.heal()
    fault = time.monotonic()
    assert call.value() == 1
    return Measured(call.seconds_after(fault))


def swallow_from_client(place: Place) -> Measured:
    """The way from a client to its master becomes a black hole; later it heals."""
    [master] = place.tasks({"worker": 1}).values()
    proxy = place.proxy(master.address)
    queue, counter = Queue(master), Counter(master)
    session = place.session(proxy.address)
    session.run([counter.start, queue.size])
    call = place.call(session.run, counter.added(queue.take))
    until(master.waits, "the step waits")
    proxy.swallow("to server", "to client")
    fault = time.monotonic()
    error = call.error(PATIENCE)
    seconds = call.seconds_after(fault)
    proxy.heal()
    healed = _first_success(place, proxy.address, counter, [0])
    until(lambda: not master.waits(), "the step is cancelled once the master hears of it")
    later = place.session(proxy.address)
    queue.add(later, 5)
    assert queue.inside(later) == [5], "the step that failed ate an element"
    note = f"a session worked {healed:.2f} s after healing"
    return Measured(seconds, error, (proxy.address,), note)


def bad_line(place: Place) -> Measured:
    """The line between two tasks, and that of the client, lose every fifth piece for a while."""
    proxies: list[Proxy] = []
    master, other = place.tasks({"worker": 2}, detours=partial(_detour, place, proxies)).values()
    near = place.proxy(master.address)
    counter = Counter(master)
    with tf.device(other.name):
        some = tf.reduce_sum(tf.fill([LARGE // 100], on(other, 1)))
    add = counter.added(some)
    session = place.session(near.address)
    session.run(counter.start)
    session.run(some)
    for seed, each in enumerate([near, *proxies]):
        each.disturb(seed)
    start = time.monotonic()
    values = [int(session.run(add)) for _ in range(DISTURBED)]
    seconds = time.monotonic() - start
    expected = [(i + 1) * (LARGE // 100) for i in range(DISTURBED)]
    assert values == expected, f"each step counts once, in order: {values}"
    return Measured(seconds / DISTURBED)


def cut_between_tasks(place: Place) -> Measured:
    """The connection of two tasks is cut at several places of a large tensor."""
    proxies: list[Proxy] = []
    master, source = place.tasks({"worker": 2}, detours=partial(_detour, place, proxies)).values()
    [proxy] = proxies
    with tf.device(source.name):
        large = tf.fill([LARGE], on(source, 7))
    with tf.device(master.name):
        kept = tf.Variable(tf.zeros([LARGE], tf.int32), name="kept")
        assign, value = tf.assign(kept, large).op, tf.identity(kept)
    place.session(master).run(kept.initializer)
    worst: list[Measured] = []
    for after, how in CUTS:
        session = place.session(master)
        session.run([kept.op, on(source, 1)])  # connected before it is cut
        worst.append(_cut(place, proxy, "to client", after, how, partial(session.run, assign)))
        found = place.session(master).run(value)
        assert not found.any(), f"cut after {after} bytes, but {found[found != 0].size} arrived"
    later = place.session(master)
    later.run(assign)
    assert (later.run(value) == 7).all(), "nothing comes through after the cuts"
    slowest = max(worst, key=lambda each: each.seconds)
    return Measured(slowest.seconds, slowest.error, (source.pattern, proxy.address))


def cut_from_client(place: Place, direction: Direction) -> Measured:
    """The connection of client and master is cut at several places of a large feed or fetch."""
    [master] = place.tasks({"worker": 1}).values()
    proxy = place.proxy(master.address)
    with tf.device(master.name):
        fed = tf.placeholder(tf.int32, [LARGE])
        kept = tf.Variable(tf.zeros([LARGE], tf.int32), name="kept")
        assign, value = tf.assign(kept, fed).op, tf.identity(kept)
    near = place.session(master)
    near.run(kept.initializer)
    worst = []
    for after, how in CUTS:
        session = place.session(proxy.address)
        session.run(kept.op)  # connected before it is cut
        runs = {
            "to server": partial(session.run, assign, {fed: np.full(LARGE, 7, np.int32)}),
            "to client": partial(session.run, value),
        }
        worst.append(_cut(place, proxy, direction, after, how, runs[direction]))
        found = near.run(value)
        assert not found.any(), f"cut after {after} bytes, but {found[found != 0].size} arrived"
    later = place.session(proxy.address)
    later.run(assign, {fed: np.full(LARGE, 7, np.int32)})
    assert (later.run(value) == 7).all(), "nothing comes through after the cuts"
    slowest = max(worst, key=lambda each: each.seconds)
    return Measured(slowest.seconds, slowest.error, (proxy.address,))


def _cut(
    place: Place, proxy: Proxy, direction: Direction, after: int, how: How, run: Any
) -> Measured:
    """Run something while a connection is cut."""
    done = proxy.cut(direction, after, how)
    call = place.call(run)
    assert done.wait(PATIENCE), f"no connection carried {after} bytes"
    fault = until(done.is_set, "it is cut")
    error = call.error(PATIENCE)
    assert isinstance(error, tf.errors.UnavailableError), f"{how} after {after} bytes: {error!r}"
    return Measured(call.seconds_after(fault), error)


def _detour(
    place: Place, proxies: list[Proxy], cluster: dict[str, list[str]]
) -> dict[Key, dict[Key, str]]:
    """Let the first worker reach the second one through a proxy."""
    proxies.append(place.proxy(cluster["worker"][1]))
    return {("worker", 0): {("worker", 1): proxies[0].address}}


def _check_still(session: Any, counter: Counter, possible: list[int]) -> int:
    """Check that a counter has one of the values, and keeps it; returns it."""
    values = {int(session.run(counter.value)) for _ in range(READS)}
    assert len(values) == 1, f"the counter changed after the step had failed: {values}"
    [value] = values
    check_counter(value, min(possible), max(possible) - min(possible))
    return value


def _first_success(place: Place, address: str, counter: Counter, possible: list[int]) -> float:
    """Return how long it takes until a new session works, in seconds; it may fail at first."""

    def works() -> bool:
        try:
            return place.session(address).run(counter.value) in possible
        except tf.errors.UnavailableError:
            return False

    start = time.monotonic()
    return until(works, "a session works after healing", HEALING) - start


UNAVAILABLE, GONE = "UnavailableError", "start|restart|new session"
DETECTION, SHORT_DETECTION = 12.0, 1.0  # seconds: alive and silence together
SHORT = {"TFDIST_TIMEOUTS": "alive=0.5,silence=0.5"}
hole, hole_there, hole_back = (
    partial(swallow_between_tasks, directions=each) for each in (BOTH, BOTH[:1], BOTH[1:])
)
ROWS = [
    Row("7", "SIGSTOP of a worker that waits; nothing happens late", 15, UNAVAILABLE, GONE,
        freeze_worker, False, waits=DETECTION),
    Row("7 value", "as 7, and its value comes while it is frozen", 15, UNAVAILABLE, GONE,
        freeze_worker_with_value, False, waits=DETECTION),
    Row("7 master", "SIGSTOP of the master that a client waits for", 15, UNAVAILABLE, GONE,
        freeze_master, False, waits=DETECTION),
    Row("7 grpc", "as 7, by gRPC alone", 15, UNAVAILABLE, GONE, freeze_worker, False, GRPC,
        waits=DETECTION),
    Row("7 short", "as 7, with alive=0.5,silence=0.5", 3, UNAVAILABLE, GONE, freeze_worker,
        environment=SHORT, waits=SHORT_DETECTION),
    Row("7 tcp", "as 7 short, by frames over TCP", 3, UNAVAILABLE, GONE, freeze_worker,
        environment={**SHORT, **TCP}, waits=SHORT_DETECTION),
    Row("7 master tcp", "as 7 master, with alive=0.5,silence=0.5, by frames over TCP", 3,
        UNAVAILABLE, GONE, freeze_master, False, {**SHORT, **TCP}, waits=SHORT_DETECTION),
    Row("7 pause", "SIGSTOP and SIGCONT of a worker: a moment is no fault", 1, "", "",
        pause_worker),
    Row("10 pause", "a black hole of a moment is no fault", 1, "", "", pause_network,
        environment=GRPC),
    Row("10", "black hole between two tasks, both ways", 15, UNAVAILABLE, GONE, hole, False, GRPC,
        waits=DETECTION),
    Row("10 there", "black hole from master to worker", 15, UNAVAILABLE, GONE, hole_there, False,
        GRPC, waits=DETECTION),
    Row("10 back", "black hole from worker to master", 15, UNAVAILABLE, GONE, hole_back, False,
        GRPC, waits=DETECTION),
    Row("10 client", "black hole between client and master", 15, UNAVAILABLE, GONE,
        swallow_from_client, False, GRPC, waits=DETECTION),
    Row("10 short", "as 10, with alive=0.5,silence=0.5", 3, UNAVAILABLE, GONE, hole,
        environment=GRPC | SHORT, waits=SHORT_DETECTION),
    Row("11", "lines that lose every fifth piece for 0.2 s: a step counts once, takes", 3, "", "",
        bad_line, environment=GRPC, waits=2),
    Row("12", "a connection of two tasks cut in the middle of a tensor", 1, UNAVAILABLE, GONE,
        cut_between_tasks, environment=GRPC),
    Row("12 feed", "a client's connection cut in the middle of a feed", 1, UNAVAILABLE, GONE,
        partial(cut_from_client, direction="to server"), environment=GRPC),
    Row("12 fetch", "a client's connection cut in the middle of a fetch", 1, UNAVAILABLE, GONE,
        partial(cut_from_client, direction="to client"), environment=GRPC),
]  # fmt: skip
