"""The programs that are measured, written once, against names of TensorFlow 1.x only.

Each takes `tf` (tfdist or a real TensorFlow) and gives a `Timed`. Those that have servers take how
many of them are `here`, in this process, too: a worker first; the others have processes of their
own. Runs under Python 3.7 too, the newest one that TensorFlow 1.15 knows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from dataset_rows import DATASETS
from input_rows import INPUT
from kernel_rows import KERNEL_ROWS
from loop_rows import LOOPS, crossing
from model_rows import MODELS
from queue_rows import QUEUES
from reading_rows import READING
from size_rows import LARGE_ACROSS, feed, fetch, transfer
from summary_rows import SUMMARIES
from timed import Timed, close, initialised, running, start
from training_rows import TRAINING, two_workers, two_workers_in_step


def local_step(tf: Any) -> Timed:
    """One add, in a session without a server."""
    with tf.Graph().as_default():
        total = tf.Variable(1.0) + tf.Variable(2.0)
        return running(initialised(tf), total)


def scalar_ops(tf: Any) -> Timed:
    """3,000 subtractions of scalars, each of the one before."""
    total, feeds = chain(tf, 3_000)
    return running(tf.Session(graph=total.graph), total, feeds)


def vector_ops(size: int) -> Callable[[Any], Timed]:
    """400 subtractions and multiplications of vectors, each of the one before."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            total = start = tf.Variable(tf.ones([size])).read_value()
            half = tf.Variable(tf.fill([size], 0.5)).read_value()
            for _ in range(200):
                total = tf.multiply(tf.subtract(start, total), half)
            return running(initialised(tf), total.op)

    return program


def mlp_step(batch: int, use_resource: bool = False) -> Callable[[Any], Timed]:
    """One step of gradient descent on an MLP of 784, 100 and 10 units, fed from Python."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            tf.get_variable_scope().set_use_resource(use_resource)
            train, feeds = mlp(tf, batch)
            return running(initialised(tf), train, feeds)

    return program


def three_tasks(tf: Any, here: int | None = None) -> Timed:
    """A step over a parameter server and two workers."""
    with tf.Graph().as_default():
        total = over_three_tasks(tf)
        servers = start(tf, {"ps": 1, "worker": 2}, here)
        return running(initialised(tf, servers), total, None, servers)


def three_tasks_traced(tf: Any, here: int | None = None) -> Timed:
    """The same step, with FULL_TRACE."""
    with tf.Graph().as_default():
        total = over_three_tasks(tf)
        servers = start(tf, {"ps": 1, "worker": 2}, here)
        session = initialised(tf, servers)
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

    def step() -> None:
        session.run(total, options=options, run_metadata=tf.RunMetadata())

    return Timed(step, close=lambda: close(session, servers))


def queue(tf: Any, here: int | None = None) -> Timed:
    """One enqueue and one dequeue, on a server."""
    with tf.Graph().as_default():
        servers = start(tf, {"worker": 1}, here)
        with tf.device("/job:worker/task:0"):
            fifo = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
            value = tf.placeholder(tf.float32, [])
            enqueue, dequeue = fifo.enqueue([value]), fifo.dequeue()
        session = initialised(tf, servers)

    def step() -> None:
        session.run(enqueue, {value: 1.0})
        session.run(dequeue)

    return Timed(step, close=lambda: close(session, servers))


def ps_step(tf: Any, here: int | None = None, use_resource: bool = False) -> Timed:
    """The MLP's step with batch 50, its variables on a parameter server."""
    servers = start(tf, {"ps": 1, "worker": 1}, here)
    setter = tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")
    with tf.Graph().as_default(), tf.device(setter):
        tf.get_variable_scope().set_use_resource(use_resource)
        train, feeds = mlp(tf, 50)
        return running(initialised(tf, servers), train, feeds, servers)


def build(tf: Any) -> Timed:
    """Building a graph of 10,000 subtractions."""
    return Timed(lambda: chain(tf, 10_000))


def first_run(tf: Any) -> Timed:
    """The first run of a graph of 4,000 nodes; making the session is timed too."""

    def step(made: Any) -> None:
        total, feeds = made
        with tf.Session(graph=total.graph) as session:
            session.run(total, feeds)

    return Timed(step, prepare=lambda: chain(tf, 4_000))


IN_ONE_PROCESS: dict[str, Callable[[Any], Timed]] = {
    "local step": local_step,
    "3,000 scalar ops": scalar_ops,
    "400 ops on 1,000 floats": vector_ops(1_000),
    "400 ops on 100,000 floats": vector_ops(100_000),
    "MLP step, batch 50": mlp_step(50),
    "MLP step, batch 50, resource variables": mlp_step(50, use_resource=True),
    "MLP step, batch 1,000": mlp_step(1_000),
    "three tasks": three_tasks,
    "three tasks, traced": three_tasks_traced,
    "enqueue + dequeue": queue,
    "ps training step": ps_step,
    "100 MB ps to worker": transfer,
    "100 MB fetch": fetch,
    "100 MB feed": feed,
    "build 10,000 nodes": build,
    "first run of 4,000 nodes": first_run,
    **LOOPS,
    **READING,
    **QUEUES,
    **INPUT,
    **DATASETS,
    **SUMMARIES,
    **TRAINING,
    **MODELS,
    **KERNEL_ROWS,
}
ACROSS: dict[str, Callable[[Any], Timed]] = {
    "three tasks, three processes": partial(three_tasks, here=1),
    "three tasks, three processes, traced": partial(three_tasks_traced, here=1),
    "enqueue + dequeue across": partial(queue, here=0),
    "ps training step across": partial(ps_step, here=1),
    "ps training step across, resource variables": partial(ps_step, here=1, use_resource=True),
    "two workers' steps across": partial(two_workers, here=0),
    "two workers in step across": partial(two_workers_in_step, here=0),
    "100 MB ps to worker across": partial(transfer, here=1),
    "100 MB fetch across": partial(fetch, here=0),
    "100 MB feed across": partial(feed, here=0),
    "loop over two tasks across": partial(crossing, here=1),
    **LARGE_ACROSS,
}
PROGRAMS = {**IN_ONE_PROCESS, **ACROSS}


def mlp(tf: Any, batch: int) -> tuple[Any, dict[Any, Any]]:
    """Return (training op, feeds) of an MLP for 28 x 28 images of ten classes."""
    random = np.random.RandomState(0)
    images = tf.placeholder(tf.float32, [None, 784])
    labels = tf.placeholder(tf.float32, [None, 10])
    hidden = tf.sigmoid(layer(tf, images, random.randn(784, 100) * 0.05))
    logits = layer(tf, hidden, random.randn(100, 10) * 0.05)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(losses))
    classes = random.randint(0, 10, batch)
    feeds = {
        images: random.rand(batch, 784).astype(np.float32),
        labels: np.eye(10, dtype=np.float32)[classes],
    }
    return train, feeds


def layer(tf: Any, inputs: Any, weights: Any) -> Any:
    """Return `inputs` times a variable that begins as `weights`, plus another one."""
    bias = tf.Variable(tf.zeros([weights.shape[1]]))
    return tf.matmul(inputs, tf.Variable(weights.astype(np.float32))) + bias


def over_three_tasks(tf: Any) -> Any:
    """Return a sum made on one worker, of a variable and what the other worker made of it."""
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(1.0)
    with tf.device("/job:worker/task:1"):
        doubled = variable * 2.0
    with tf.device("/job:worker/task:0"):
        return doubled + variable


def chain(tf: Any, count: int) -> tuple[Any, dict[Any, Any]]:
    """Return (the last of `count` subtractions in a graph of its own, feeds).

    Subtractions of something fed: TensorFlow neither folds them nor makes one sum of them.
    """
    with tf.Graph().as_default():
        total = fed = tf.placeholder(tf.float32, [])
        for _ in range(count):
            total = tf.subtract(fed, total)
        return total, {fed: 1.0}
