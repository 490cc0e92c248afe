"""The programs that read files; see `rows`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from timed import Timed

LINES, EXAMPLES, STEPS = 10_000, 10_000, 1_000


def lines_one_by_one(tf: Any) -> Timed:
    """A step for each line of CSV, 1,000 of them."""
    return csv(tf, 0, STEPS)


def lines_in_batches(tf: Any) -> Timed:
    """10,000 lines of CSV, 1,000 in each step."""
    return csv(tf, 1_000, LINES // 1_000)


def csv(tf: Any, count: int, steps: int) -> Timed:
    """Return so many steps that read `count` lines each (0: one line, as a scalar)."""
    text = "".join(f"{i * 0.5},{i * 0.25},{i % 7}\n" for i in range(LINES))
    with tf.Graph().as_default():
        defaults = [[0.0], [0.0], [0]]
        return reading(
            tf, text.encode(), tf.TextLineReader(), count, steps,
            lambda lines: tf.decode_csv(lines, defaults),
        )  # fmt: skip


def examples_one_by_one(tf: Any) -> Timed:
    """A step for each Example of a TFRecord file, 1,000 of them."""
    return examples(tf, 0, STEPS)


def examples_in_batches(tf: Any) -> Timed:
    """10,000 Examples of a TFRecord file, 1,000 in each step."""
    return examples(tf, 1_000, EXAMPLES // 1_000)


def examples(tf: Any, count: int, steps: int) -> Timed:
    """Return so many steps that read and parse `count` Examples each (0: one, as a scalar)."""
    features = {
        "x": tf.FixedLenFeature([8], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
    }
    with tf.Graph().as_default():
        parse = tf.parse_example if count else tf.parse_single_example
        return reading(
            tf, records(tf), tf.TFRecordReader(), count, steps,
            lambda serialized: parse(serialized, features),
        )  # fmt: skip


def records(tf: Any) -> bytes:
    """Return a TFRecord file of Examples."""
    with tempfile.NamedTemporaryFile() as file:
        with tf.python_io.TFRecordWriter(file.name) as writer:
            for i in range(EXAMPLES):
                example = tf.train.Example()
                feature = example.features.feature
                feature["x"].float_list.value.extend([0.5 * i] * 8)
                feature["label"].int64_list.value.append(i % 10)
                feature["name"].bytes_list.value.append(b"n%d" % i)
                writer.write(example.SerializeToString())
        return file.read()


def reading(
    tf: Any, data: bytes, reader: Any, count: int, steps: int, parse: Callable[[Any], Any]
) -> Timed:
    """Return `steps` steps that read a file and parse what they read."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "file")
    with open(path, "wb") as file:
        file.write(data)
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    fill, reset = queue.enqueue(path), reader.reset()
    value = (reader.read_up_to(queue, count) if count else reader.read(queue))[1]
    parsed = parse(value)
    session = tf.Session()

    def prepare() -> None:
        session.run(reset)
        session.run(fill)

    def step(_: Any) -> None:
        for _ in range(steps):
            session.run(parsed)

    def close() -> None:
        session.close()
        shutil.rmtree(folder)

    return Timed(step, prepare, close)


READING: dict[str, Callable[[Any], Timed]] = {
    "1,000 lines of CSV, one by one": lines_one_by_one,
    "10,000 lines of CSV in batches": lines_in_batches,
    "1,000 Examples, one by one": examples_one_by_one,
    "10,000 Examples in batches": examples_in_batches,
}
