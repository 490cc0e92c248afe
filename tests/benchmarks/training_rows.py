"""The training programs that are measured; see `rows`."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timed import Timed, close, initialised, running, start

PIXELS, HIDDEN, CLASSES = 784, 100, 10
MEGABYTES_100 = 25_000_000  # floats


def optimized(optimizer: Callable[[Any], Any]) -> Callable[[Any], Timed]:
    """A training step of an MLP with batch 50 and this optimizer."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            loss, feeds = perceptron(tf)
            train = optimizer(tf).minimize(loss)
            return running(initialised(tf), train, feeds)

    return program


def adam(tf: Any) -> Any:
    """Return the optimizer that most programs use."""
    return tf.train.AdamOptimizer(0.001)


def momentum(tf: Any) -> Any:
    """Return the one that comes next."""
    return tf.train.MomentumOptimizer(0.01, 0.9)


def convolutions(tf: Any) -> Timed:
    """A training step of a network with two convolutions on 50 images of 28 x 28."""
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [None, 28, 28, 1])
        labels = tf.placeholder(tf.int32, [None])
        first = pooled(tf, images, [5, 5, 1, 32])
        second = pooled(tf, first, [5, 5, 32, 64])
        flat = tf.reshape(second, [-1, 7 * 7 * 64])
        hidden = tf.nn.relu(dense(tf, flat, 7 * 7 * 64, 256))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=dense(tf, hidden, 256, CLASSES)
        )
        train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(losses))
        random = np.random.RandomState(0)
        feeds = {
            images: random.rand(50, 28, 28, 1).astype(np.float32),
            labels: random.randint(0, CLASSES, 50),
        }
        return running(initialised(tf), train, feeds)


def pooled(tf: Any, images: Any, shape: list[int]) -> Any:
    """Return a convolution, made smaller by its largest values."""
    kernel = tf.Variable(tf.truncated_normal(shape, stddev=0.1, seed=1))
    made = tf.nn.relu(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME"))
    return tf.nn.max_pool(made, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


def dense(tf: Any, inputs: Any, size: int, units: int) -> Any:
    """Return a layer's outputs, before any activation."""
    weights = tf.Variable(tf.truncated_normal([size, units], stddev=0.05, seed=1))
    return tf.matmul(inputs, weights) + tf.Variable(tf.zeros([units]))


def perceptron(tf: Any) -> tuple[Any, dict[Any, Any]]:
    """Return (loss, feeds) of an MLP for 50 images of 28 x 28."""
    images = tf.placeholder(tf.float32, [None, PIXELS])
    labels = tf.placeholder(tf.int32, [None])
    hidden = tf.nn.relu(dense(tf, images, PIXELS, HIDDEN))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=dense(tf, hidden, HIDDEN, CLASSES)
    )
    random = np.random.RandomState(0)
    feeds = {
        images: random.rand(50, PIXELS).astype(np.float32),
        labels: random.randint(0, CLASSES, 50),
    }
    return tf.reduce_mean(losses), feeds


def two_workers(tf: Any, here: int | None = None) -> Timed:
    """A step of each of two workers at a time, their variables on a parameter server."""
    servers = start(tf, {"ps": 1, "worker": 2}, here)
    sessions, steps = [], []
    for task, server in enumerate(servers[:2]):
        with tf.Graph().as_default():
            train, feeds = replica(tf, task)
            sessions.append(initialised(tf, [server]))
            steps.append(bound(sessions[task].make_callable(train, list(feeds)), feeds))

    def end() -> None:
        sessions[1].close()
        close(sessions[0], servers)

    return Timed(at_once(steps), close=end)


def two_workers_in_step(tf: Any, here: int | None = None) -> Timed:
    """The same, but a variable changes once, by the mean of both workers' gradients."""
    servers = start(tf, {"ps": 1, "worker": 2}, here)
    sessions, steps, coordinator = [], [], tf.train.Coordinator()
    for task, server in enumerate(servers[:2]):
        with tf.Graph().as_default():
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.01), replicas_to_aggregate=2
            )
            train, feeds = replica(tf, task, optimizer)
            if not task:
                sessions.append(initialised(tf, [server]))
                sessions[0].run(optimizer.chief_init_op)
                sessions[0].run(optimizer.get_init_tokens_op())
                runner = optimizer.get_chief_queue_runner()
                runner.create_threads(sessions[0], coordinator, daemon=True, start=True)
            else:
                sessions.append(tf.Session(server.target))
                sessions[1].run(optimizer.local_step_init_op)
            steps.append(bound(sessions[task].make_callable(train, list(feeds)), feeds))

    def end() -> None:
        coordinator.request_stop()
        sessions[1].close()
        close(sessions[0], servers)

    return Timed(at_once(steps), close=end)


def at_once(steps: list[Callable[[], Any]]) -> Callable[[], None]:
    """Return what takes two steps at a time."""

    def step() -> None:
        other = threading.Thread(target=steps[1])
        other.start()
        steps[0]()
        other.join()

    return step


def bound(step: Callable[..., Any], feeds: dict[Any, Any]) -> Callable[[], Any]:
    """Return a step that needs no arguments."""
    return lambda: step(*feeds.values())


def replica(tf: Any, task: int, optimizer: Any = None) -> tuple[Any, dict[Any, Any]]:
    """Return (training op, feeds) of one worker."""
    optimizer = optimizer or tf.train.GradientDescentOptimizer(0.01)
    setter = tf.train.replica_device_setter(ps_tasks=1, worker_device=f"/job:worker/task:{task}")
    with tf.device(setter):
        loss, feeds = perceptron(tf)
        counter = tf.train.get_or_create_global_step()
        return optimizer.minimize(loss, counter), feeds


def saving(tf: Any) -> Timed:
    """Saving 100 MB to a file and restoring it."""
    folder = tempfile.TemporaryDirectory()
    with tf.Graph().as_default():
        for number in range(4):
            tf.Variable(tf.zeros([MEGABYTES_100 // 4]), name=f"v{number}")
        saver = tf.train.Saver()
        session = initialised(tf)
    path = str(Path(folder.name) / "model")

    def step() -> None:
        saver.save(session, path, write_meta_graph=False)
        saver.restore(session, path)

    def end() -> None:
        session.close()
        folder.cleanup()

    return Timed(step, close=end)


TRAINING: dict[str, Callable[[Any], Timed]] = {
    "MLP step with Adam": optimized(adam),
    "MLP step with momentum": optimized(momentum),
    "training step with convolutions": convolutions,
    "two workers' steps": two_workers,
    "two workers in step": two_workers_in_step,
    "saving and restoring 100 MB": saving,
}
