"""Input pipelines of queues that queue runners fill; see `rows`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised

EXAMPLES, LINES, BATCHES = 1_000, 10_000, 100


def shuffled_batches(tf: Any) -> Timed:
    """100 batches of 32 slices of two arrays, shuffled by two threads."""
    with tf.Graph().as_default():
        images = np.random.RandomState(0).rand(EXAMPLES, 10).astype(np.float32)
        example = tf.train.slice_input_producer([images, np.arange(EXAMPLES)])
        batch = tf.train.shuffle_batch(
            example, 32, capacity=2_000, min_after_dequeue=500, num_threads=2
        )
        return pipeline(tf, batch)


def batches_of_lines(tf: Any) -> Timed:
    """100 batches of 32 lines of CSV, from a queue of files."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "table.csv")
    with open(path, "w") as file:
        file.writelines(f"{i * 0.5},{i * 0.25},{i % 7}\n" for i in range(LINES))
    with tf.Graph().as_default():
        names = tf.train.string_input_producer([path])
        _, line = tf.TextLineReader().read(names)
        batch = tf.train.batch(tf.decode_csv(line, [[0.0], [0.0], [0]]), 32, capacity=200)
        return pipeline(tf, batch, lambda: shutil.rmtree(folder))


def pipeline(tf: Any, batch: Any, clean: Callable[[], None] = lambda: None) -> Timed:
    """Return a step that takes 100 batches."""
    session, coordinator = initialised(tf), tf.train.Coordinator()
    session.run(tf.local_variables_initializer())
    threads = tf.train.start_queue_runners(session, coordinator)

    def step() -> None:
        for _ in range(BATCHES):
            session.run(batch)

    def close() -> None:
        coordinator.request_stop()
        coordinator.join(threads)
        session.close()
        clean()

    return Timed(step, close=close)


INPUT: dict[str, Callable[[Any], Timed]] = {
    "100 shuffled batches": shuffled_batches,
    "100 batches of CSV lines": batches_of_lines,
}
