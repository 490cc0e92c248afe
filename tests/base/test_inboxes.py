"""Waits at a queue end in time, also those that are held up on their way."""

import threading
from queue import Empty, SimpleQueue

import pytest

from tests.runtime.blocking import PATIENCE
from tfdist.base.inboxes import get_in_time

SHORT = 3e-6  # seconds: a wait is often held up that long before it begins


def wait_in_vain(turns: int) -> None:
    """Wait at new queues, and at queues that an item has passed through."""
    for _ in range(turns):
        inbox = SimpleQueue()
        with pytest.raises(Empty):
            get_in_time(inbox, SHORT)
        inbox.put(1)
        assert get_in_time(inbox, SHORT) == 1
        with pytest.raises(Empty):
            get_in_time(inbox, SHORT)


def test_a_wait_that_is_held_up_ends():
    waits = threading.Thread(target=wait_in_vain, args=(5000,), daemon=True)
    waits.start()
    waits.join(PATIENCE)
    assert not waits.is_alive()


def test_an_item_that_comes_ends_the_wait():
    inbox = SimpleQueue()
    threading.Timer(0.01, inbox.put, ["item"]).start()
    assert get_in_time(inbox, PATIENCE) == "item"
