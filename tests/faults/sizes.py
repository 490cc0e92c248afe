"""Rows about what is large: tensors (22) and graphs (23)."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import NamedTuple

import tfdist as tf
from tests.faults import probes
from tests.faults.place import Place
from tests.faults.processes import Process
from tests.faults.references import bytes_there_and_back
from tests.faults.row import GRPC, Measured, Row

PATIENCE = 100.0  # seconds
MILLIONS = 300  # bytes of a large tensor
TOO_MANY = 2200  # millions of bytes: more than a message can have
TIMES = 3  # as much memory as the tensor itself may be taken by a process
TIMES_BY_GRPC = 6  # there a message is whole, joined, and gRPC's own, at the same time
ALL = 12_000  # MB that all processes of a row together may take


class Said(NamedTuple):
    """What the client says of one thing it did."""

    name: str
    seconds: float
    outcome: str


def large_tensor(place: Place, most: int = TIMES) -> Measured:
    """A client feeds 300 MB to a ps, which sends them to a worker; then it fetches them."""
    ps, master = place.tasks({"ps": 1, "worker": 1}).values()
    tasks = (ps, master)
    before = [probes.memory(task.pid) for task in tasks]
    client = place.client("sizes", master.address, ps.name, master.name, str(MILLIONS))
    *done, memory = _said(client, 4)
    wrong = [each for each in done if each.outcome not in ("None", "True")]
    assert not wrong, wrong
    peaks = [probes.peak(task.pid) - rss for task, rss in zip(tasks, before, strict=True)]
    shown = {"client": memory.seconds, "ps": peaks[0], "master": peaks[1]}
    times = {who: size / (MILLIONS * 1e6) for who, size in shown.items()}
    note = "; ".join(
        [f"{each.name} {each.seconds:.2f} s" for each in done]
        + [f"{who} took {each:.1f} times the tensor" for who, each in times.items()]
    )
    assert max(times.values()) <= most, note
    return Measured(sum(each.seconds for each in done), note=note)


def too_large_feed(place: Place, works: bool) -> Measured:
    """A client feeds 2.2 GB, which no message can hold; then something small."""
    [master] = place.tasks({"worker": 1}).values()
    client = place.client("large_feed", master.address, master.name, str(TOO_MANY))
    feed, small, memory = _said(client, 3)
    total = (memory.seconds + probes.peak(master.pid)) / 1e6
    note = f"client and master took {total:.0f} MB; the run after it: {small.outcome}"
    assert small.outcome == "True", note
    assert total < ALL, note
    if works:
        assert feed.outcome == "True", feed.outcome
        return Measured(feed.seconds, note=note)
    return Measured(feed.seconds, _error(feed), ("huge", "2200000000|2.2 GB|2.0. GiB"), note)


def too_large_graph(place: Place) -> Measured:
    """A client runs a step of a graph of more than 2 GB."""
    [master] = place.tasks({"worker": 1}).values()
    client = place.client("large_graph", master.address, master.name)
    graph, small, memory = _said(client, 3)
    note = (
        f"the client took {memory.seconds / 1e6:.0f} MB to find out; another session: "
        f"{small.outcome}"
    )
    assert small.outcome == "True", note
    return Measured(graph.seconds, _error(graph), ("the_largest",), note)


def _said(client: Process, count: int) -> list[Said]:
    """Return the next things that a client says."""
    deadline = time.monotonic() + PATIENCE
    lines = [client.line(deadline - time.monotonic()) for _ in range(count)]
    assert all(lines), f"the client ended: {client.logged()}"
    return [Said(*json.loads(line)) for line in lines]


def _error(said: Said) -> Exception:
    """Return the error that a client had; AssertionError if it had none."""
    name, _, message = said.outcome.partition(": ")
    assert message, f"no error, but {said.outcome}"
    return getattr(tf.errors, name, ValueError)(message)  # type: ignore[no-any-return]


INVALID = "InvalidArgumentError"
ONCE = partial(bytes_there_and_back, MILLIONS)  # two ways; the rows have five
ROWS = [
    Row("22", "300 MB fed to a ps, moved to a worker, fetched", 3, "", "", large_tensor, False,
        reference=ONCE),
    Row("22 grpc", "as 22, by gRPC alone", 6, "", "", partial(large_tensor, most=TIMES_BY_GRPC),
        False, GRPC, reference=ONCE),
    Row("22 huge", "2.2 GB fed by the local path", 15, "", "", partial(too_large_feed, works=True),
        False),
    Row("22 huge grpc", "2.2 GB fed by gRPC", 5, INVALID, "split|smaller|parts",
        partial(too_large_feed, works=False), False, GRPC),
    Row("23", "a graph of 2.5 GB", 10, INVALID, "placeholder|feed|variable|split|smaller",
        too_large_graph, False),
]  # fmt: skip
