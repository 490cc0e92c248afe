"""Every test here builds in a graph of its own, and leaves no writer behind."""

from collections.abc import Iterator

import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """Make a new graph the default graph, and give it."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(autouse=True)
def writers() -> Iterator[None]:
    """Close the writers of summaries that estimators share."""
    yield
    tf.summary.FileWriterCache.clear()


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch) -> None:
    """Let no test be a task of a cluster that the user's environment names."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
