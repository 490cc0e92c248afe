"""How well the length of a step is predicted under placements that nobody has run: a table.

    python tests/benchmarks/prediction.py [--runs 20] [--placements 6] [--seed 1] [NAME ...]

On emulated graphs, in one process and across processes. Costs and links are learned from traces of
two placements: the one that TensorFlow 1.x would choose, and a random one, whose residual is added
to what is predicted of others. Those are random, too; each is then run, all in turn.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, median

from emulated import GRAPHS, cluster

import tfdist as tf
from tfdist.session.step_model import StepModel, learned


def placements(model: StepModel, seed: int) -> Iterator[list[int]]:
    """Yield random placements: what shares a name scope stays together."""
    chance = random.Random(seed)
    problem = model.problem
    while True:
        placed, by_scope = list(model.present), dict[str, float]()
        for group in problem.movable:
            members = problem.members[group]
            scope = problem.names[members[0]].partition("/")[0]
            place = by_scope.setdefault(scope, chance.random())
            allowed = problem.allowed[group]
            for node in members:
                placed[node] = allowed[int(place * len(allowed))]
        yield placed


def errors(name: str, processes: bool, count: int, runs: int, seed: int) -> list[float]:
    """Return the error of each prediction for a graph, as a share of what was measured."""
    build, jobs = GRAPHS[name]
    with (
        cluster(jobs, processes) as target,
        tf.Graph().as_default(),
        tf.Session(target) as session,
    ):
        fetch = build()
        session.run(tf.global_variables_initializer())
        model = learned(session, fetch, runs=runs)
        draw = placements(model, seed)
        model = model.refined(next(draw), runs)
        known = len(model.ran)
        placed = [*(each.placed for each in model.ran), *(next(draw) for _ in range(count))]
        measured = model.timed_in_turn(placed, runs)
        # what other programs on the machine hold up, they hold up for all
        ran = [each._replace(step_s=took) for each, took in zip(model.ran, measured, strict=False)]
        model = replace(model, ran=tuple(ran))
        predicted = [model.predicted_s(each) for each in placed[known:]]
    return [told / took - 1 for told, took in zip(predicted, measured[known:], strict=True)]


def row(name: str, found: list[float]) -> str:
    """Return a line of the table."""
    sizes = [abs(each) for each in found]
    return f"{name:14} {fmean(sizes):7.1%} {median(sizes):7.1%} {max(sizes):7.1%}   " + " ".join(
        f"{each:+.0%}" for each in found
    )


def main() -> None:
    """Print a table for each kind of cluster."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GRAPHS))
    parser.add_argument("--runs", type=int, default=20, help="of each placement")
    parser.add_argument("--placements", type=int, default=6, help="that are predicted, per graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=["one", "processes"], help="one process, or several")
    arguments = parser.parse_args()
    for processes in (False, True):
        kind = "processes" if processes else "one process"
        if arguments.kind and not kind.startswith(arguments.kind):
            continue
        print(f"{kind:14} {'mean':>7} {'median':>7} {'worst':>7}   each")
        every: list[float] = []
        for name in arguments.names or GRAPHS:
            found = errors(name, processes, arguments.placements, arguments.runs, arguments.seed)
            print(row(name, found), flush=True)
            every += found
        print(row("all", every)[:40], flush=True)


if __name__ == "__main__":
    main()
