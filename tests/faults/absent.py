"""Rows in which somebody is not there, or a port is not to be had: 5, 6 and 21."""

from __future__ import annotations

import socket
import subprocess
import time

import tfdist as tf
from tests.faults.graphs import on
from tests.faults.place import Place
from tests.faults.probes import is_free
from tests.faults.processes import free_addresses
from tests.faults.row import Measured, Row
from tfdist.cli.answers import AGAIN

START = "start"


def absent_workers(place: Place) -> Measured:
    """A session begins while two of its tasks are not there."""
    tasks = place.tasks({"ps": 1, "worker": 3}, absent=[("ps", 0), ("worker", 2)])
    ps, master, present, absent = tasks.values()
    x = on(master, 1)
    fault = time.monotonic()
    call = place.call(place.session(master).run, x)
    assert place.session(master, [present]).run(x) == 1, "nobody waits for what is filtered out"
    filtered = time.monotonic() - fault
    error = call.error(60)
    assert present.address not in str(error), "a task that is there is called absent"
    names = (ps.pattern, ps.where, absent.pattern, absent.where, "device_filters")
    note = f"a session with device_filters began in {filtered:.2f} s"
    return Measured(call.seconds_after(fault), error, names, note)


def late_worker(place: Place) -> Measured:
    """A session begins before one of its tasks does."""
    master, late = place.tasks({"worker": 2}, absent=[("worker", 1)]).values()
    call = place.call(place.session(master).run, on(late, 1))
    late.begin()
    late.wait_ready()
    fault = time.monotonic()
    assert call.value(40) == 1
    return Measured(call.seconds_after(fault))


def absent_worker_and_timeout(place: Place) -> Measured:
    """A session with a timeout of its own begins while a task is not there."""
    master, absent = place.tasks({"worker": 2}, absent=[("worker", 1)]).values()
    session = place.session(master, timeout=0.5)
    fault = time.monotonic()
    call = place.call(session.run, on(master, 1))
    error = call.error()
    return Measured(call.seconds_after(fault), error, (absent.pattern, absent.where))


def closed_port(place: Place) -> Measured:
    """A session is opened with a port at which nobody listens."""
    [address] = free_addresses(1)
    with tf.device("/cpu:0"):
        x = tf.constant(1)
    session = place.session(address)
    fault = time.monotonic()
    call = place.call(session.run, x)
    error = call.error(60)
    return Measured(call.seconds_after(fault), error, (address,))


def closed_port_and_timeout(place: Place) -> Measured:
    """A session with a timeout of its own is opened with a port at which nobody listens."""
    [address] = free_addresses(1)
    session = place.session(address, timeout=0.5)
    fault = time.monotonic()
    call = place.call(session.run, tf.constant(1))
    error = call.error()
    return Measured(call.seconds_after(fault), error, (address,))


def late_target(place: Place) -> Measured:
    """A program starts its servers as processes, and opens a session at once."""
    tasks = place.tasks({"ps": 1, "worker": 1}, absent=[("ps", 0), ("worker", 0)])
    ps, master = tasks.values()
    for each in (ps, master):
        each.begin()
    call = place.call(place.session(master).run, on(ps, 1))
    for each in (ps, master):
        each.wait_ready()
    fault = time.monotonic()
    assert call.value(40) == 1
    return Measured(call.seconds_after(fault))


def mute_port(place: Place) -> Measured:
    """A session is opened with a port at which something listens that never answers."""
    listener = place.enter(socket.create_server(("127.0.0.1", 0)))
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    session = place.session(address)
    fault = time.monotonic()
    call = place.call(session.run, tf.constant(1))
    error = call.error(60)
    return Measured(call.seconds_after(fault), error, (address,))


def port_of_a_program(place: Place) -> Measured:
    """A server is made for a port that another program has."""
    holder = place.enter(socket.create_server(("127.0.0.1", 0)))
    port = holder.getsockname()[1]
    fault = time.monotonic()
    call = place.call(tf.train.Server, {"worker": [f"127.0.0.1:{port}"]})
    error = call.error()
    return Measured(call.seconds_after(fault), error, (str(port),))


def port_of_a_server(place: Place) -> Measured:
    """A server is made for the port of a server process, here and in another process."""
    [first] = place.tasks({"worker": 1}).values()
    assert not is_free(first.address), "the port could be bound twice"
    fault = time.monotonic()
    call = place.call(tf.train.Server, {"worker": [first.address]})
    error = call.error()
    port = first.address.rpartition(":")[2]
    words = first.words
    second = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert second.returncode == AGAIN, f"`tfdist serve` ended with {second.returncode}"
    assert port in second.stderr, second.stderr
    assert "Traceback" not in second.stderr, second.stderr
    x = on(first, 1)
    assert place.session(first).run(x) == 1, "the first server goes on"
    note = f"tfdist serve says: {second.stderr.strip()}"
    return Measured(call.seconds_after(fault), error, (port,), note)


UNAVAILABLE, TAKEN = "UnavailableError", "AlreadyExistsError"
ROWS = [
    Row("5", "two tasks absent when a session begins", 31.5, UNAVAILABLE, START, absent_workers,
        False, waits=30),
    Row("5 short", "as 5, with session=1", 2, UNAVAILABLE, START, absent_workers,
        environment={"TFDIST_TIMEOUTS": "session=1"}, waits=1),
    Row("5 late", "a task that comes while a session waits for it", 2, "", "", late_worker),
    Row("5 own", "a task absent, operation_timeout_in_ms=500", 1, "DeadlineExceededError", START,
        absent_worker_and_timeout, waits=0.5),
    Row("6", "nobody listens at a session's target", 31.5, UNAVAILABLE, START, closed_port, False,
        waits=30),
    Row("6 mute", "who listens at a session's target never answers", 32, UNAVAILABLE, START,
        mute_port, False, waits=30),
    Row("6 short", "as 6, with session=0.5", 1, UNAVAILABLE, START, closed_port,
        environment={"TFDIST_TIMEOUTS": "session=0.5"}, waits=0.5),
    Row("6 own", "as 6, operation_timeout_in_ms=500", 1, "DeadlineExceededError", START,
        closed_port_and_timeout, waits=0.5),
    Row("6 late", "a session that begins with the processes of its servers", 2, "", "",
        late_target),
    Row("21", "a server for the port of another program", 1, TAKEN, "port", port_of_a_program),
    Row("21 serve", "a server for the port of another server", 1, TAKEN, "port", port_of_a_server),
]  # fmt: skip
