"""How much faster optimised placements are, and how well that is predicted: five emulated graphs.

    python tests/benchmarks/placement.py [--runs 20] [--seconds 1] [--processes] [NAME ...]

Each graph is run as TensorFlow 1.x would place it, optimised, and run again beside that.
"""

from __future__ import annotations

import argparse

from emulated import GRAPHS, cluster

import tfdist as tf


def measure(name: str, processes: bool, runs: int, seconds: float) -> str:
    """Return the row of one graph."""
    build, jobs = GRAPHS[name]
    with (
        cluster(jobs, processes) as target,
        tf.Graph().as_default(),
        tf.Session(target) as session,
    ):
        fetch = build()
        session.run(tf.global_variables_initializer())
        found = session.optimize_placement(fetch, runs=runs, seconds=seconds)
        verdict = found.verify(runs)
    error = found.predicted_s / verdict.after_s - 1
    return (
        f"{name:12} {verdict.before_s * 1e3:8.1f} {found.predicted_s * 1e3:10.1f} "
        f"{verdict.after_s * 1e3:9.1f} {error:+7.1%} {verdict.speedup:7.2f}  {found.best.method}"
    )


def main() -> None:
    """Print a row for each graph."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GRAPHS))
    parser.add_argument("--processes", action="store_true", help="a process for each task")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the search")
    arguments = parser.parse_args()
    print(f"{'graph':12} {'now, ms':>8} {'predicted':>10} {'measured':>9} {'error':>7} "
          f"{'faster':>7}  found by")  # fmt: skip
    for name in arguments.names or GRAPHS:
        row = measure(name, arguments.processes, arguments.runs, arguments.seconds)
        print(row, flush=True)


if __name__ == "__main__":
    main()
