"""How well `%whatif train` tells what a training on tfdist itself comes to: a table.

    python tests/benchmarks/whatif.py [--compute 50] [--runs 100] [--steps 40] [--workers 1 2 4 8]

A parameter server and workers, each with a graph of its own, whose gradients take time but no
processor, in one process and across processes, each on its own and in step. One worker's traced
steps are all that the simulation is told of; gradients a second are then simulated and measured.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from emulated import sleep, variable, workers

import tfdist as tf
from tfdist.session.link_probe import probed_bandwidth
from tfdist.simulation.calibration import setup_of, tells_bandwidth
from tfdist.simulation.training import TrainingSetup, asynchronous, synchronous
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows

WARM_UP = 4  # steps that are not counted: plans, connections, caches
ASYNCHRONOUS, SYNCHRONOUS = KINDS = ("asynchronous", "synchronous")
ONE_PROCESS, PROCESSES = PLACES = ("one process", "processes")


class Gradient(NamedTuple):
    """What a worker computes in a step.

    Attributes:
      milliseconds: the median of its time.
      spread: standard deviation of the logarithm of its time.
      size: how many numbers it has, as the variable has.
    """

    milliseconds: float = 50.0
    spread: float = 0.1
    size: int = 50_000


class Replica(NamedTuple):
    """A worker's session, and what it runs in a step."""

    session: Any
    train: tf.Operation

    def trace(self, runs: int) -> Iterator[tuple[list[NodeRow], float]]:
        """Yield the rows of traced steps, and how long each call took."""
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        for run in range(WARM_UP + runs):
            metadata, began = tf.RunMetadata(), time.perf_counter()
            self.session.run(self.train, options=options, run_metadata=metadata)
            took = time.perf_counter() - began
            if run >= WARM_UP:
                yield rows(metadata.step_stats), took

    def rate(self, steps: int) -> float:
        """Return how many steps it runs a second."""
        for _ in range(WARM_UP):
            self.session.run(self.train)
        began = time.perf_counter()
        for _ in range(steps):
            self.session.run(self.train)
        return steps / (time.perf_counter() - began)


class Comparison(NamedTuple):
    """Gradients a second of a number of workers, simulated and measured."""

    place: str
    kind: str
    workers: int
    simulated: float
    measured: float

    @property
    def error(self) -> float:
        """Return by which share of what was measured the simulation is above it."""
        return self.simulated / self.measured - 1

    def row(self) -> str:
        """Return a line of the table; its last number is how busy the machine was."""
        return (
            f"{self.place:12} {self.kind:13} {self.workers:7} {self.simulated:10.1f} "
            f"{self.measured:9.1f} {self.error:+7.1%} {os.getloadavg()[0]:5.1f}"
        )


@contextmanager
def training(targets: Sequence[str], kind: str, gradient: Gradient) -> Iterator[list[Replica]]:
    """Open the sessions of a training, a worker for each target, the chief first."""
    tf.Session.reset(targets[0])
    with ExitStack() as stack:
        yield [
            stack.enter_context(replica(target, task, len(targets), kind, gradient))
            for task, target in enumerate(targets)
        ]


@contextmanager
def replica(target: str, task: int, count: int, kind: str, gradient: Gradient) -> Iterator[Replica]:
    """Open the session of one worker of `count`."""
    device = tf.train.replica_device_setter(ps_tasks=1, worker_device=f"/job:worker/task:{task}")
    optimizer: Any = tf.train.GradientDescentOptimizer(0.01)
    hooks = []
    with tf.Graph().as_default():
        with tf.device(device):
            weights = variable("weights", gradient.size)
            taken = sleep(
                [weights], gradient.milliseconds, gradient.size, "gradient", gradient.spread
            )
            if kind == SYNCHRONOUS:
                optimizer = tf.train.SyncReplicasOptimizer(optimizer, count)
            step = tf.train.get_or_create_global_step()
            train = optimizer.apply_gradients([(taken, weights)], step)
        if kind == SYNCHRONOUS:
            hooks.append(optimizer.make_session_run_hook(task == 0, num_tokens=0))
        # whoever applies gradients in step waits for more of them when the session is closed
        opened = tf.train.MonitoredTrainingSession(
            target, task == 0, hooks=hooks, stop_grace_period_secs=0
        )
        with opened as session:
            yield Replica(session, train)


def calibrated(target: str, kind: str, gradient: Gradient, runs: int) -> TrainingSetup:
    """Return what traced steps of one worker tell."""
    with training([target], kind, gradient) as [one]:
        steps, calls_s = zip(*one.trace(runs), strict=True)
    with tf.Graph().as_default(), tf.Session(target) as session:
        probed = 0.0 if tells_bandwidth(steps) else probed_bandwidth(session, steps)
    return setup_of(steps, probed=probed, calls_s=calls_s)


def simulated(setup: TrainingSetup, count: int, kind: str) -> float:
    """Return how many gradients a second `count` workers come to by the simulation."""
    of_kind: Callable[..., Any] = synchronous if kind == SYNCHRONOUS else asynchronous
    return of_kind(replace(setup, workers=count), np.random.default_rng(0)).gradients_per_s


def measured(targets: Sequence[str], kind: str, gradient: Gradient, steps: int) -> float:
    """Return how many gradients a second the workers at `targets` really compute."""
    with training(targets, kind, gradient) as replicas, ThreadPoolExecutor(len(targets)) as pool:
        return sum(pool.map(lambda each: each.rate(steps), replicas))


def compared(
    place: str, gradient: Gradient, runs: int, steps: int, counts: Sequence[int]
) -> Iterator[Comparison]:
    """Yield what is simulated and measured with the tasks in one place."""
    with workers({"ps": 1, "worker": max(counts)}, place == PROCESSES) as targets:
        for kind in KINDS:
            setup = calibrated(targets[0], kind, gradient, runs)
            for count in counts:
                told = simulated(setup, count, kind)
                took = measured(targets[:count], kind, gradient, steps)
                yield Comparison(place, kind, count, told, took)


def main() -> None:
    """Print a row for each number of workers, and what all rows come to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--compute", type=float, default=50.0, help="milliseconds of a gradient")
    parser.add_argument("--runs", type=int, default=100, help="traced, of one worker")
    parser.add_argument("--steps", type=int, default=40, help="measured, of each worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--place", choices=PLACES, help="of the tasks; by default both in turn")
    arguments = parser.parse_args()
    print(f"{'tasks in':12} {'gradients':13} {'workers':>7} {'simulated':>10} {'measured':>9} "
          f"{'error':>7} {'load':>5}")  # fmt: skip
    errors = []
    for place in [arguments.place] if arguments.place else PLACES:
        gradient = Gradient(arguments.compute)
        for each in compared(place, gradient, arguments.runs, arguments.steps, arguments.workers):
            print(each.row(), flush=True)
            errors.append(abs(each.error))
    print(f"mean error {fmean(errors):.1%}, worst {max(errors):.1%}")


if __name__ == "__main__":
    main()
