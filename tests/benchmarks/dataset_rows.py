"""The pipelines of tf.data that are measured; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised

IMAGES, PIXELS = 10_000, 784
STEPS = 20  # elements that are taken at a time


def slices(batch: int, shuffled: int = 0, scaled: bool = False) -> Callable[[Any], Timed]:
    """Batches of images and labels that are in memory, without end."""

    def pipeline(tf: Any) -> Any:
        random = np.random.RandomState(0)
        images = random.rand(IMAGES, PIXELS).astype(np.float32)
        labels = random.randint(0, 10, IMAGES)
        elements = tf.data.Dataset.from_tensor_slices((tf.constant(images), tf.constant(labels)))
        elements = elements.shuffle(shuffled) if shuffled else elements
        elements = elements.repeat()
        if scaled:
            elements = elements.map(lambda image, label: (image / 255.0, tf.one_hot(label, 10)))
        return elements.batch(batch) if batch else elements

    return taking(pipeline)


def mapped(batch: int) -> Callable[[Any], Timed]:
    """Scalars through a function of two ops."""

    def pipeline(tf: Any) -> Any:
        numbers = tf.data.Dataset.range(10**12).map(lambda x: x * 2 + 1)
        return numbers.batch(batch) if batch else numbers

    return taking(pipeline)


def filtered(tf: Any) -> Any:
    """Return two thirds of all numbers, in batches of 100."""
    return tf.data.Dataset.range(10**12).filter(lambda x: x % 3 > 0).batch(100)


def nested(tf: Any) -> Any:
    """Return numbers of small inner datasets, in batches of 100."""
    inner = tf.data.Dataset.range(10**12).flat_map(lambda x: tf.data.Dataset.range(20))
    return inner.batch(100)


def generated(tf: Any) -> Any:
    """Return numbers that a Python generator yields, in batches of 100."""

    def numbers() -> Any:
        number = 0
        while True:
            yield number
            number += 1

    return tf.data.Dataset.from_generator(numbers, tf.int64, []).batch(100)


def taking(pipeline: Callable[[Any], Any]) -> Callable[[Any], Timed]:
    """Return a row that takes some elements of a pipeline."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            iterator = tf.data.make_initializable_iterator(pipeline(tf))
            element = iterator.get_next()
            session = initialised(tf)
            session.run(iterator.initializer)

        def step() -> None:
            for _ in range(STEPS):
                session.run(element)

        return Timed(step, close=session.close)

    return program


DATASETS: dict[str, Callable[[Any], Timed]] = {
    "20 slices of images": slices(0),
    "20 batches of 32 slices": slices(32),
    "20 batches of 32 shuffled slices": slices(32, shuffled=10_000),
    "20 batches of 32 images, mapped": slices(32, shuffled=1_000, scaled=True),
    "20 mapped scalars": mapped(0),
    "20 batches of 100 mapped scalars": mapped(100),
    "20 batches of 100 filtered scalars": taking(filtered),
    "20 batches of 100 from inner datasets": taking(nested),
    "20 batches of 100 from a generator": taking(generated),
}
