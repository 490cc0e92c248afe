"""A client in a process of its own, which the bench interrupts or kills.

`python client.py WHAT ARGUMENT ...`; it prints what it does, line by line, and ends when its
standard input does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import tfdist as tf
from tests.faults import probes
from tests.faults.graphs import Counter, Page, Pairs, Queue
from tests.faults.kinds import CASES


class Named(NamedTuple):
    """A task that is only named."""

    name: str


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def mix(address: str, task: str, seed: str, first: str) -> None:
    """Put, take and count at random, for ever.

    Args:
      address: of the master.
      task: where the queue and the counter are.
      seed: of what is done.
      first: number of the first element to put.
    """
    queue, counter = Queue(Named(task)), Counter(Named(task))
    session, dice, element = tf.Session(f"grpc://{address}"), random.Random(seed), int(first)
    add = counter.added(1)
    session.run([queue.size, counter.value])
    while True:
        match dice.choice(["put", "put", "take", "add"]):
            case "put":
                say(f"put {element}")
                session.run(queue.put, {queue.element: element})
                say(f"done {element}")
                element += 1
            case "take":
                say("take")
                say(f"done {session.run(queue.take)}")
            case "add":
                say("add")
                session.run(add)
                say("added")


def fill(address: str, task: str, first: str) -> None:
    """Feed large arrays of one number each to a variable, for ever.

    Args:
      address: of the master.
      task: where the variable is.
      first: number to begin with.
    """
    page, number = Page(Named(task)), int(first)
    session = tf.Session(f"grpc://{address}")
    session.run(page.value)
    while True:
        say(f"fill {number}")
        session.run(page.write, {page.fed: np.full(page.size, number, np.int32)})
        say(f"done {number}")
        number += 1


def produce(address: str, task: str, number: str) -> None:
    """Put elements (number, 0), (number, 1), ... one by one and in chunks, until nobody wants them.

    Args:
      address: of the master.
      task: where the queue is.
      number: this producer's, and the seed of its chunks.
    """
    pairs, dice, first = Pairs(Named(task), f"produce{number}"), random.Random(number), 0
    session = tf.Session(f"grpc://{address}")
    while True:
        chunk = range(first, first + chunk_size(dice))
        say(f"put {len(chunk)}")
        try:
            pairs.put(session, int(number), chunk)
        except tf.errors.CancelledError:
            return say("refused")
        say("done")
        first = chunk.stop


def train(address: str, task: str, number: str) -> None:
    """Take elements, one by one and in batches, and print them, until no more come.

    Args:
      address: of the master.
      task: where the queue is.
      number: this trainer's, and the seed of its batches.
    """
    pairs, dice = Pairs(Named(task), f"train{number}"), random.Random(number)
    session = tf.Session(f"grpc://{address}")
    while True:
        count = chunk_size(dice)
        say(f"take {count}")
        try:
            found = pairs.take(session, count)
        except tf.errors.OutOfRangeError:
            return say("refused")
        say(" ".join(["got", *(f"{producer}:{each}" for producer, each in found)]))


def chunk_size(dice: random.Random) -> int:
    """Return 1 half of the time, else something up to more than the queue holds."""
    return dice.choice([1, dice.randrange(2, 60)])


def hold(address: str, task: str, name: str) -> None:
    """Wait in what a case of `kinds` says.

    Args:
      address: of the master.
      task: where the resource is.
      name: the case's.
    """
    with tf.device(task):
        dead = CASES[name](name).dead
    tf.Session(f"grpc://{address}").run(dead)


def take(address: str, task: str) -> None:
    """Take from an empty queue, expect Ctrl-C, and show that the session goes on."""
    queue = Queue(Named(task))
    session = tf.Session(f"grpc://{address}")
    session.run(queue.size)
    _interrupted(lambda: session.run(queue.take))
    say(f"usable {session.run(queue.size)}")


def create(address: str, task: str) -> None:
    """Open a session that waits for an absent task, expect Ctrl-C, and open another one."""
    with tf.device(task):
        x = tf.constant(0)
    session = tf.Session(f"grpc://{address}")
    _interrupted(lambda: session.run(x))
    config = tf.ConfigProto(device_filters=[task])
    with tf.Session(f"grpc://{address}", config=config) as other:
        say(f"usable {other.run(x)}")


def join() -> None:
    """Join a server, expect Ctrl-C, and show that the server goes on."""
    x = tf.constant(0)
    with tf.train.Server.create_local_server() as server:
        say("joins")
        _interrupted(server.join)
        with tf.Session(server.target) as session:
            say(f"usable {session.run(x)}")


def _interrupted(wait: Callable[[], Any]) -> None:
    """Wait until Ctrl-C ends that; pressed more than once, it is still one interruption."""
    try:
        say("waits")
        wait()
    except KeyboardInterrupt:
        pass
    while True:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the second press may come only now
            break
        except KeyboardInterrupt:
            pass
    say("interrupted")


def sizes(address: str, ps: str, worker: str, millions: str) -> None:
    """Send an array to a ps, from there to a worker, and fetch it; print seconds and memory."""
    with tf.device(ps):
        fed = tf.placeholder(tf.uint8, [None], name="fed")
        kept = tf.Variable(np.zeros(0, np.uint8), validate_shape=False, name="kept")
        feed, value = tf.assign(kept, fed, validate_shape=False).op, tf.identity(kept)
    with tf.device(worker):
        last = tf.slice(tf.identity(value), [-1 + int(millions) * 1_000_000], [1])
    session = tf.Session(f"grpc://{address}")
    session.run(kept.initializer)
    array = np.random.default_rng(1).integers(0, 256, int(millions) * 1_000_000, np.uint8)
    before = probes.memory(os.getpid())
    timed("feed", lambda: session.run(feed, {fed: array}))
    timed("move", lambda: session.run(last)[0] == array[-1])
    timed("fetch", lambda: zlib.crc32(session.run(value).data) == zlib.crc32(array.data))
    say(json.dumps(["memory", probes.peak(os.getpid()) - before, ""]))


def large_feed(address: str, task: str, millions: str) -> None:
    """Feed what is larger than a message can be, then something small."""
    with tf.device(task):
        fed = tf.placeholder(tf.uint8, [None], name="huge")
        size = tf.size(fed, out_type=tf.int64)
    session = tf.Session(f"grpc://{address}")
    session.run(size, {fed: [1]})
    array = np.ones(int(millions) * 1_000_000, np.uint8)
    timed("feed", lambda: session.run(size, {fed: array}) == array.size)
    timed("small", lambda: session.run(size, {fed: [1, 2]}) == 2)
    say(json.dumps(["memory", probes.peak(os.getpid()), ""]))


def large_graph(address: str, task: str) -> None:
    """Run a step of a graph that is larger than a message can be, then another session's."""
    with tf.device(task):
        array = np.zeros(64 * probes.MIB, np.uint8)  # which all nodes share
        parts = [tf.constant(array, name=f"part{i}") for i in range(36)]
        largest = tf.constant(np.zeros(65 * probes.MIB, np.uint8), name="the_largest")
        total = tf.add_n([tf.slice(each, [0], [1]) for each in [*parts, largest]])
    before = probes.memory(os.getpid())
    session = tf.Session(f"grpc://{address}")
    timed("graph", lambda: session.run(total))
    with tf.Graph().as_default():
        x = tf.constant(1)
        timed("small", lambda: tf.Session(f"grpc://{address}").run(x) == 1)
    say(json.dumps(["memory", probes.peak(os.getpid()) - before, ""]))


def timed(name: str, run: Callable[[], Any]) -> None:
    """Run something and say its name, how many seconds it took, and what it gave or raised."""
    start = time.monotonic()
    try:
        outcome = str(run())
    except (tf.OpError, ValueError) as error:
        outcome = f"{type(error).__name__}: {error}"
    say(json.dumps([name, time.monotonic() - start, outcome]))


COMMANDS = {
    each.__name__: each
    for each in (
        mix,
        fill,
        produce,
        train,
        hold,
        take,
        create,
        join,
        sizes,
        large_feed,
        large_graph,
    )
}


def lifeline() -> None:
    """End with whoever holds the other end of standard input."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    # a shell's background has it ignored, and so has whom a bench there starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=lifeline, daemon=True).start()
    COMMANDS[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
