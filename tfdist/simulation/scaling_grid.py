"""Curves of throughput over workers for many settings at once: what sliders choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tfdist.simulation.scaling import spread_over
from tfdist.simulation.training import TrainingSetup, asynchronous, saturation, synchronous_runs

STEPS = 150  # synchronous ones of each setting
FEW, STEPS_OF_FEW = 8, 400  # workers that see few stragglers, and their steps
UPDATES = 800  # asynchronous ones, and so many a worker:
UPDATES_OF_WORKER = 8
POINTS = 10  # numbers of workers
SHARES = (0.0, 0.002, 0.01, 0.05)  # of gradients that straggle
FACTOR = 5.0  # how many times as long those take, where the setup does not say
MOST_SPARE = 4
_SERVERS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times those of the setup

Curves = NDArray[np.float64]


@dataclass(frozen=True)
class ScalingGrid:
    """Throughput for each choice of parameter servers, stragglers, spare replicas and workers.

    Attributes:
      setup: of one worker, with the chosen parameter servers and stragglers.
      workers: numbers of them that an update waits for, ascending.
      ps: numbers of parameter servers, ascending.
      shares: of gradients that straggle, ascending.
      spares: numbers of spare replicas, from 0 on.
      alone: gradients a second of asynchronous training, by [ps, share, workers].
      together: of synchronous training, by [ps, share, spare, workers].
      step_s: mean of a synchronous step, by the same.
      saturation: workers that keep the parameter servers busy, by [ps, share]; may be infinite.
    """

    setup: TrainingSetup
    workers: tuple[int, ...]
    ps: tuple[int, ...]
    shares: tuple[float, ...]
    spares: tuple[int, ...]
    alone: Curves
    together: Curves
    step_s: Curves
    saturation: Curves

    @property
    def chosen(self) -> tuple[int, int]:
        """Return the positions of the setup's own parameter servers and stragglers."""
        return self.ps.index(self.setup.ps), self.shares.index(self.setup.straggle_share)


def scaling_grid(
    setup: TrainingSetup,
    least: int = 1,
    most: int = 100,
    spare: int = MOST_SPARE,
    seed: int = 0,
) -> ScalingGrid:
    """Return curves around a setup; those of synchronous training all see the same chance.

    Args:
      setup: its `ps` and `straggle_share` are among what can be chosen; its `workers` and `spare`
        are not used.
      least: number of workers.
      most: number of workers.
      spare: replicas at most.
      seed: of the random numbers; the same one gives the same result.

    Raises:
      InvalidArgumentError: a number is out of its range.

    Example:
      >>> grid = scaling_grid(TrainingSetup(ps_work_s=0.1), most=4, spare=0)
      >>> grid.workers, grid.ps, grid.together.shape
      ((1, 2, 3, 4), (1, 2, 4), (3, 4, 1, 4))
    """
    factor = setup.straggle_factor if setup.straggle_share else FACTOR
    setup = replace(setup, workers=1, spare=0, straggle_factor=factor)
    servers = sorted({max(round(setup.ps * times), 1) for times in _SERVERS})
    shares = sorted({*SHARES, setup.straggle_share})
    workers = spread_over(least, most, POINTS)
    settings = [
        replace(setup, ps=ps, straggle_share=share) for ps, share in product(servers, shares)
    ]
    shape = (len(servers), len(shares))
    rate, step = _in_step(settings, workers, range(spare + 1), seed)
    return ScalingGrid(
        setup,
        tuple(workers),
        tuple(servers),
        tuple(shares),
        tuple(range(spare + 1)),
        _each_alone(settings, workers, seed).reshape(*shape, -1),
        rate.reshape(*shape, spare + 1, -1),
        step.reshape(*shape, spare + 1, -1),
        np.asarray([saturation(each) for each in settings]).reshape(shape),
    )


def _in_step(
    settings: Sequence[TrainingSetup], workers: Sequence[int], spares: Sequence[int], seed: int
) -> tuple[Curves, Curves]:
    """Return gradients a second and seconds a step, by [setting, spare, workers]."""
    rate, step = np.empty((2, len(settings), len(spares), len(workers)))
    for (i, spare), (k, count) in product(enumerate(spares), enumerate(workers)):
        here = [replace(each, workers=count + spare, spare=spare) for each in settings]
        steps = STEPS_OF_FEW if count <= FEW else STEPS
        for n, run in enumerate(synchronous_runs(here, np.random.default_rng(seed), steps)):
            rate[n, i, k], step[n, i, k] = run.gradients_per_s, run.step_s.mean()
    return rate, step


def _each_alone(settings: Sequence[TrainingSetup], workers: Sequence[int], seed: int) -> Curves:
    """Return gradients a second, by [setting, workers]."""
    found = np.empty((len(settings), len(workers)))
    for (n, setting), (k, count) in product(enumerate(settings), enumerate(workers)):
        updates = UPDATES + UPDATES_OF_WORKER * count
        rng = np.random.default_rng(seed)
        found[n, k] = asynchronous(replace(setting, workers=count), rng, updates).gradients_per_s
    return found
