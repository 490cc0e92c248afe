"""What holds for every test of tf.keras: its session does not outlive it."""

import gc
from collections.abc import Iterator

import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def no_session_is_kept() -> Iterator[None]:
    """Close the session that tf.keras keeps: it counts among the tasks of this process."""
    yield
    tf.keras.backend.clear_session()


@pytest.fixture(autouse=True, scope="module")
def no_session_is_garbage() -> Iterator[None]:
    """Collect the sessions of graphs that a test left for others."""
    yield
    gc.collect()
