"""Measures tfdist beside real TensorFlow and prints a table with the ratios.

    python tests/benchmarks/compare.py --tensorflow PYTHON [--tensorflow PYTHON] [--rows NAME ...]

PYTHON is the interpreter of an environment that has TensorFlow. Every row is measured in rounds,
each of which goes to all sides in turn, so that a noisy moment hits all alike; medians count. As
root each side has a network namespace of its own, for TensorFlow's servers listen everywhere. With
--traced each side is there once more, every step traced. `speed_page.py` makes a page of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from measure import IDLE
from rows import PROGRAMS

HERE = Path(__file__).resolve().parent
BASIS = "numpy, grpc"  # what an import of tfdist is compared with
_GRAPHS = "import {} as tf; tf = tf.compat.v1; tf.disable_eager_execution()"
# What a fresh process does: much loads when it is first asked for, which the first step shows.
STARTS = {
    "import": "import {}",
    "import and first step": f"{_GRAPHS}; tf.Session().run(tf.constant(1) + 2)",
    "import and first server": f"{_GRAPHS}; tf.train.Server.create_local_server()",
}
TIMED = """
import os, time
start = time.perf_counter()
{}
print(time.perf_counter() - start, flush=True)
os._exit(0)  # servers of TensorFlow would not let it end
"""
TRACED = ", traced"  # what the name of such a side ends with
ROWS = [*PROGRAMS, *STARTS, IDLE]
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


class Times(NamedTuple):
    """What a row took in several rounds, in seconds."""

    median: float
    least: float
    most: float


class Side:
    """A process that measures: tfdist in this Python, or TensorFlow in another one.

    Args:
      python: the interpreter.
      module: what it imports.
      is_traced: whether every step is traced.
    """

    def __init__(self, python: str, module: str, is_traced: bool = False) -> None:
        self._python, self._module = python, module
        self._options = ["--traced"] if is_traced else []
        self.name = f"{module} {self._begin()['version']}{TRACED if is_traced else ''}"

    def _begin(self) -> dict[str, Any]:
        """Start the process, and return what it tells of itself."""
        self._process = subprocess.Popen(
            isolated([self._python, str(HERE / "measure.py"), self._module, *self._options]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(self._module),
        )
        told = self._answer()
        if told is None:
            raise SystemExit(f"{self._python}: measure.py {self._module} ended; run it to see why")
        return told

    def measure(self, row: str) -> dict[str, Any]:
        """Return {"seconds": ...} or {"error": ...} of one round of `row`; sizes for `IDLE`.

        A row that ends the process (memory) costs that row only: the process begins anew.
        """
        if row in STARTS:
            return {"seconds": start_seconds(self._python, row, self._module)}
        assert self._process.stdin is not None
        self._process.stdin.write(f"{row}\n")
        self._process.stdin.flush()
        told = self._answer()
        if told is None:
            self.close()
            self._begin()
        return told or {"error": "its process ended"}

    def _answer(self) -> dict[str, Any] | None:
        """Return what the process answers, None if it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        """End the process; TensorFlow's servers would not let it end by itself."""
        self._process.kill()
        self._process.communicate()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = parser().parse_args(arguments)
    rows = options.rows or ROWS
    timed = [row for row in rows if row != IDLE]
    with sides(options.tensorflow, options.traced) as found:
        if timed:
            results = measure(found, timed, options.rounds)
            print(table([side.name for side in found], timed, results))
        if IDLE in rows:
            print(idle_table(found))
    for row in STARTS:
        if row in rows:
            print(start_line(row, options.rounds))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument(
        "--tensorflow", metavar="PYTHON", action="append", default=[], help="may be repeated"
    )
    found.add_argument("--traced", action="store_true", help="measure traced steps, too")
    found.add_argument("--rows", metavar="NAME", nargs="+", choices=ROWS, help="all by default")
    found.add_argument("--rounds", type=int, default=7, help="7 by default")
    return found


@contextmanager
def sides(pythons: Sequence[str], traced: bool = False) -> Iterator[list[Side]]:
    """Yield a running side for tfdist, first, and one for each of `pythons`; then traced ones."""
    plain = [(sys.executable, "tfdist"), *[(python, "tensorflow") for python in pythons]]
    wanted: list[tuple[Any, ...]] = [*plain, *[(*each, True) for each in plain if traced]]
    with ExitStack() as stack:
        found = []
        for each in wanted:
            found.append(Side(*each))
            stack.callback(found[-1].close)
        yield found


def measure(
    found: Sequence[Side], rows: Sequence[str], rounds: int
) -> dict[str, list[Times | str]]:
    """Return for each row what each side took in its rounds, or an error."""
    results: dict[str, list[Times | str]] = {}
    for row in rows:
        print(f"{row} ...", file=sys.stderr)
        answers = [[side.measure(row) for side in found] for _ in range(rounds)]
        results[row] = [times(each) for each in zip(*answers, strict=True)]
    return results


def times(answers: Sequence[dict[str, Any]]) -> Times | str:
    """Return what the rounds took, or the error of one of them."""
    errors = [answer["error"] for answer in answers if "error" in answer]
    if errors:
        return str(errors[0])
    found = [answer["seconds"] for answer in answers]
    return Times(statistics.median(found), min(found), max(found))


def table(names: Sequence[str], rows: Sequence[str], results: dict[str, list[Times | str]]) -> str:
    """Return the table as text: a line per row, tfdist first, errors below."""
    lines = [["row", *names, "ahead by"]]
    errors = []
    for row in rows:
        taken = results[row]
        lines.append([row, *map(median_text, taken), ahead(names, taken)])
        errors += [f"{row}, {n}: {t}" for n, t in zip(names, taken, strict=True) if type(t) is str]
    return "\n".join([aligned(lines), *errors])


def idle_table(found: Sequence[Side]) -> str:
    """Return what a server's process takes while it does nothing: a line per moment, errors below.

    MB are 1,000,000 bytes of resident memory, libraries that processes share included.
    """
    sizes = [side.measure(IDLE) for side in found]
    moments = dict.fromkeys(moment for size in sizes for moment in size if moment != "error")
    lines = [[moment, *(size_text(size.get(moment)) for size in sizes)] for moment in moments]
    errors = [
        f"{IDLE}, {side.name}: {size['error']}"
        for side, size in zip(found, sizes, strict=True)
        if "error" in size
    ]
    return "\n".join([aligned([[IDLE, *(side.name for side in found)], *lines]), *errors])


def size_text(size: dict[str, int] | None) -> str:
    """Return the size of a process."""
    return f"{size['megabytes']} MB, {size['threads']} threads" if size else "failed"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return cells as text: a line each, columns under each other."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(aligned_line(line, widths) for line in lines)


def aligned_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return the cells as a line, the first flush left."""
    first, *others = (
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others])


def ahead(names: Sequence[str], taken: Sequence[Times | str]) -> str:
    """Return how many times faster tfdist is than the faster TensorFlow; below 1 it is behind."""
    own, *others = zip(names, taken, strict=True)
    told = [
        t.median
        for name, t in others
        if not isinstance(t, str) and is_traced(name) == is_traced(own[0])
    ]
    return f"{min(told) / own[1].median:.2f} x" if told and isinstance(own[1], Times) else ""


def is_traced(name: str) -> bool:
    """Return whether a side's steps are traced."""
    return name.endswith(TRACED)


def median_text(taken: Times | str) -> str:
    """Return the median in milliseconds."""
    return "failed" if isinstance(taken, str) else duration_text(taken.median)


def duration_text(seconds: float) -> str:
    """Return a duration in milliseconds."""
    return f"{seconds * 1e3:.3f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms"


def start_line(row: str, rounds: int) -> str:
    """Return what a row of `STARTS` costs beside importing numpy and grpc, in this Python."""
    pairs = [
        (
            start_seconds(sys.executable, row, "tfdist"),
            start_seconds(sys.executable, "import", BASIS),
        )
        for _ in range(rounds)
    ]
    own, basis = (statistics.median(times) for times in zip(*pairs, strict=True))
    return (
        f"{row}: tfdist takes {duration_text(own)}, import {BASIS} {duration_text(basis)}: "
        f"{own / basis:.2f} times as long"
    )


def start_seconds(python: str, row: str, modules: str) -> float:
    """Return how long a row of `STARTS` takes; `modules` as in an import statement."""
    command = networked([python, "-c", TIMED.format(STARTS[row].format(modules))])
    finished = subprocess.run(
        command, env=environment(modules), check=True, capture_output=True, text=True
    )
    return float(finished.stdout.splitlines()[-1])


def environment(module: str) -> dict[str, str]:
    """Return the environment of a process that imports `module`; tfdist is this checkout's.

    Bytecode is kept, as in an installation: else every import would compile our modules again.
    """
    paths = {"PYTHONPATH": str(HERE.parents[1])} if module == "tfdist" else {}
    found = {**os.environ, **ENVIRONMENT, **paths}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def networked(command: list[str]) -> list[str]:
    """Return `command` in a network namespace that has a loopback, if we may make one."""
    shell = 'ip link set lo up; exec "$@"'
    can = os.geteuid() == 0 and shutil.which("unshare") is not None
    return ["unshare", "--net", "sh", "-c", shell, "sh", *command] if can else command


def isolated(command: list[str]) -> list[str]:
    """Return `command` in a network namespace of its own, if we may make one."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return command
    return ["unshare", "--net", *command, "--own-network"]


if __name__ == "__main__":
    main()
