"""One side of the comparison: imports tfdist or TensorFlow, and measures rows as it is asked to.

`python measure.py MODULE [--traced] [--own-network]` writes its name and version, then reads names
of rows, a line each, and answers each with a line of JSON: {"seconds": median} or {"error": text},
and the idle row with sizes of a server's process. With --traced every step has FULL_TRACE. It ends
with its input. Runs under Python 3.7 too.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
from typing import Any

from idle import idle
from loading import load
from rows import PROGRAMS
from timed import Timed, nothing

IDLE = "idle server process"

WARM_UP = 2_000, 3.0  # calls, seconds; training has thousands of steps, too
ROUND = 200, 0.4  # at most so many calls, and no new one after so many seconds


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    if "--own-network" in sys.argv:
        raise_loopback()
    tf = load(sys.argv[1])
    if "--traced" in sys.argv:
        trace_all(tf)
    print(json.dumps({"version": tf.__version__}), file=answers, flush=True)
    measure = Measure(tf)
    for line in sys.stdin:
        print(json.dumps(measure(line.strip())), file=answers, flush=True)


class Measure:
    """Measures rows, each warmed up when it is new, and closed when another one comes."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        self._row = ""
        self._timed = Timed(nothing)

    def __call__(self, row: str) -> dict[str, Any]:
        """Return the median time of a call of `row`'s step in this round."""
        try:
            if row == IDLE:
                return idle(self._tf)
            if row != self._row:
                self._change(row)
            return {"seconds": statistics.median(durations(self._timed, *ROUND))}
        except Exception as error:
            first_line = str(error).split("\n")[0]
            return {"error": f"{type(error).__name__}: {first_line}"}

    def _change(self, row: str) -> None:
        closing, self._row, self._timed = self._timed, "", Timed(nothing)
        closing.close()
        self._timed = PROGRAMS[row](self._tf)
        self._row = row
        durations(self._timed, *WARM_UP)


def durations(timed: Timed, calls: int, seconds: float) -> list[float]:
    """Return the times of at most `calls` calls; after `seconds` no new one begins."""
    gc.collect()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while not found or (len(found) < calls and time.perf_counter() < end):
        found.append(duration(timed))
    return found


def duration(timed: Timed) -> float:
    """Return the time of one call."""
    prepared = () if timed.prepare is None else (timed.prepare(),)
    begin = time.perf_counter()
    timed.step(*prepared)
    return time.perf_counter() - begin


def trace_all(tf: Any) -> None:
    """Let all sessions trace each step."""
    run = tf.Session.run
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

    def traced(
        session: Any, fetches: Any, feed_dict: Any = None, options: Any = full, **other: Any
    ) -> Any:
        return run(
            session, fetches, feed_dict, options, **{"run_metadata": tf.RunMetadata(), **other}
        )

    tf.Session.run = traced


def raise_loopback() -> None:
    """Raise the loopback device, which is down in a new network namespace."""
    import fcntl
    import socket
    import struct

    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh", b"lo", up_and_running))


if __name__ == "__main__":
    main()
