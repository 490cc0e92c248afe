"""The fault bench: servers in processes are killed, frozen, cut off and flooded.

`python tests/faults/bench.py [--load N] [ROW ...]` does each row of the table, or those whose
number begins with a ROW, and prints what was promised and what was measured; then which of the
promises of the table have no row, and why. The exit code is 1 if a promise was not kept.

`--load N` keeps N processes busy meanwhile. A promise of seconds holds on an idle machine; where
things take longer by themselves, as a loop of bare Python shows right before and after each row, it
may take as many times longer ("busy"). Promises in multiples of plain gRPC are compared with that
under the same load. Rows take half a minute at most each on an idle machine, all of them some
minutes; the quick ones are tests too (`test_faults.py`).
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.load import loaded, slowness
from tests.faults.row import Measured, Row, measure, problems
from tests.faults.table import LEFT_OUT, ROWS

LIMIT = 120  # seconds after which a row is given up, on an idle machine
HEADING = ("row", "what is done", "promised", "measured", "busy", "")
WIDTHS = (14, 68, 31, 31, 5, 0)


def main(words: Sequence[str]) -> int:
    """Run rows and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="a row's number; all by default")
    parser.add_argument("--load", type=int, default=0, metavar="N", help="keep N processes busy")
    asked = parser.parse_args(words)
    rows = [row for row in ROWS if not asked.rows or is_wanted(row, asked.rows)]
    if not rows:
        numbers = ", ".join(r.number for r in ROWS)
        print(f"there is no row {' or '.join(asked.rows)}; rows: {numbers}")
        return 2
    with loaded(asked.load):
        failed = run(rows)
    if not asked.rows:
        print("\nleft out:")
        for number, why in LEFT_OUT.items():
            print(line((str(number), why)))
    return 1 if failed else 0


def run(rows: Sequence[Row]) -> list[str]:
    """Do rows, and return the numbers of those whose promise was not kept."""
    print(line(HEADING))
    started = time.monotonic()
    failed = [row.number for row in rows if not report(row)]
    print(f"{len(rows)} rows in {time.monotonic() - started:.0f} s; failed: {failed or 'none'}")
    return failed


def is_wanted(row: Row, wanted: Sequence[str]) -> bool:
    """Return whether a row has one of the numbers, or is a variant of it."""
    return any(row.number == each or row.number.split()[0] == each for each in wanted)


def report(row: Row) -> bool:
    """Do a row, print its line, and return whether its promise was kept."""
    measured: Measured | None = None
    try:
        with limited(int(LIMIT * slowness())):
            measured = measure(row)
        wrong = problems(row, measured)
    except Exception as error:
        wrong = [f"{type(error).__name__}: {error}"]
    busy = "" if measured is None else f"{measured.slowness:.1f}"
    told = "FAILED" if wrong else "ok"
    print(line((row.number, row.sentence, row.promised, shown(measured), busy, told)))
    for each in [*filter(None, [measured.note if measured else ""]), *wrong]:
        print(f"{'':{WIDTHS[0] + 2}}{each}", flush=True)
    return not wrong


def shown(measured: Measured | None) -> str:
    """Return what was measured as text."""
    if measured is None:
        return "-"
    error = "" if measured.error is None else type(measured.error).__name__
    of = f"= {measured.seconds / measured.reference:.1f} x" if measured.reference else ""
    return f"{measured.seconds:.3f} s {of}{error}"


def line(columns: Sequence[str]) -> str:
    """Return columns side by side."""
    pairs = zip(columns, WIDTHS, strict=False)  # a line may have less
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
