"""Training by workers and parameter servers, simulated: synchronous or asynchronous.

A worker reads the variables, computes a gradient, and sends it; a parameter server's network
card is two first-in first-out queues, one out (variables) and one in (gradients). The shards are
alike, so one stands for all: it serves a worker in bytes / shards / bandwidth plus its own work.

The model is that of Abadi et al., "TensorFlow: a system for large-scale machine learning" (OSDI
2016, section 4.4 on synchronous replicas with backups, section 6.2 on the null step) and of Chen
et al., "Revisiting distributed synchronous SGD" (2016). What it leaves out: the network between
the cards, loss of packets when many send to one, and processors that tasks share.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfdist.errors import InvalidArgumentError

Seconds = NDArray[np.float64]

WARM_UP = 10  # the first tenth of a run is left out: queues fill


@dataclass(frozen=True)
class TrainingSetup:
    """A cluster and what one worker does in a step; seconds and bytes.

    Attributes:
      workers: how many compute gradients.
      spare: of them, so many gradients of a synchronous step are not waited for.
      ps: parameter servers; the variables are spread evenly over them.
      compute_s: median of computing one gradient.
      sigma: standard deviation of the logarithm of that time.
      samples_s: measured times to draw from, in place of `compute_s` and `sigma`.
      straggle_share: probability that a gradient takes `straggle_factor` times as long.
      straggle_factor: see there.
      slow: (worker, factor) of workers that always take so many times as long.
      pull_bytes: what a worker reads in a step, from all parameter servers together.
      push_bytes: what it sends back.
      ps_bandwidth: bytes a second of one parameter server's card, each way.
      worker_bandwidth: of one worker's card, each way.
      latency_s: of a step's messages, there and back together.
      ps_work_s: a parameter server's own time for one worker's step.
      transfer_start_s: once a step, if there are bytes to transfer.
      apply_s: once an update.
      overlap: part of the transfers that hides behind computing, 0 to 1.

    Raises:
      InvalidArgumentError: a number is out of its range.

    Example:
      >>> TrainingSetup(workers=50, spare=2).needed
      48
    """

    workers: int = 1
    spare: int = 0
    ps: int = 1
    compute_s: float = 1.0
    sigma: float = 0.0
    samples_s: tuple[float, ...] = ()
    straggle_share: float = 0.0
    straggle_factor: float = 1.0
    slow: tuple[tuple[int, float], ...] = ()
    pull_bytes: float = 0.0
    push_bytes: float = 0.0
    ps_bandwidth: float = 1e12
    worker_bandwidth: float = 1e12
    latency_s: float = 0.0
    ps_work_s: float = 0.0
    transfer_start_s: float = 0.0
    apply_s: float = 0.0
    overlap: float = 0.0

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                limits = f"{least:g} to {most:g}" if most < np.inf else f"{least:g} or more"
                raise InvalidArgumentError(f"{name} is {value!r}, which is not {limits}")
        if self.spare >= self.workers:
            raise InvalidArgumentError(
                f"{self.spare} of {self.workers} workers are spare; one at least is waited for"
            )

    @property
    def needed(self) -> int:
        """Return how many gradients make a synchronous update."""
        return self.workers - self.spare

    @property
    def mean_compute_s(self) -> float:
        """Return the mean time of computing one gradient, stragglers included."""
        base = self.compute_s * float(np.exp(self.sigma**2 / 2))
        if self.samples_s:
            base = float(np.mean(self.samples_s))
        return base * (1 + self.straggle_share * (self.straggle_factor - 1))

    @property
    def out_s(self) -> float:
        """Return how long one parameter server's card is busy with a worker's variables."""
        return self.pull_bytes / self.ps / self.ps_bandwidth + self.ps_work_s / 2

    @property
    def in_s(self) -> float:
        """Return how long it is busy with a worker's gradients."""
        return self.push_bytes / self.ps / self.ps_bandwidth + self.ps_work_s / 2

    @property
    def transfers_s(self) -> float:
        """Return how long variables and gradients of one worker take if no other is served."""
        pull = max(self.out_s, self.pull_bytes / self.worker_bandwidth)
        return pull + max(self.in_s, self.push_bytes / self.worker_bandwidth)

    @property
    def start_s(self) -> float:
        """Return what a step spends before bytes flow."""
        return self.transfer_start_s if self.pull_bytes + self.push_bytes else 0.0


_ANY = (0.0, np.inf)
_RANGES = {
    "workers": (1, np.inf),
    "spare": _ANY,
    "ps": (1, np.inf),
    "compute_s": _ANY,
    "sigma": _ANY,
    "straggle_share": (0.0, 1.0),
    "straggle_factor": _ANY,
    "pull_bytes": _ANY,
    "push_bytes": _ANY,
    "ps_bandwidth": (1.0, np.inf),
    "worker_bandwidth": (1.0, np.inf),
    "latency_s": _ANY,
    "ps_work_s": _ANY,
    "transfer_start_s": _ANY,
    "apply_s": _ANY,
    "overlap": (0.0, 1.0),
}


_ONE_SERVER: dict[str, Any] = {"ps": 1, "straggle_share": 0.0, "straggle_factor": 1.0}


@dataclass(frozen=True)
class SynchronousRun:
    """What synchronous steps came to.

    Attributes:
      step_s: seconds of each step.
      dropped: gradients that came too late, a step.
      needed: gradients that made each update.
    """

    step_s: Seconds
    dropped: float
    needed: int

    @property
    def gradients_per_s(self) -> float:
        """Return how many gradients were used, a second."""
        return self.needed / float(self.step_s.mean())


@dataclass(frozen=True)
class AsynchronousRun:
    """What asynchronous updates came to.

    Attributes:
      gradients_per_s: updates a second, of one gradient each.
      staleness: for each update, how many others came between its read and itself.
      step_s: seconds of each worker's step.
    """

    gradients_per_s: float
    staleness: NDArray[np.int64]
    step_s: Seconds


def synchronous(setup: TrainingSetup, rng: np.random.Generator, steps: int = 400) -> SynchronousRun:
    """Return what `steps` synchronous steps come to, without the first tenth.

    An update is made of the first `setup.needed` gradients. One that comes later is dropped, and
    its worker begins the next step late.

    Example:
      >>> run = synchronous(TrainingSetup(workers=4, compute_s=0.5), np.random.default_rng(0))
      >>> run.gradients_per_s, run.dropped
      (8.0, 0.0)
    """
    return synchronous_runs([setup], rng, steps)[0]


def synchronous_runs(
    setups: Sequence[TrainingSetup], rng: np.random.Generator, steps: int = 400
) -> list[SynchronousRun]:
    """Return what steps of several setups come to, all with the same chance; see `synchronous`.

    Many at once take little longer than one, and what differs between them is no accident.

    Args:
      setups: that differ in parameter servers and stragglers only.
      rng: of the random numbers.
      steps: of each.

    Raises:
      InvalidArgumentError: they differ in something else.

    Example:
      >>> one, two = [TrainingSetup(workers=4, ps=ps, ps_work_s=0.1) for ps in (1, 2)]
      >>> [run.needed for run in synchronous_runs([one, two], np.random.default_rng(0))]
      [4, 4]
    """
    first = setups[0]
    if len({replace(each, **_ONE_SERVER) for each in setups}) > 1:
        raise InvalidArgumentError(
            "setups that are simulated at once differ in parameter servers and stragglers only"
        )
    columns = [[each.out_s, each.in_s] for each in setups]
    out_s, in_s = np.asarray(columns).T[:, :, None]
    visible, half = 1 - first.overlap, first.latency_s / 2
    free, now = np.zeros((len(setups), first.workers)), np.zeros(len(setups))
    found, dropped = np.empty((steps, len(setups))), np.zeros(len(setups))
    for i in range(steps):
        begin = np.maximum(free, now[:, None])
        served = _served(begin, out_s, first.pull_bytes / first.worker_bandwidth, rng)
        got = begin + (served - begin) * visible
        ready = got + first.start_s + half + _computing(setups, rng, (first.workers,))
        served = _served(ready, in_s, first.push_bytes / first.worker_bandwidth, rng)
        there = ready + (served - ready) * visible + half
        update = np.partition(there, first.needed - 1)[:, first.needed - 1] + first.apply_s
        late = there > update[:, None]
        dropped += late.sum(axis=1)
        free = np.where(late, there, update[:, None])
        found[i], now = update - now, update
    kept = found[steps // WARM_UP :].T
    return [
        SynchronousRun(step_s, float(late) / steps, first.needed)
        for step_s, late in zip(kept, dropped, strict=True)
    ]


def asynchronous(
    setup: TrainingSetup, rng: np.random.Generator, updates: int = 4000
) -> AsynchronousRun:
    """Return what `updates` asynchronous updates come to, without the first tenth.

    Each worker reads, computes and applies on its own; `setup.spare` is not used.

    Example:
      >>> run = asynchronous(TrainingSetup(workers=4, sigma=0.1), np.random.default_rng(0))
      >>> int(run.staleness.mean().round())
      3
    """
    return _Asynchronous(setup, rng, updates).run()


def saturation(setup: TrainingSetup) -> float:
    """Return at how many workers a parameter server's card is busy all the time.

    More of them make training no faster. `inf` if the card costs no time at all.

    Example:
      >>> saturation(TrainingSetup(compute_s=0.9, push_bytes=1e8, ps_bandwidth=1e9))
      10.0
    """
    busiest = max(setup.out_s, setup.in_s)
    visible = setup.transfers_s * (1 - setup.overlap)
    alone = setup.mean_compute_s + setup.start_s + setup.latency_s + setup.apply_s + visible
    return alone / busiest if busiest else float("inf")


def _computing(
    setups: Sequence[TrainingSetup], rng: np.random.Generator, shape: tuple[int, ...]
) -> Seconds:
    """Return times of computing gradients, by setup; the last axis is the worker.

    The setups differ in stragglers at most, and see the same chance.
    """
    first = setups[0]
    if first.samples_s:
        times = rng.choice(np.asarray(first.samples_s, np.float64), size=shape)
    else:
        times = first.compute_s * np.exp(first.sigma * rng.standard_normal(shape))
    stragglers = [(each.straggle_share, each.straggle_factor) for each in setups]
    shares, factors = np.asarray(stragglers).T.reshape(2, -1, *(1 for _ in shape))
    if shares.any():
        found = np.where(rng.random(shape) < shares, times * factors, times)
    else:
        found = np.broadcast_to(times, (len(setups), *shape)).copy()
    for worker, factor in first.slow:
        if worker < shape[-1]:
            found[..., worker] *= factor
    return found


def _served(arrivals: Seconds, service: Seconds, least: float, rng: np.random.Generator) -> Seconds:
    """Return when each arrival has been served by the one queue of its row, first in, first out.

    Args:
      arrivals: in any order; those of one moment are served in a random order.
      service: seconds that each row's queue spends on each.
      least: seconds that each spends at its own end.
      rng: for the order.
    """
    chance = np.broadcast_to(rng.random(arrivals.shape[-1]), arrivals.shape)
    order = np.lexsort((chance, arrivals))
    places = np.arange(arrivals.shape[-1])
    waiting = np.take_along_axis(arrivals, order, -1) - places * service
    done = np.empty_like(arrivals)
    np.put_along_axis(
        done, order, np.maximum.accumulate(waiting, axis=-1) + (places + 1) * service, -1
    )
    return np.maximum(done, arrivals + least)


class _Asynchronous:
    """Asynchronous training, event by event: a worker reads, then sends, then has updated."""

    def __init__(self, setup: TrainingSetup, rng: np.random.Generator, updates: int) -> None:
        self._setup = setup
        self._updates = updates
        rounds = updates // setup.workers + 200
        self._computing = _computing([setup], rng, (rounds, setup.workers))[0]
        self._turns = [0] * setup.workers
        self._read_at = [0] * setup.workers
        self._began = [0.0] * setup.workers
        self._out_free = self._in_free = 0.0
        first = rng.random(setup.workers) * setup.mean_compute_s
        self._events = [(float(at), worker, self._read) for worker, at in enumerate(first)]
        self._staleness: list[int] = []
        self._step_s: list[float] = []

    def run(self) -> AsynchronousRun:
        """Return what the updates came to."""
        heapq.heapify(self._events)
        warm, warm_at, now = self._updates // WARM_UP, 0.0, 0.0
        while len(self._staleness) < self._updates:
            now, worker, event = heapq.heappop(self._events)
            event(now, worker)
            if len(self._staleness) == warm and not warm_at:
                warm_at = now
        rate = (self._updates - warm) / (now - warm_at) if now > warm_at else float("inf")
        kept = slice(warm, None)
        return AsynchronousRun(
            rate, np.asarray(self._staleness[kept]), np.asarray(self._step_s[kept])
        )

    def _read(self, now: float, worker: int) -> None:
        setup = self._setup
        self._out_free = max(self._out_free, now) + setup.out_s
        least = now + setup.pull_bytes / setup.worker_bandwidth
        got = now + (max(self._out_free, least) - now) * (1 - setup.overlap)
        self._read_at[worker] = len(self._staleness)
        self._began[worker] = now
        turn = self._turns[worker] % len(self._computing)
        self._turns[worker] += 1
        took = setup.start_s + setup.latency_s / 2 + float(self._computing[turn, worker])
        heapq.heappush(self._events, (got + took, worker, self._send))

    def _send(self, now: float, worker: int) -> None:
        setup = self._setup
        self._in_free = max(self._in_free, now) + setup.in_s
        least = now + setup.push_bytes / setup.worker_bandwidth
        there = now + (max(self._in_free, least) - now) * (1 - setup.overlap)
        there += setup.latency_s / 2 + setup.apply_s
        heapq.heappush(self._events, (there, worker, self._apply))

    def _apply(self, now: float, worker: int) -> None:
        self._staleness.append(len(self._staleness) - self._read_at[worker])
        self._step_s.append(now - self._began[worker])
        heapq.heappush(self._events, (now, worker, self._read))
