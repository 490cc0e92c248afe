"""Watches the memory of programs that run for long, and prints whether it grows.

    python tests/benchmarks/memory.py [--seconds 60] [--rows NAME ...] [--most MB]

For each program a line from time to time: seconds, steps, MB of this process and of those that it
started, and how many Python objects the garbage collector knows in this one; then the slopes of a
line through the later two thirds. Between processes memory grows for the first 700 steps: each task
remembers the ids of the last 65,536 calls. With --most the exit code is 1 if a program's memory
grew faster than so many MB a minute: CI's nightly form runs that for ten minutes.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from loading import load
from memory_rows import MEMORY
from timed import Timed

LINES = 12  # of each program, at most
WARM_UP = 1 / 3  # of the time, which the slope leaves out
SETTLING = 100  # looks at most, until two in a row find the same


class Sample(NamedTuple):
    """What was there at a moment.

    Attributes:
      seconds: since the beginning.
      steps: that were taken until then.
      megabytes: in which this process and its children are resident.
      objects: that the garbage collector knows in this process.
    """

    seconds: float
    steps: int
    megabytes: float
    objects: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Watch and print."""
    options = parser().parse_args(arguments)
    tf, growing = load("tfdist"), []
    for row in options.rows or MEMORY:
        print(row)
        with program(tf, row) as timed:
            samples = printed(watched(timed, options.seconds), options.seconds / LINES)
            kept = [tuple(each) for each in samples]  # which the garbage collector does not count
        print(slopes(kept), flush=True)
        if options.most is not None and grown(kept) > options.most:
            growing.append(row)
    if growing:
        sys.exit(f"more than {options.most:g} MB a minute: {', '.join(growing)}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--seconds", type=float, default=60, help="for each row; 60 by default")
    found.add_argument("--rows", metavar="NAME", nargs="+", choices=MEMORY, help="all by default")
    found.add_argument("--most", type=float, metavar="MB", help="a minute; more is a failure")
    return found


@contextmanager
def program(tf: Any, row: str) -> Iterator[Timed]:
    """Begin a program, and end it."""
    timed = MEMORY[row](tf)
    try:
        yield timed
    finally:
        timed.close()


def watched(timed: Timed, seconds: float) -> Iterator[Sample]:
    """Take steps, and yield a sample about each second."""
    begin, steps, due = time.monotonic(), 0, 0.0
    while (now := time.monotonic() - begin) < seconds:
        if now >= due:
            yield Sample(now, steps, megabytes(), held_objects())
            due = now + min(1.0, seconds / 20)
        timed.step()
        steps += 1
    yield Sample(now, steps, megabytes(), held_objects())


def printed(samples: Iterator[Sample], pause: float) -> Iterator[Sample]:
    """Yield samples, and print one of them every `pause` seconds."""
    print(f"{'seconds':>9}{'steps':>9}{'MB':>9}{'objects':>9}")
    due = 0.0
    for sample in samples:
        if sample.seconds >= due:
            print("{:9.1f}{:9d}{:9.1f}{:9d}".format(*sample), flush=True)
            due = sample.seconds + pause
        yield sample


def warm(samples: Sequence[tuple[float, ...]]) -> Any:
    """Return the samples, as an array, of when the program was warm."""
    found = np.array(samples)
    return found[found[:, 0] > WARM_UP * found[-1, 0]]


def grown(samples: Sequence[tuple[float, ...]]) -> float:
    """Return by how many MB a minute memory grew when the program was warm."""
    later = warm(samples)
    return slope(later[:, 0] / 60, later[:, 2])


def slopes(samples: Sequence[tuple[float, ...]]) -> str:
    """Return how memory and objects grew when the program was warm, as text."""
    later = warm(samples)
    minutes, thousands = later[:, 0] / 60, later[:, 1] / 1000
    told = [
        f"{slope(by, later[:, column]):+.2f} {what}"
        for column, what, by in (
            (2, "MB a minute", minutes), (2, "MB a thousand steps", thousands),
            (3, "objects a minute", minutes), (3, "objects a thousand steps", thousands),
        )
    ]  # fmt: skip
    return f"slope: {', '.join(told)}"


def slope(x: Any, y: Any) -> float:
    """Return how steep the line is that fits best; 0 if there are too few points."""
    return float(np.polyfit(x, y, 1)[0]) if len(x) > 2 else 0.0


def megabytes() -> float:
    """Return the megabytes in which this process and its children are resident; on Linux."""
    lists = Path("/proc/self/task").glob("*/children")
    children = [int(child) for each in lists for child in each.read_text().split()]
    return sum(resident(pid) for pid in (os.getpid(), *children)) / 1e6


def resident(pid: int) -> int:
    """Return the bytes of memory in which a process is resident."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def held_objects() -> int:
    """Return how many objects the garbage collector knows when it has collected."""
    gc.collect()
    return len(gc.get_objects())


def settled_objects() -> int:
    """Return how many objects are held when producers have filled their queues and wait."""
    found, before = held_objects(), -1
    for _ in range(SETTLING):
        if found == before:
            break
        time.sleep(0.01)
        found, before = held_objects(), found
    return found


def held_after(
    step: Callable[[], Any], times: int, traced: Callable[[], int]
) -> tuple[list[int], list[int]]:
    """Return what this process holds after each of `times` steps: objects, and bytes of all.

    Args:
      step: what to do.
      times: how often.
      traced: returns the bytes, while `tracemalloc` traces.
    """
    objects, sizes = [], []
    gc.collect()
    gc.freeze()  # what is there already need not be walked each time
    tracemalloc.start()
    try:
        for _ in range(times):
            step()
            objects.append(settled_objects())
            sizes.append(traced())
    finally:
        tracemalloc.stop()
    return objects, sizes


if __name__ == "__main__":
    main()
