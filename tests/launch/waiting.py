"""Waiting for other processes, with a bound."""

import time
from collections.abc import Callable

from tfdist.launch.owner import start_of

PATIENCE = 60.0  # seconds: on a busy machine


def wait_until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until `condition()` is true; fail if it is not in time."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"not in {patience:g} s"
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Return whether there is no process `pid`, or one that nobody has waited for yet."""
    return start_of(pid) == ""
