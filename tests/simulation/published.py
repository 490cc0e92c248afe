"""Published figures of training at scale, with the setup that is to reproduce each.

`fitted` says how many numbers of a setup were chosen so that the figures of its group agree:
those tell little. The others were held out.

Sources:
  OSDI'16: Abadi et al., "TensorFlow: a system for large-scale machine learning", figures 6 to 8,
    as texts about it quote them.
  TF 0.8: "Announcing TensorFlow 0.8: now with distributed computing support" (2016).
  Dean'16: talks by Jeff Dean on large-scale deep learning (2016).
  benchmarks: tensorflow.org/performance/benchmarks (2017), hosts with 8 GPUs and a 10 Gbit/s card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tfdist.simulation.scaling import spare_values
from tfdist.simulation.training import TrainingSetup, asynchronous, synchronous

MB = 1e6


@dataclass(frozen=True)
class Figure:
    """A published figure.

    Attributes:
      what: which one, with its unit.
      source: see the module.
      published: its value.
      simulated: returns ours.
      within: share of the value by which ours may differ.
      fitted: numbers of the setup that were chosen with this figure in sight.
      fails: why ours differs by more, or "".
    """

    what: str
    source: str
    published: float
    simulated: Callable[[], float]
    within: float
    fitted: int = 0
    fails: str = ""

    def error(self) -> float:
        """Return by which share ours differs."""
        return self.simulated() / self.published - 1


# Null steps: workers read variables from 16 parameter servers and compute nothing. Four numbers.
NULL = TrainingSetup(
    ps=16,
    compute_s=1e-9,
    ps_bandwidth=0.99e9,
    worker_bandwidth=0.99e9,
    latency_s=1.66e-3,
    ps_work_s=141e-6,
    transfer_start_s=41e-3,
)
# Inception-v3 on K40 cards, 17 parameter servers, batches of 32. Three numbers.
INCEPTION = TrainingSetup(
    ps=17,
    compute_s=1.30,
    sigma=0.226,
    pull_bytes=27.2e6 * 4,
    push_bytes=27.2e6 * 4,
    ps_bandwidth=0.99e9,
    worker_bandwidth=0.99e9,
    overlap=0.58,
)


def step_s(setup: TrainingSetup, steps: int = 400) -> float:
    """Return the median of a synchronous step, in seconds."""
    return float(np.median(synchronous(setup, np.random.default_rng(1), steps).step_s))


def null_ms(workers: int, size: float) -> Callable[[], float]:
    """Return what gives the milliseconds of a null step."""
    return lambda: step_s(replace(NULL, workers=workers, pull_bytes=size), 40) * 1e3


def inception_s(workers: int, spare: int = 0) -> Callable[[], float]:
    """Return what gives the seconds of an Inception-v3 step."""
    return lambda: step_s(replace(INCEPTION, workers=workers, spare=spare), 600)


def speedup(workers: int) -> Callable[[], float]:
    """Return what gives how many times as many images workers handle as one."""
    return lambda: workers * inception_s(1)() / inception_s(workers)()


def best_worth() -> float:
    """Return the best normalized speed-up of spare replicas beside 50 workers, in percent."""
    points = spare_values(replace(INCEPTION, workers=50), 5, seed=1)
    return max(point.worth for point in points) * 100


def in_step_over_alone() -> float:
    """Return how much longer a synchronous step of 50 workers is than an asynchronous one."""
    setup = replace(INCEPTION, workers=50)
    alone = asynchronous(setup, np.random.default_rng(1), 4000)
    return step_s(setup, 600) / float(np.median(alone.step_s))


def images_per_s(size: float, batch: int, of_8: float, gpus: int, ps: int) -> Callable[[], float]:
    """Return what gives the images a second of hosts with 8 GPUs each, one's figure given."""
    hosts = gpus // 8
    crossing = size * (hosts - 1) / hosts  # what a host keeps itself does not cross its card
    setup = TrainingSetup(
        workers=hosts,
        ps=ps,
        compute_s=8 * batch / of_8,
        sigma=0.01,
        pull_bytes=crossing,
        push_bytes=crossing,
        ps_bandwidth=1.25e9,
        worker_bandwidth=1.25e9,
    )
    return lambda: gpus * batch / step_s(setup, 200)


def mean_staleness() -> float:
    """Return the mean staleness of 20 replicas."""
    run = asynchronous(TrainingSetup(workers=20, sigma=0.1), np.random.default_rng(1), 8000)
    return float(run.staleness.mean())


FIGURES = [
    Figure("fig. 6, scalar, 1 worker, ms", "OSDI'16", 1.8, null_ms(1, 0), 0.02, fitted=4),
    Figure("fig. 6, scalar, 100 workers, ms", "OSDI'16", 8.8, null_ms(100, 0), 0.02, fitted=4),
    Figure("fig. 6, 100 MB, 1 worker, ms", "OSDI'16", 147, null_ms(1, 100 * MB), 0.05, fitted=4),
    Figure("fig. 6, 100 MB, 100 workers", "OSDI'16", 613, null_ms(100, 100 * MB), 0.13, fitted=4),
    Figure("fig. 6, 1 GB, 1 worker, ms", "OSDI'16", 1010, null_ms(1, 1000 * MB), 0.06, fitted=4),
    Figure("fig. 6, 1 GB, 100 workers", "OSDI'16", 7160, null_ms(100, 1000 * MB), 0.13, fitted=4),
    Figure("fig. 8, 50 workers, s", "OSDI'16", 2.26, inception_s(50), 0.03, fitted=3),
    Figure("fig. 8, 50 and 3 spare, s", "OSDI'16", 1.948, inception_s(53, 3), 0.03, fitted=3),
    Figure("fig. 8, 50 and 4 spare, s", "OSDI'16", 1.93, inception_s(54, 4), 0.03, fitted=3),
    Figure(
        "fig. 7, 200 workers, images/s",
        "OSDI'16",
        2300,
        lambda: 200 * 32 / inception_s(200)(),
        0.03,
        fitted=3,
    ),
    Figure("fig. 8, best normalized speed-up, %", "OSDI'16", 9.5, best_worth, 0.1),
    Figure(
        "fig. 7, synchronous over asynchronous step",
        "OSDI'16",
        1.10,
        in_step_over_alone,
        0.1,
        fails="one spread for all replicas, fitted to the slowest of 50, overstates what waiting "
        "for all of them costs",
    ),
    Figure("Inception-v3, 50 GPUs, times one", "Dean'16", 32, speedup(50), 0.08),
    Figure("Inception-v3, 100 GPUs, times one", "TF 0.8", 56, speedup(100), 0.05),
    Figure("mean staleness of 20 replicas", "Dean'16", 19, mean_staleness, 0.01),
    *(
        Figure(
            f"{model}, {gpus} GPUs, images/s",
            "benchmarks",
            published,
            images_per_s(parameters * 4, batch, of_8, gpus, most_ps if gpus == 64 else gpus // 8),
            0.14,
        )
        for model, parameters, batch, of_8, most_ps, row in [
            ("Inception-v3", 23.8e6, 64, 229, 6, {16: 459, 32: 902, 64: 1783}),
            ("ResNet-50", 25.6e6, 64, 378, 8, {16: 751, 32: 1388, 64: 2744}),
            ("ResNet-152", 60.2e6, 32, 146, 4, {16: 291, 32: 565, 64: 981}),
        ]
        for gpus, published in row.items()
    ),
]


def main() -> None:
    """Print all figures beside ours."""
    for each in FIGURES:
        found = each.simulated()
        note = f"{each.fitted} numbers fitted" if each.fitted else "held out"
        print(f"{each.source:10}  {each.what:44} {each.published:8.4g} {found:8.4g} "
              f"{found / each.published - 1:+6.1%}  {note}  {each.fails}")  # fmt: skip


if __name__ == "__main__":
    main()
