"""Training over numbers of workers and of spare replicas: throughput, staleness, cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tfdist.simulation.training import TrainingSetup, asynchronous, saturation, synchronous

STEPS = 300  # synchronous steps that are simulated for each number of workers
SPARE_STEPS = 1500  # for each number of spare replicas, which differ by little
UPDATES = 3000  # asynchronous updates, and ten a worker
MOST_POINTS = 25


@dataclass(frozen=True)
class ScalingPoint:
    """What a number of workers comes to.

    Attributes:
      workers: how many compute gradients.
      gradients_per_s: gradients that were used, a second.
      speedup: that many times as many as one worker's.
      step_s: median of a worker's step, in seconds.
      slow_step_s: one of ten steps takes longer.
      staleness: mean number of updates between a gradient's read and its use.
      machine_s: machine seconds of workers and parameter servers that one gradient costs.
    """

    workers: int
    gradients_per_s: float
    speedup: float
    step_s: float
    slow_step_s: float
    staleness: float
    machine_s: float


@dataclass(frozen=True)
class SparePoint:
    """What a number of spare replicas comes to.

    Attributes:
      spare: replicas more than an update waits for.
      step_s: mean of a step, in seconds: what stragglers cost is in few steps.
      faster: how much shorter that is than without spare ones: 0.1 is 10 %.
      worth: the same for each machine: what is faster at the price of the spare ones.
    """

    spare: int
    step_s: float
    faster: float
    worth: float


@dataclass(frozen=True)
class Scaling:
    """How training scales.

    Attributes:
      setup: of one worker.
      is_synchronous: whether gradients are averaged in step.
      points: one a number of workers, in ascending order.
      saturation: at how many workers the parameter servers are busy all the time.
      staleness: of each update at the last point; empty if synchronous.
      spares: one a number of spare replicas, at the last point; empty if asynchronous.
    """

    setup: TrainingSetup
    is_synchronous: bool
    points: tuple[ScalingPoint, ...]
    saturation: float
    staleness: NDArray[np.int64]
    spares: tuple[SparePoint, ...] = ()

    @property
    def best(self) -> ScalingPoint:
        """Return the point with the most gradients a second."""
        return max(self.points, key=lambda point: point.gradients_per_s)


def scaling(
    setup: TrainingSetup,
    workers: Iterable[int],
    is_synchronous: bool = False,
    spare: int = 0,
    seed: int = 0,
) -> Scaling:
    """Return how training scales over numbers of workers.

    Args:
      setup: what one worker and one parameter server do; its `workers` and `spare` are not used.
      workers: numbers of them.
      is_synchronous: whether an update waits for all workers.
      spare: of synchronous training, how many spare replicas are tried beside the last number.
      seed: of the random numbers; the same one gives the same result.

    Raises:
      InvalidArgumentError: a number is out of its range.

    Example:
      >>> curve = scaling(
      ...     TrainingSetup(compute_s=0.9, push_bytes=1e8, ps_bandwidth=1e9), (1, 5, 50)
      ... )
      >>> [f"{point.speedup:.0f}" for point in curve.points], curve.saturation
      (['1', '5', '10'], 10.0)
    """
    counts = sorted(set(workers))
    setup = replace(setup, workers=1, spare=0)
    alone, staleness = _run(setup, is_synchronous, seed)
    points = []
    for count in counts:
        here = replace(setup, workers=count)
        point, staleness = _run(here, is_synchronous, seed, alone.gradients_per_s)
        points.append(point)
    most = spare if is_synchronous else 0
    spares = spare_values(replace(setup, workers=counts[-1]), most, seed) if most else ()
    return Scaling(
        setup, is_synchronous, tuple(points), saturation(setup), staleness, tuple(spares)
    )


def spare_values(setup: TrainingSetup, most: int, seed: int = 0) -> list[SparePoint]:
    """Return what 0 to `most` spare replicas, added to `setup.workers`, come to.

    Source: the "normalized speed-up" of Abadi et al. (OSDI 2016), figure 8.
    """
    found: list[SparePoint] = []
    for spare in range(most + 1):
        here = replace(setup, workers=setup.workers + spare, spare=spare)
        run = synchronous(here, np.random.default_rng(seed), SPARE_STEPS)
        step = float(run.step_s.mean())
        ratio = (found[0].step_s if found else step) / step
        worth = ratio * setup.workers / here.workers - 1
        found.append(SparePoint(spare, step, ratio - 1, worth))
    return found


def spread_over(least: int, most: int, count: int = MOST_POINTS) -> list[int]:
    """Return numbers of workers from `least` to `most`, all or about evenly apart as ratios.

    Example:
      >>> spread_over(1, 4), spread_over(1, 100, 5)
      ([1, 2, 3, 4], [1, 3, 10, 32, 100])
    """
    if most - least < count:
        return list(range(least, most + 1))
    return sorted({round(float(each)) for each in np.geomspace(least, most, count)})


def _run(
    setup: TrainingSetup, is_synchronous: bool, seed: int, alone: float = 0.0
) -> tuple[ScalingPoint, NDArray[np.int64]]:
    """Return the point of a setup, and the staleness of its updates."""
    rng = np.random.default_rng(seed)
    staleness = np.zeros(0, np.int64)
    if is_synchronous:
        run = synchronous(setup, rng, STEPS)
        rate, steps = run.gradients_per_s, run.step_s
    else:
        free = asynchronous(setup, rng, UPDATES + 10 * setup.workers)
        rate, steps, staleness = free.gradients_per_s, free.step_s, free.staleness
    return (
        ScalingPoint(
            setup.workers,
            rate,
            rate / alone if alone else 1.0,
            *_quantiles(steps),
            float(staleness.mean()) if len(staleness) else 0.0,
            (setup.workers + setup.ps) / rate,
        ),
        staleness,
    )


def _quantiles(steps: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    median, high = np.quantile(steps, (0.5, 0.9))
    return float(median), float(high)
