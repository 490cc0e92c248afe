"""The programs that write summaries; see `rows`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised

STEPS, NUMBERS = 20, 100_000


def scalars_and_histogram(tf: Any) -> Timed:
    """20 steps, each with 2 scalars and a histogram of 100,000 floats, merged and written."""
    with tf.Graph().as_default():
        values = tf.Variable(np.random.RandomState(0).randn(NUMBERS).astype(np.float32))
        tf.summary.scalar("one", tf.constant(1.0))
        tf.summary.scalar("two", tf.constant(2.0))
        tf.summary.histogram("values", values)
        return written(tf, tf.summary.merge_all(), STEPS)


def scalars(tf: Any) -> Timed:
    """200 steps, each with 10 scalars, merged and written."""
    with tf.Graph().as_default():
        value = tf.placeholder_with_default(1.0, [])
        for number in range(10):
            tf.summary.scalar(f"number_{number}", value)
        return written(tf, tf.summary.merge_all(), 10 * STEPS)


def written(tf: Any, merged: Any, steps: int) -> Timed:
    """Return so many steps that write a summary, and wait in the end until it is in the file."""
    folder = tempfile.mkdtemp()
    session = initialised(tf)
    writer = tf.summary.FileWriter(folder)

    def step() -> None:
        for number in range(steps):
            writer.add_summary(session.run(merged), number)
        writer.flush()

    def close() -> None:
        writer.close()
        session.close()
        shutil.rmtree(folder)

    return Timed(step, close=close)


SUMMARIES: dict[str, Callable[[Any], Timed]] = {
    "20 histograms of 100,000 floats, written": scalars_and_histogram,
    "200 times 10 scalars, written": scalars,
}
