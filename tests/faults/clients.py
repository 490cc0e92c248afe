"""Rows in which a client is frozen (8), killed (9) or interrupted by Ctrl-C (16)."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from jupyter_client.manager import start_new_kernel

from tests.faults.calls import until
from tests.faults.graphs import Counter, Page, Queue
from tests.faults.histories import Counts, QueueModel, check_counter, replay
from tests.faults.place import Key, Place
from tests.faults.processes import Process, Task
from tests.faults.row import GRPC, TCP, Measured, Row

FREE = 1.0  # seconds in which a server forgets the step of a client that is gone
PATIENCE = 60.0  # seconds
SEED = "TFDIST_FAULT_SEED"  # repeats the kills of row 9


def kill_clients(place: Place, kills: int, seed: int | None = None) -> Measured:
    """Clients that put, take and count are killed at random moments, one after the other."""
    if seed is None:
        seed = int(os.environ.get(SEED) or random.randrange(2**32))
    dice = random.Random(seed)
    master, keeper = place.tasks({"worker": 2}).values()
    queue, counter = Queue(keeper), Counter(keeper)
    session = place.session(master)
    session.run([counter.start, queue.size])
    model, counts, first, slowest, applied = QueueModel([]), Counts(), 0, 0.0, 0
    for kill in range(kills):
        words = (master.address, keeper.name, f"{seed}-{kill}", str(first))
        client = place.client("mix", *words)
        lines, seconds = _killed(client, keeper, dice.randrange(200))
        slowest = max(slowest, seconds)
        replay(model, counts, lines)
        first += sum(line.startswith("put") for line in lines)
        applied += model.settle(queue.inside(session))
        check_counter(session.run(counter.value), counts.acknowledged, counts.unknown)
    note = (
        f"seed {seed}: {kills} kills, {counts.acknowledged} increments acknowledged, "
        f"{counts.unknown} unknown; {applied} queue operations had happened untold"
    )
    return Measured(slowest, note=note)


def _killed(client: Process, keeper: Task, count: int) -> tuple[list[str], float]:
    """Kill a client after so many lines, or when it waits.

    Returns:
      What it printed, and how many seconds after its end its step had ended as well.
    """
    lines: list[str] = []

    def is_due() -> bool:
        lines.extend(client.lines_now())
        return len(lines) >= count or bool(lines and keeper.waits())

    until(is_due, f"the client prints {count} lines, or waits", PATIENCE)
    fault = client.kill()
    client.exit_code()
    lines.extend(client.lines_now())
    return lines, until(lambda: not keeper.waits(), "its step ends", PATIENCE) - fault


def kill_writers(place: Place, kills: int) -> Measured:
    """Clients that write a large variable are killed, one after the other: it is never torn."""
    dice = random.Random(9)
    master, keeper = place.tasks({"worker": 2}).values()
    page = Page(keeper)
    session = place.session(master)
    session.run(page.start)
    last, slowest, untold = 0, 0.0, 0
    for _ in range(kills):
        client = place.client("fill", master.address, keeper.name, str(last + 1))
        lines, seconds = _killed(client, keeper, dice.randrange(1, 60))
        slowest = max(slowest, seconds)
        told = [int(line.split()[1]) for line in lines if line.startswith("done")]
        found = {int(number) for number in np.unique(session.run(page.value))}
        told_last = max([last, *told])
        assert found in ({told_last}, {told_last + 1}), f"{told_last} was written, found {found}"
        [last] = found
        untold += last - told_last
    return Measured(slowest, note=f"{kills} kills; {untold} writes had happened untold")


def kill_taker(place: Place) -> Measured:
    """A client is killed while it waits for an element; the element comes later."""
    return _lose_taker(place, "killed", Process.kill)


def freeze_taker(place: Place) -> Measured:
    """A client is frozen while it waits for an element; the element comes later."""
    return _lose_taker(place, "frozen", Process.freeze)


def _lose_taker(place: Place, told: str, lose: Callable[[Process], float]) -> Measured:
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    session = place.session(master)
    session.run(queue.size)
    client = place.client("take", master.address, keeper.name)
    until(keeper.waits, "the client's step waits")
    fault = lose(client)
    freed = until(lambda: not master.waits() + keeper.waits(), "its step ends", PATIENCE)
    queue.add(session, 7)
    assert queue.inside(session) == [7], f"the {told} client's step ate an element"
    client.kill()
    return Measured(freed - fault)


def interrupt_run(place: Place, presses: int = 1) -> Measured:
    """Ctrl-C while a client waits for an element."""
    master, keeper = place.tasks({"worker": 2}).values()
    queue = Queue(keeper)
    session = place.session(master)
    session.run(queue.size)
    client = place.client("take", master.address, keeper.name)
    assert client.line() == "waits"
    until(keeper.waits, "the client's step waits")
    seconds = _interrupt(client, presses)
    until(lambda: not keeper.waits(), "the step ends", place.stretched(FREE))
    queue.add(session, 7)
    assert queue.inside(session) == [7], "the interrupted step ate an element"
    line = client.line()
    assert line == "usable 0", (line, client.logged())
    assert client.exit_code() == 0, client.logged()
    return Measured(seconds)


def interrupt_create(place: Place) -> Measured:
    """Ctrl-C while a client's session waits for a task that is there but does not answer."""
    mute = place.enter(socket.create_server(("127.0.0.1", 0)))
    mute.settimeout(PATIENCE)
    address = f"127.0.0.1:{mute.getsockname()[1]}"

    def detours(_: dict[str, list[str]]) -> dict[Key, dict[Key, str]]:
        return {("worker", 0): {("worker", 1): address}}

    tasks = place.tasks({"worker": 2}, absent=[("worker", 1)], detours=detours)
    master = tasks["worker", 0]
    client = place.client("create", master.address, master.name)
    assert client.line() == "waits"
    place.enter(mute.accept()[0])  # the master asks the other task: the session waits
    seconds = _interrupt(client, 1)
    line = client.line()
    assert line == "usable 0", (line, client.logged())
    assert client.exit_code() == 0, client.logged()
    return Measured(seconds)


def interrupt_join(place: Place) -> Measured:
    """Ctrl-C while a program joins its server."""
    client = place.client("join")
    assert [client.line(), client.line()] == ["joins", "waits"]
    seconds = _interrupt(client, 1)
    line = client.line()
    assert line == "usable 0", (line, client.logged())
    assert client.exit_code() == 0, client.logged()
    return Measured(seconds)


def _interrupt(client: Process, presses: int) -> float:
    """Press Ctrl-C; returns how long it takes until the client knows, in seconds."""
    fault = client.signal(signal.SIGINT)
    for _ in range(presses - 1):
        client.signal(signal.SIGINT)
    line = client.line(PATIENCE)
    assert line == "interrupted", f"{line!r}: {client.logged()}"
    return time.monotonic() - fault


def interrupt_kernel(place: Place) -> Measured:
    """Ctrl-C in a notebook's kernel while a cell waits for an element."""
    master, keeper = place.tasks({"worker": 2}).values()
    manager, client = start_new_kernel(
        kernel_name="python3", startup_timeout=60, stderr=subprocess.DEVNULL
    )
    try:
        _reply(client, client.execute(CELL.format(target=master.target, task=keeper.name)))
        asked = client.execute("session.run(take)")
        until(keeper.waits, "the cell waits")
        fault = time.monotonic()
        manager.interrupt_kernel()
        reply = _reply(client, asked)
        seconds = time.monotonic() - fault
        assert reply == "KeyboardInterrupt", reply
        until(lambda: not keeper.waits(), "the step ends")
        assert _reply(client, client.execute("assert session.run(size) == 0")) == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
    return Measured(seconds)


CELL = """
import tfdist as tf
with tf.device({task!r}):
    queue = tf.FIFOQueue(9, tf.int32)
    take, size = queue.dequeue(), queue.size()
session = tf.Session({target!r})
session.run(size)
"""


def _reply(client: object, request: str) -> str:
    """Wait for the end of a cell; returns "ok" or the name of its error."""
    while True:
        reply = client.get_shell_msg(timeout=PATIENCE)  # type: ignore[attr-defined]
        if reply["parent_header"]["msg_id"] == request:
            content = reply["content"]
            return str(content.get("ename") or content["status"])


SHORT = {"TFDIST_TIMEOUTS": "alive=0.5,silence=0.5"}
ROWS = [
    Row("8", "SIGSTOP of a client that waits for an element", 15, "", "", freeze_taker, False,
        waits=12),
    Row("8 grpc", "as 8, by gRPC alone", 15, "", "", freeze_taker, False, GRPC, waits=12),
    Row("8 short", "as 8, with alive=0.5,silence=0.5", 3, "", "", freeze_taker, environment=SHORT,
        waits=1),
    Row("8 tcp", "as 8 short, by frames over TCP", 3, "", "", freeze_taker,
        environment={**SHORT, **TCP}, waits=1),
    Row("9", "20 clients killed at random moments", FREE, "", "", partial(kill_clients, kills=20),
        False),
    Row("9 some", "3 clients killed", FREE, "", "", partial(kill_clients, kills=3, seed=7)),
    Row("9 large", "10 clients killed that write 8 MB again and again", FREE, "", "",
        partial(kill_writers, kills=10), False),
    Row("9 large grpc", "as 9 large, by gRPC alone", FREE, "", "", partial(kill_writers, kills=10),
        False, GRPC),
    Row("9 large tcp", "as 9 large, by frames over TCP", FREE, "", "",
        partial(kill_writers, kills=10), False, TCP),
    Row("9 wait", "a client killed while it waits for an element", FREE, "", "", kill_taker),
    Row("16", "Ctrl-C in run", 1, "", "", interrupt_run),
    Row("16 twice", "Ctrl-C in run, pressed twice", 1, "", "", partial(interrupt_run, presses=2)),
    Row("16 create", "Ctrl-C while a session waits for its tasks", 1, "", "", interrupt_create),
    Row("16 join", "Ctrl-C in join", 1, "", "", interrupt_join),
    Row("16 kernel", "Ctrl-C in a notebook's kernel", 1, "", "", interrupt_kernel, False),
]  # fmt: skip
