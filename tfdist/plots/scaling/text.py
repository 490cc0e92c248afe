"""How training scales, in words: a sentence and two tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from tfdist.plots.shared.tables import Table, bytes_text, duration_text
from tfdist.simulation.scaling import Scaling, ScalingPoint
from tfdist.simulation.training import TrainingSetup

MOST_ROWS = 12
SECOND = 1e6  # microseconds
ENOUGH = 0.97  # share of the best throughput that is as good as it


def scaling_sentence(found: Scaling, batch: int = 0) -> str:
    """Return how far training scales, in one or two sentences.

    Args:
      found: points over numbers of workers.
      batch: examples of a gradient; with it, throughput is told in examples.
    """
    best = found.best
    enough = next(p for p in found.points if p.gradients_per_s >= ENOUGH * best.gradients_per_s)
    way = "in step" if found.is_synchronous else "each on its own"
    told = (
        f"{enough.workers:,} workers, {way}, make {rate_text(enough, batch)}, "
        f"{enough.speedup:.3g} times as many as one."
    )
    limit = _waiting_sentence if found.is_synchronous else _limit_sentence
    return f"{told} {limit(found)}"


def _waiting_sentence(found: Scaling) -> str:
    first, last = found.points[0], found.points[-1]
    return (
        f"A step takes {duration_text(last.step_s * SECOND)} with {last.workers:,} workers and "
        f"{duration_text(first.step_s * SECOND)} with {first.workers:,}: all wait for the slowest "
        "and for the servers."
    )


def _limit_sentence(found: Scaling) -> str:
    if isinf(found.saturation):
        return "The parameter servers cost no time in this setup."
    count = found.setup.ps
    servers = "parameter server is" if count == 1 else f"{count:,} parameter servers are"
    return f"The {servers} busy all the time from {max(found.saturation, 1):,.0f} workers on."


def setup_sentence(setup: TrainingSetup, origin: str = "") -> str:
    """Return what one worker does in a step.

    Args:
      setup: of one worker.
      origin: where the numbers are from, or "".
    """
    parts = [f"a gradient takes {duration_text(setup.mean_compute_s * SECOND)} on average"]
    if setup.pull_bytes or setup.push_bytes:
        moved = f"{bytes_text(setup.pull_bytes)} come and {bytes_text(setup.push_bytes)} go"
        slow = min(setup.ps_bandwidth, setup.worker_bandwidth)
        is_limited = slow < TrainingSetup.ps_bandwidth
        parts.append(moved + (f" at {bytes_text(slow)}/s" if is_limited else ""))
    if setup.ps_work_s:
        parts.append(f"each parameter server works {duration_text(setup.ps_work_s * SECOND)}")
    if setup.latency_s:
        parts.append(f"{duration_text(setup.latency_s * SECOND)} of latency")
    told = "; ".join(parts)
    return f"In a step of one worker{origin}: {told}."


def scaling_table(found: Scaling, batch: int = 0, price: float = 0.0) -> Table:
    """Return a row for each number of workers, some of them if there are many.

    Args:
      found: points over numbers of workers.
      batch: examples of a gradient, or 0.
      price: of a machine for an hour; with `batch`, the cost of a million examples is told.
    """
    late = () if found.is_synchronous else ("staleness",)
    unit = "examples/s" if batch else "gradients/s"
    cost = "cost of 1M" if batch and price else "machine time"
    header = ("workers", unit, "speed-up", "step", "90 % below", *late, cost)
    cells = tuple(
        (
            f"{point.workers:,}",
            _number(point.gradients_per_s * (batch or 1)),
            f"{point.speedup:.3g}",
            duration_text(point.step_s * SECOND),
            duration_text(point.slow_step_s * SECOND),
            *(() if found.is_synchronous else (f"{point.staleness:.1f}",)),
            _cost(point, batch, price),
        )
        for point in _some(found.points)
    )
    note = "machine time: seconds of workers and parameter servers for one gradient"
    return Table(header, cells, frozenset(range(len(header))), "" if batch and price else note)


def spares_table(found: Scaling) -> Table:
    """Return a row for each number of spare replicas."""
    header = ("spare", "step", "faster", "for its machines")
    cells = tuple(
        (
            str(each.spare),
            duration_text(each.step_s * SECOND),
            f"{each.faster:+.1%}",
            f"{each.worth:+.1%}",
        )
        for each in found.spares
    )
    return Table(header, cells, frozenset(range(4)))


def spares_sentence(found: Scaling) -> str:
    """Return which number of spare replicas pays most."""
    best = max(found.spares, key=lambda each: each.worth)
    workers = found.points[-1].workers
    if not best.spare:
        return f"Beside {workers:,} workers no spare replica pays for its machine."
    return (
        f"Beside {workers:,} workers {best.spare} spare replica{'s' * (best.spare != 1)} "
        f"pay{'s' * (best.spare == 1)} most: {best.worth:.1%} more for the same machines."
    )


def rate_text(point: ScalingPoint, batch: int = 0) -> str:
    """Return a throughput: "910 gradients/s", "29,000 examples/s"."""
    unit = "examples/s" if batch else "gradients/s"
    return f"{_number(point.gradients_per_s * (batch or 1))} {unit}"


def _some(points: Sequence[ScalingPoint]) -> list[ScalingPoint]:
    """Return at most so many points as a table has rows, the first and the last among them."""
    if len(points) <= MOST_ROWS:
        return list(points)
    last = len(points) - 1
    return [points[round(i * last / (MOST_ROWS - 1))] for i in range(MOST_ROWS)]


def _cost(point: ScalingPoint, batch: int, price: float) -> str:
    if batch and price:
        return f"{point.machine_s / 3600 * price / batch * 1e6:,.2f}"
    return duration_text(point.machine_s * SECOND)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
