"""The programs with queues that are measured; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, close, initialised

PIXELS, CHUNK, BATCH = 784, 100, 50


def images(kind: str) -> Callable[[Any], Timed]:
    """100 images of 784 floats into a queue at once, and two batches of 50 out of it."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            queue = made(tf, kind, [[PIXELS]])
            fed = tf.placeholder(tf.float32, [None, PIXELS])
            put, take = queue.enqueue_many(fed), queue.dequeue_many(BATCH)
            session = initialised(tf)
        values = np.random.RandomState(0).rand(CHUNK, PIXELS).astype(np.float32)
        for _ in range(3):
            session.run(put, {fed: values})

        def step() -> None:
            session.run(put, {fed: values})
            for _ in range(CHUNK // BATCH):
                session.run(take.op)

        return Timed(step, close=lambda: close(session, ()))

    return program


def singles(kind: str) -> Callable[[Any], Timed]:
    """50 images into a queue one by one, and a batch of them out of it."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            queue = made(tf, kind, [[PIXELS]])
            image = tf.Variable(tf.zeros([PIXELS])).read_value()
            put, take = queue.enqueue(image), queue.dequeue_many(BATCH)
            session = initialised(tf)
        for _ in range(200):
            session.run(put)

        def step() -> None:
            for _ in range(BATCH):
                session.run(put)
            session.run(take.op)

        return Timed(step, close=lambda: close(session, ()))

    return program


def made(tf: Any, kind: str, shapes: Any) -> Any:
    """Return a queue of floats; one that shuffles keeps 100 of them."""
    if kind == "RandomShuffleQueue":
        return tf.RandomShuffleQueue(1000, 100, [tf.float32], shapes, seed=1)
    return getattr(tf, kind)(1000, [tf.float32], shapes)


def accumulator(tf: Any) -> Timed:
    """Two gradients of 784 x 100 floats into an accumulator, and their mean out of it."""
    with tf.Graph().as_default():
        total = tf.ConditionalAccumulator(tf.float32, shape=[PIXELS, CHUNK])
        step_number = tf.placeholder(tf.int64, [])
        gradient = tf.Variable(tf.ones([PIXELS, CHUNK])).read_value()
        put, take = total.apply_grad(gradient, step_number), total.take_grad(2)
        session = initialised(tf)
    taken = 0

    def step() -> None:
        nonlocal taken
        session.run(put, {step_number: taken})
        session.run(put, {step_number: taken})
        session.run(take.op)
        taken += 1

    return Timed(step, close=lambda: close(session, ()))


QUEUES: dict[str, Callable[[Any], Timed]] = {
    "100 images, FIFOQueue": images("FIFOQueue"),
    "100 images, RandomShuffleQueue": images("RandomShuffleQueue"),
    "50 single images, FIFOQueue": singles("FIFOQueue"),
    "50 single images, RandomShuffleQueue": singles("RandomShuffleQueue"),
    "accumulator, 2 gradients": accumulator,
}
