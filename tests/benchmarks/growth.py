"""How costs grow with steps, nodes and tasks: a table of what one of them costs, by their number.

    python tests/benchmarks/growth.py [--most 10000] [--json]

Where a cost is linear, the cells of a row are alike, once what is paid only once is spread over
enough; where it is quadratic, a cell is ten times the one before it. Tasks are those of one kernel;
`many_tasks.py` measures processes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from compare import aligned
from loading import load
from measure import trace_all
from rows import chain
from size_rows import over_many_tasks
from timed import initialised, start

NUMBERS = 10, 100, 1_000, 10_000
MOST_TASKS = 100  # in one kernel
ROUNDS = 3  # of which the quickest counts
WARM_UP = 3  # steps: the second one is compiled


def steps(tf: Any, count: int) -> Callable[[], Any]:
    """Return what runs a step of three nodes so many times."""
    total, feeds = chain(tf, 3)
    session = tf.Session(graph=total.graph)
    session.run(total, feeds)

    def run() -> None:
        for _ in range(count):
            session.run(total, feeds)

    return run


def building(tf: Any, count: int) -> Callable[[], Any]:
    """Return what builds a graph of so many nodes."""
    return lambda: chain(tf, count)


def first_step(tf: Any, count: int) -> Callable[[], Any]:
    """Return what runs a graph of so many nodes for the first time; works once."""
    total, feeds = chain(tf, count)
    return lambda: tf.Session(graph=total.graph).run(total, feeds)


def later_step(tf: Any, count: int) -> Callable[[], Any]:
    """Return what runs a graph of so many nodes once more."""
    total, feeds = chain(tf, count)
    session = tf.Session(graph=total.graph)
    return warm(lambda: session.run(total, feeds))


def gradients(tf: Any, count: int) -> Callable[[], Any]:
    """Return what builds the gradients of so many nodes; each call adds to the graph."""

    def build() -> None:
        with tf.Graph().as_default():
            first = total = tf.placeholder(tf.float32, [])
            for _ in range(count):
                total = tf.subtract(first, total)
            tf.gradients(total, first)

    return build


def feeds_and_fetches(tf: Any, count: int) -> Callable[[], Any]:
    """Return what feeds and fetches so many tensors."""
    with tf.Graph().as_default() as graph:
        fed = [tf.placeholder(tf.float32, []) for _ in range(count)]
        made = [each + 1.0 for each in fed]
        session = tf.Session(graph=graph)
    feeds = dict.fromkeys(fed, np.float32(1.0))
    return warm(lambda: session.run(made, feeds))


def variables(tf: Any, count: int) -> Callable[[], Any]:
    """Return what makes and initialises so many variables."""

    def make() -> None:
        with tf.Graph().as_default():
            for _ in range(count):
                tf.Variable(1.0)
            tf.Session().run(tf.global_variables_initializer())

    return make


def servers(tf: Any, count: int) -> Callable[[], Any]:
    """Return what starts so many servers in this kernel, and stops them."""

    def begin() -> None:
        for server in start(tf, {"worker": count}):
            server.stop()

    return begin


def step_over(tf: Any, count: int) -> Callable[[], Any]:
    """Return what runs a step over so many tasks of this kernel."""
    with tf.Graph().as_default():
        total = over_many_tasks(tf, count)
        session = initialised(tf, start(tf, {"ps": 2, "worker": count - 2}))
    return warm(lambda: session.run(total.op))


def warm(run: Callable[[], Any]) -> Callable[[], Any]:
    """Return `run`, which has run a few times."""
    for _ in range(WARM_UP):
        run()
    return run


ROWS: dict[str, tuple[Callable[[Any, int], Callable[[], Any]], str]] = {
    "a step of three nodes": (steps, "steps"),
    "building a graph": (building, "nodes"),
    "its gradients, too": (gradients, "nodes"),
    "its first step": (first_step, "nodes"),
    "a later step": (later_step, "nodes"),
    "a step's feeds and fetches": (feeds_and_fetches, "tensors"),
    "variables and their initialiser": (variables, "variables"),
    "servers in a kernel, start and stop": (servers, "tasks"),
    "a step over tasks of a kernel": (step_over, "tasks"),
}
TRACED = {"a traced step": (later_step, "nodes")}


def seconds(tf: Any, row: Callable[[Any, int], Callable[[], Any]], count: int) -> float:
    """Return the processor time that a row takes for so many: the least of some rounds."""
    found = []
    for _ in range(ROUNDS):
        run = row(tf, count)
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def measured(tf: Any, most: int) -> dict[str, dict[int, float]]:
    """Return for each row the seconds that each number takes."""
    found = {}
    for rows in (ROWS, TRACED):
        if rows is TRACED:
            trace_all(tf)
        for name, (row, unit) in rows.items():
            limit = min(most, MOST_TASKS) if unit == "tasks" else most
            counts = [count for count in NUMBERS if count <= limit]
            found[f"{name} ({unit})"] = {count: seconds(tf, row, count) for count in counts}
    return found


def cells(name: str, taken: dict[int, float]) -> list[str]:
    """Return a row of the table: what one costs, in microseconds."""
    costs = [1e6 * taken[count] / count if count in taken else None for count in NUMBERS]
    return [name, *("" if cost is None else f"{cost:.3g}" for cost in costs)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=max(NUMBERS), help="10,000 by default")
    parser.add_argument("--json", action="store_true", help="seconds by row and number")
    options = parser.parse_args(arguments)
    found = measured(load("tfdist"), options.most)
    if options.json:
        print(json.dumps(found))
        return
    header = ["us of processor time each", *(f"{count:,}" for count in NUMBERS)]
    print(aligned([header, *(cells(name, taken) for name, taken in found.items())]))


if __name__ == "__main__":
    main()
