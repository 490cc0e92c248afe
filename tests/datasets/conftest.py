"""Every test here builds in a graph of its own."""

from collections.abc import Iterator

import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """Make a new graph the default graph, and give it."""
    with tf.Graph().as_default() as graph:
        yield graph
