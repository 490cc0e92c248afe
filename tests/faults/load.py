"""How busy the machine is: processes that make it so, and by how much everything takes longer."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SPELL = 0.05  # seconds of a core
_END = 10.0  # seconds in which a busy process ends


@contextmanager
def loaded(count: int) -> Iterator[None]:
    """Keep so many processes busy, and end them, whatever happens.

    They end with their parent, too, however that ends; each is a session of its own, as other
    programs are.
    """
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=_work, args=(os.getpid(),), daemon=True) for _ in range(count)]
    try:
        for each in busy:
            each.start()
        yield
    finally:
        for each in busy:
            if each.pid is not None:
                each.kill()
                each.join(_END)


def _work(parent: int) -> None:
    os.setsid()  # the system may share its cores fairly among sessions
    while os.getppid() == parent:
        _count(100_000)


def _count(turns: int) -> None:
    for _ in range(turns):
        pass


def slowness() -> float:
    """Return how many times longer work takes now than on an idle core; 1 if it is idle.

    It is the time by the clock over that of a core, for a loop of bare Python.
    """
    wall, core = time.monotonic(), time.thread_time()
    while time.thread_time() - core < _SPELL:
        _count(1000)
    return max(1.0, (time.monotonic() - wall) / (time.thread_time() - core))
