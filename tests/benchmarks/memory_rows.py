"""The programs whose memory is watched: they hold little, so that growth is seen soon.

A step of each takes 100 batches, or so; see `timed`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from input_rows import pipeline
from timed import Timed, close, initialised, start

EXAMPLES, BATCHES, SESSIONS = 100, 100, 20


def shuffled(tf: Any) -> Timed:
    """100 batches of 2 slices of an array, shuffled by two threads."""
    with tf.Graph().as_default():
        images = np.random.RandomState(0).rand(EXAMPLES, 10).astype(np.float32)
        example = tf.train.slice_input_producer([images, np.arange(EXAMPLES)])
        batch = tf.train.shuffle_batch(example, 2, capacity=60, min_after_dequeue=30, num_threads=2)
        return pipeline(tf, batch)


def lines(tf: Any) -> Timed:
    """100 batches of 2 lines of CSV, from a queue of files."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "table.csv")
    with open(path, "w") as file:
        file.writelines(f"{i * 0.5},{i % 7},name{i}\n" for i in range(EXAMPLES))
    with tf.Graph().as_default():
        names = tf.train.string_input_producer([path])
        _, line = tf.TextLineReader().read(names)
        batch = tf.train.batch(tf.decode_csv(line, [[0.0], [0], [""]]), 2, capacity=60)
        return pipeline(tf, batch, lambda: shutil.rmtree(folder))


def elements(tf: Any) -> Timed:
    """100 batches of a dataset that is mapped, shuffled and repeated, and makes inner ones."""
    with tf.Graph().as_default():
        images = np.random.RandomState(0).rand(EXAMPLES, 10).astype(np.float32)
        dataset = tf.data.Dataset.from_tensor_slices((tf.constant(images), np.arange(EXAMPLES)))
        dataset = dataset.map(lambda image, label: (image / 255.0, label + 1))
        dataset = dataset.interleave(
            lambda *example: tf.data.Dataset.from_tensors(example).repeat(2), cycle_length=2
        )
        dataset = dataset.shuffle(30).repeat().batch(8).prefetch(2)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        session = initialised(tf)

        def step() -> None:
            for _ in range(BATCHES):
                session.run(element)

        return Timed(step, close=session.close)


def between_processes(tf: Any) -> Timed:
    """100 batches to a queue in another process and on to one in this process.

    The other process is a task; this one is a task, and the client of both.
    """
    with tf.Graph().as_default():
        servers = start(tf, {"worker": 2}, here=1)
        there, here = (queue_on(tf, task) for task in (1, 0))
        batch = tf.placeholder(tf.float32, [8, 10])
        fed = np.ones([8, 10], np.float32)
        put, pass_on = there.enqueue_many([batch]), here.enqueue_many([there.dequeue_many(8)])
        take = here.dequeue_many(8)
        sessions = [tf.Session(server.target) for server in servers]

        def step() -> None:
            for _ in range(BATCHES // len(sessions)):
                for session in sessions:
                    session.run(put, {batch: fed})
                    session.run(pass_on)
                    session.run(take)

        def end() -> None:
            sessions[1].close()
            close(sessions[0], servers)

        return Timed(step, close=end)


def training(tf: Any) -> Timed:
    """100 training steps with the variables in another process; one in ten is traced."""
    random = np.random.RandomState(0)
    servers = start(tf, {"ps": 1, "worker": 1}, here=1)
    setter = tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")
    with tf.Graph().as_default(), tf.device(setter):
        inputs = tf.constant(random.rand(EXAMPLES, 10).astype(np.float32))
        weights = tf.get_variable("weights", [10, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) - 1.0))
        train = tf.train.AdamOptimizer(0.01).minimize(loss)
        session = initialised(tf, servers)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

    def step() -> None:
        for number in range(BATCHES):
            traced = (None, options, tf.RunMetadata()) if number % 10 == 0 else ()
            session.run(train, *traced)

    return Timed(step, close=lambda: close(session, servers))


def sessions(tf: Any) -> Timed:
    """20 sessions of a server, each with a graph of its own that grows after its first step."""
    servers = start(tf, {"worker": 1})

    def one(number: int) -> None:
        with tf.Graph().as_default(), tf.Session(servers[0].target) as session:
            total = tf.Variable(float(number), name=f"v{number % 7}") + 1.0
            session.run(tf.global_variables_initializer())
            session.run(total)
            session.run(total * 2.0)

    def step() -> None:
        for number in range(SESSIONS):
            one(number)

    return Timed(step, close=servers[0].stop)


def queue_on(tf: Any, task: int) -> Any:
    """Return a queue on a task, which all sessions share."""
    with tf.device(f"/job:worker/task:{task}"):
        return tf.FIFOQueue(60, tf.float32, shapes=[[10]], shared_name=f"batches{task}")


MEMORY: dict[str, Callable[[Any], Timed]] = {
    "shuffle_batch": shuffled,
    "CSV lines": lines,
    "two processes": between_processes,
    "tf.data": elements,
    "training across, traced": training,
    "sessions": sessions,
}
