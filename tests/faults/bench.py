"""The fault bench: servers in processes are killed, frozen, cut off and flooded.

`python tests/faults/bench.py [ROW ...]` does each row of the table, or those whose number begins
with a ROW, and prints what was promised and what was measured. The exit code is 1 if a promise
was not kept. Rows take half a minute at most each, all of them some minutes; the quick ones are
tests too (`test_faults.py`).
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.row import Measured, Row, measure, problems
from tests.faults.table import ROWS

LIMIT = 120  # seconds after which a row is given up
HEADING = ("row", "what is done", "promised", "measured", "")
WIDTHS = (13, 68, 31, 31, 0)


def main(wanted: Sequence[str]) -> int:
    """Run rows and return the exit code."""
    rows = [row for row in ROWS if not wanted or is_wanted(row, wanted)]
    if not rows:
        print(f"there is no row {' or '.join(wanted)}; rows: {', '.join(r.number for r in ROWS)}")
        return 2
    print(line(HEADING))
    started = time.monotonic()
    failed = [row.number for row in rows if not report(row)]
    print(f"{len(rows)} rows in {time.monotonic() - started:.0f} s; failed: {failed or 'none'}")
    return 1 if failed else 0


def is_wanted(row: Row, wanted: Sequence[str]) -> bool:
    """Return whether a row has one of the numbers, or is a variant of it."""
    return any(row.number == each or row.number.split()[0] == each for each in wanted)


def report(row: Row) -> bool:
    """Do a row, print its line, and return whether its promise was kept."""
    measured: Measured | None = None
    try:
        with limited(LIMIT):
            measured = measure(row)
        wrong = problems(row, measured)
    except Exception as error:
        wrong = [f"{type(error).__name__}: {error}"]
    promised = f"<= {row.bound:g} s {row.error}"
    print(line((row.number, row.sentence, promised, shown(measured), "FAILED" if wrong else "ok")))
    for each in [*filter(None, [measured.note if measured else ""]), *wrong]:
        print(f"{'':{WIDTHS[0] + 2}}{each}", flush=True)
    return not wrong


def shown(measured: Measured | None) -> str:
    """Return what was measured as text."""
    if measured is None:
        return "-"
    error = "" if measured.error is None else type(measured.error).__name__
    return f"{measured.seconds:.3f} s {error}"


def line(columns: Sequence[str]) -> str:
    """Return columns side by side."""
    pairs = zip(columns, WIDTHS, strict=True)
    return "  ".join(f"{text:{width}}" for text, width in pairs).rstrip()


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise AssertionError in the main thread if the context takes longer."""

    def over(*_: Any) -> None:
        raise AssertionError(f"the row was given up after {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
