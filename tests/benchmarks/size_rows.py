"""The programs with much data or many tasks that are measured; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, close, initialised, running, start

MEGABYTES_100 = 25_000_000  # floats
SIZES = {"floats": 2**28, "tasks": 20}  # a gibibyte; a test takes less


def transfer(tf: Any, here: int | None = None, floats: int = MEGABYTES_100) -> Timed:
    """Floats from a parameter server to a worker."""
    servers = start(tf, {"ps": 1, "worker": 1}, here)
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            stored = tf.Variable(tf.zeros([floats])).read_value()
        with tf.device("/job:worker/task:0"):
            arrived = tf.identity(stored)
        return running(initialised(tf, servers), arrived.op, None, servers)


def transfer_back(tf: Any, here: int | None = None, floats: int = MEGABYTES_100) -> Timed:
    """Floats from a worker to a parameter server."""
    servers = start(tf, {"ps": 1, "worker": 1}, here)
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:0"):
            stored = tf.Variable(tf.zeros([floats])).read_value()
        with tf.device("/job:ps/task:0"):
            arrived = tf.identity(stored)
        return running(initialised(tf, servers), arrived.op, None, servers)


def fetch(tf: Any, here: int | None = None, floats: int = MEGABYTES_100) -> Timed:
    """Floats from a server to the caller, who keeps them until the next ones are there."""
    servers = start(tf, {"worker": 1}, here)
    with tf.Graph().as_default():
        stored = tf.Variable(tf.zeros([floats]))
        session = initialised(tf, servers)
    value = None

    def step() -> None:
        nonlocal value
        value = session.run(stored)

    return Timed(step, close=lambda: close(session, servers))


def feed(tf: Any, here: int | None = None, floats: int = MEGABYTES_100) -> Timed:
    """Floats from the caller to a server."""
    servers = start(tf, {"worker": 1}, here)
    with tf.Graph().as_default():
        value = tf.placeholder(tf.float32, [floats])
        taken = tf.identity(value).op
        feeds = {value: np.zeros(floats, np.float32)}
        return running(initialised(tf, servers), taken, feeds, servers)


def constant(tf: Any, here: int | None = None, floats: int = MEGABYTES_100) -> Timed:
    """The first run of a graph with a constant, on a server; making the session is timed too."""
    servers = start(tf, {"worker": 1}, here)
    values = np.ones(floats, np.float32)

    def prepare() -> Any:
        with tf.Graph().as_default():
            return tf.reduce_max(tf.constant(values))

    def step(total: Any) -> None:
        with tf.Session(servers[0].target, graph=total.graph) as session:
            session.run(total)

    session = tf.Session(servers[0].target, graph=tf.Graph())
    return Timed(step, prepare, lambda: close(session, servers))


def many_tasks(tf: Any, here: int | None = None, tasks: int = 20) -> Timed:
    """A step over two parameter servers and many workers: one variable, and a sum of theirs."""
    with tf.Graph().as_default():
        total = over_many_tasks(tf, tasks)
        servers = start(tf, {"ps": 2, "worker": tasks - 2}, here)
        return running(initialised(tf, servers), total.op, None, servers)


def many_tasks_begin(tf: Any, here: int | None = None, tasks: int = 20) -> Timed:
    """A new session over many tasks, and its first step."""
    with tf.Graph().as_default() as graph:
        total = over_many_tasks(tf, tasks)
        servers = start(tf, {"ps": 2, "worker": tasks - 2}, here)
        first = initialised(tf, servers)

    def step() -> None:
        with tf.Session(servers[0].target, graph=graph) as session:
            session.run(total.op)

    return Timed(step, close=lambda: close(first, servers))


def over_many_tasks(tf: Any, tasks: int) -> Any:
    """Return a sum, on one parameter server, of what workers made of a variable on another one."""
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(tf.ones([10]))
    parts = []
    for index in range(tasks - 2):
        with tf.device(f"/job:worker/task:{index}"):
            parts.append(tf.reduce_sum(variable * float(index)))
    with tf.device("/job:ps/task:1"):
        return tf.add_n(parts)


def sized(program: Callable[..., Timed], size: str, here: int = 0) -> Callable[[Any], Timed]:
    """Return a program of the size that counts when it begins."""
    return lambda tf: program(tf, here=here, **{size: SIZES[size]})


LARGE_ACROSS: dict[str, Callable[[Any], Timed]] = {
    "1 GiB ps to worker across": sized(transfer, "floats"),
    "1 GiB worker to ps across": sized(transfer_back, "floats"),
    "1 GiB fetch across": sized(fetch, "floats"),
    "1 GiB feed across": sized(feed, "floats"),
    "1 GiB constant across, first run": sized(constant, "floats"),
    "20 tasks across": sized(many_tasks, "tasks"),
    "20 tasks across, new session": sized(many_tasks_begin, "tasks"),
}
