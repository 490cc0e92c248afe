"""Writes the documentation's page on speed: rows beside TensorFlow with their spread, and growth.

    python tests/benchmarks/speed_page.py --tensorflow PYTHON [--tensorflow PYTHON]
        [--rows NAME ...] > docs/explanation/speed.md

For a machine that does nothing else; all rows in five rounds take an hour. See `compare.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from compare import ROWS, STARTS, Times, ahead, duration_text, measure, sides
from growth import NUMBERS, cells
from measure import IDLE
from rows import ACROSS

from tfdist.base.extras import installed

QUICKER = ("onednn-cpu-gomp", "numba", "scipy")
HERE = Path(__file__).resolve().parent
TITLE = """\
# Speed

Written by `tests/benchmarks/speed_page.py`, in one run on {machine}.
Each row is one program, written against names of TensorFlow 1.x, run by all in turn for {rounds}
rounds: a cell has the median of the rounds, and the least and the most. *Ahead* is the time of the
faster TensorFlow by tfdist's; below 1 tfdist is behind. *Traced* is what a step with FULL_TRACE
takes by one without, on tfdist; *ahead, traced* compares the steps with FULL_TRACE.
"""
GROWTH = """\
## Growth

Microseconds of processor time that one step, node, tensor, variable or task costs, by how many
there are. Where costs are linear a row's cells are alike, once what is paid only once is spread
over enough.
"""
MORE = """\
Measured apart: [what many tasks cost](../how-to/plan-a-cluster.md), and
[what crosses between hosts](../how-to/several-hosts.md).
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tensorflow", metavar="PYTHON", action="append", default=[])
    parser.add_argument("--rows", metavar="NAME", nargs="+", choices=ROWS, help="all by default")
    parser.add_argument("--rounds", type=int, default=5, help="5 by default")
    parser.add_argument("--most", type=int, default=max(NUMBERS), help="of what grows")
    options = parser.parse_args(arguments)
    rows = [row for row in options.rows or ROWS if row != IDLE]
    with sides(options.tensorflow, traced=True) as found:
        names = [side.name for side in found]
        results = measure(found, rows, options.rounds)
    print("\n".join(page(names, results, options.rounds, grown(options.most))))


def grown(most: int) -> dict[str, dict[int, float]]:
    """Return what `growth.py` measures, in a process of its own."""
    command = [sys.executable, str(HERE / "growth.py"), "--json", "--most", str(most)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, dict[str, float]] = json.loads(told)
    return {row: {int(n): each for n, each in taken.items()} for row, taken in found.items()}


def page(
    names: Sequence[str],
    results: dict[str, list[Times | str]],
    rounds: int,
    growth: dict[str, dict[int, float]],
) -> Iterator[str]:
    """Yield the lines of the page."""
    yield TITLE.format(machine=machine(), rounds=rounds)
    for title, rows in parts(list(results)).items():
        if rows:
            yield f"## {title}\n"
            yield from table(
                ["", *names[: len(names) // 2], "ahead", "traced", "ahead, traced"],
                row_cells(names, results, rows),
            )
    yield GROWTH
    yield from table(["", *(f"{n:,}" for n in NUMBERS)], [cells(*each) for each in growth.items()])
    yield MORE.rstrip()


def parts(rows: Sequence[str]) -> dict[str, list[str]]:
    """Return the rows of each section."""
    return {
        "In one process": [row for row in rows if row not in ACROSS and row not in STARTS],
        "Across processes": [row for row in rows if row in ACROSS],
        "Starts": [row for row in rows if row in STARTS],
    }


def row_cells(
    names: Sequence[str], results: dict[str, list[Times | str]], rows: Sequence[str]
) -> list[list[str]]:
    """Return the cells of rows; the second half of the sides is traced."""
    found = []
    half = len(names) // 2
    for row in rows:
        plain, traced = results[row][:half], results[row][half:]
        told = [spread(taken) for taken in plain]
        beside = ahead(names[half:], traced)
        costs = ["", ""] if row in STARTS else [ratio(traced[0], plain[0]), beside]
        found.append([row, *told, ahead(names[:half], plain), *costs])
    return found


def spread(taken: Times | str) -> str:
    """Return a median in milliseconds, and what it lies between."""
    if isinstance(taken, str):
        return "failed"
    low, high = (duration_text(each).removesuffix(" ms") for each in (taken.least, taken.most))
    return f"{duration_text(taken.median)} ({low} to {high})"


def ratio(taken: Times | str, other: Times | str) -> str:
    """Return how many times as long one took as the other."""
    both = isinstance(taken, Times) and isinstance(other, Times)
    return f"{taken.median / other.median:.1f} x" if both else ""  # type: ignore[union-attr]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown, numbers flush right."""
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'--:|' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def machine() -> str:
    """Return what it runs on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"Python {platform.python_version()}"
    return f"{cores} cores ({model or platform.machine()}), {python}, {libraries()}"


def libraries() -> str:
    """Return which of the libraries are installed that make tfdist faster, and are extras."""
    found = [f"{name} {version}" for name in QUICKER if (version := installed(name))]
    return f"with {', '.join(found)}" if found else "without any extra"


if __name__ == "__main__":
    main()
