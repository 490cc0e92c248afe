"""Rows about servers that stop while steps are under way: 20."""

from __future__ import annotations

import os
import signal
import time

import tfdist as tf
from tests.faults import probes
from tests.faults.calls import Running, until
from tests.faults.graphs import Queue
from tests.faults.place import Place
from tests.faults.row import Measured, Row

STEPS = 50
GRACE = 1.0  # seconds, the default of `tfdist serve`
CYCLES = 200
WARM = 20  # cycles after which nothing may grow any more
LEAK = (CYCLES - WARM) // 10  # threads or files; gRPC's own pool has some more or less at a time


def stop_process(place: Place) -> Measured:
    """A server process with 50 steps under way gets SIGTERM."""
    [master] = place.tasks({"worker": 1}).values()
    queue = Queue(master)
    session = place.session(master)
    session.run(queue.size)
    calls = [place.call(session.run, queue.take) for _ in range(STEPS)]
    until(lambda: len(master.waits()) == STEPS, "the steps wait")
    assert probes.health(master.address) == "SERVING"
    fault = master.running.signal(signal.SIGTERM)
    until(lambda: probes.health(master.address) == "NOT_SERVING", "it says that it stops", GRACE)
    errors = [call.error() for call in calls]
    seconds = max(call.seconds_after(fault) for call in calls)
    assert len({type(error) for error in errors}) == 1, {repr(error) for error in errors}
    assert master.running.exit_code() == 0, master.running.logged()
    ended = time.monotonic() - fault
    assert ended < GRACE + place.stretched(1.5), f"the process ended after {ended:.2f} s"
    assert probes.is_free(master.address), "its port is not free"
    master.restart()
    assert place.session(master).run(queue.size) == 0
    note = f"the process had ended after {ended:.2f} s, its port was free"
    return Measured(seconds, errors[0], (master.pattern,), note)


def stop_in_grace(place: Place) -> Measured:
    """A server stops while a step is under way that ends within the grace."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    session, near = place.session(master), place.session(keeper, [keeper])
    session.run(queue.size)
    near.run([queue.size, queue.put], {queue.element: 1})  # known before the server stops
    assert near.run(queue.take) == 1
    call = place.call(session.run, queue.take)
    until(keeper.waits, "the step waits")
    fault = master.running.signal(signal.SIGTERM)
    until(lambda: probes.health(master.address) == "NOT_SERVING", "it says that it stops", GRACE)
    near.run(queue.put, {queue.element: 7})
    assert call.value() == 7
    assert master.running.exit_code() == 0, master.running.logged()
    return Measured(time.monotonic() - fault)


def run_while_stopping(place: Place) -> Measured:
    """A new session is opened with a server that stops."""
    [master] = place.tasks({"worker": 1}).values()
    queue = Queue(master)
    session = place.session(master)
    session.run(queue.size)
    call = place.call(session.run, queue.take)
    until(master.waits, "the step waits")
    master.running.signal(signal.SIGTERM)
    until(lambda: probes.health(master.address) == "NOT_SERVING", "it says that it stops", GRACE)
    fault = time.monotonic()
    late = place.call(place.session(master).run, queue.size)
    error = late.error()
    call.error()
    return Measured(late.seconds_after(fault), error, (master.where,))


def stop_again_and_again(place: Place) -> Measured:
    """Servers of this process start, serve, and stop with steps under way; nothing may grow."""
    queue = Queue(Task0)
    slowest, early = 0.0, (0, 0, 0)
    for cycle in range(CYCLES):
        seconds = _cycle(queue)
        slowest = max(slowest, seconds)
        if cycle == WARM:
            early = _footprint()
    late = _footprint()
    threads, files, memory = (after - before for before, after in zip(early, late, strict=True))
    note = (
        f"after {CYCLES - WARM} more cycles: {threads} more threads, {files} more files, "
        f"{memory / probes.MIB:.1f} MiB more"
    )
    assert max(threads, files) < LEAK, note
    assert memory < 20 * probes.MIB, note
    return Measured(slowest, note=note)


class Task0:
    """The only task of a local server."""

    name = "/job:local/task:0"


def _cycle(queue: Queue) -> float:
    """Start a server, leave three steps waiting, stop it; returns how long that took."""
    spec = {"local": ["127.0.0.1:0"]}
    with tf.train.Server(spec, inproc=False) as server, tf.Session(server.target) as session:
        session.run(queue.size)
        calls = [Running(session.run, queue.take) for _ in range(3)]
        until(lambda: len(probes.waits(server.address, server.task_name)) == 3, "three steps wait")
        start = time.monotonic()
        server.stop()
        errors = [call.error() for call in calls]
        seconds = time.monotonic() - start
    expected = tf.errors.AbortedError | tf.errors.UnavailableError
    assert all(isinstance(error, expected) for error in errors), errors
    assert probes.is_free(server.address), "the port of a stopped server is not free"
    return seconds


def _footprint() -> tuple[int, int, int]:
    own = os.getpid()
    return probes.threads(own), probes.files(own), probes.memory(own)


ABORTED, UNAVAILABLE = "AbortedError", "UnavailableError"
ROWS = [
    Row("20", "SIGTERM with 50 steps under way: grace of 1 s, then they end", GRACE + 0.5, ABORTED,
        "new", stop_process, waits=GRACE),
    Row("20 grace", "SIGTERM with a step that ends within the grace", GRACE + 0.5, "", "",
        stop_in_grace, waits=GRACE),
    Row("20 new", "a new session while a server stops", 1, UNAVAILABLE, "start",
        run_while_stopping),
    Row("20 cycles", "200 servers with blocked steps, one after the other", 1, "", "",
        stop_again_and_again, False),
]  # fmt: skip
