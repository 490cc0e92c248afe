"""Curves over numbers of workers: throughput, then what it costs, by the way of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdist.plots.shared.palette import OKABE_ITO, new_panels, tint
from tfdist.plots.shared.themes import faint, ink
from tfdist.simulation.scaling import Scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 3.1  # inches
CURVE, BARS, LIMIT = OKABE_ITO[0], OKABE_ITO[2], OKABE_ITO[5]
BINS = 30


def scaling_figure(found: Scaling, batch: int = 0) -> Figure:
    """Return a matplotlib `Figure` with three panels.

    Throughput beside what would be linear; then, of asynchronous training, how stale gradients
    are and what a gradient costs; of synchronous training, how long a step takes and what spare
    replicas are worth (what a gradient costs, if there are none).

    Args:
      found: points over numbers of workers.
      batch: examples of a gradient; with it, throughput is drawn in examples.
    """
    figure, panels = new_panels(HEIGHT, 3)
    _throughput(panels[0], found, batch)
    if not found.is_synchronous:
        _staleness(panels[1], found)
    else:
        _steps(panels[1], found)
    if found.spares:
        _spares(panels[2], found)
    else:
        _costs(panels[2], found)
    return figure


def _throughput(axes: Axes, found: Scaling, batch: int) -> None:
    scale = batch or 1
    workers = [point.workers for point in found.points]
    rates = [point.gradients_per_s * scale for point in found.points]
    _curve(axes, workers, rates, "examples/s" if batch else "gradients/s")
    top = max(rates) * 1.15
    alone = found.points[0].gradients_per_s / found.points[0].speedup * scale
    end = min(workers[-1], top / alone)
    axes.plot([0, end], [0, alone * end], linestyle=":", color=faint(), linewidth=1.2)
    axes.set_ylim(0, top)
    axes.set_xlim(0, workers[-1] * 1.02)
    if found.saturation < workers[-1] and not found.is_synchronous:
        axes.axvline(found.saturation, color=LIMIT, linewidth=1.2, linestyle="--")
        text = f" servers busy\n from {max(found.saturation, 1):,.0f} on"
        axes.text(found.saturation, top * 0.04, text, fontsize=7.5,
                  color=ink(), va="bottom", ha="left")  # fmt: skip


def _staleness(axes: Axes, found: Scaling) -> None:
    last = found.points[-1].workers
    low, high = np.quantile(found.staleness, (0.005, 0.995)).astype(int)
    edges = np.unique(np.linspace(low, high + 1, min(high + 1 - low, BINS) + 1).round())
    counts, _ = np.histogram(found.staleness, edges)
    shares = counts / len(found.staleness) * 100
    axes.bar(edges[:-1], shares, np.diff(edges), align="edge", color=tint(BARS, 0.5),
             edgecolor=BARS, linewidth=0.8)  # fmt: skip
    mean = float(found.staleness.mean())
    axes.axvline(mean, color=ink(), linewidth=1.0, linestyle=":")
    axes.set_ylim(0, float(shares.max()) * 1.2)
    axes.text(mean, float(shares.max()) * 1.18, f" mean {mean:.1f}", fontsize=7.5, color=ink(),
              va="top", ha="left")  # fmt: skip
    _label(axes, f"updates missed, {last:,} workers", "% of the gradients")


def _steps(axes: Axes, found: Scaling) -> None:
    workers = [point.workers for point in found.points]
    medians = [point.step_s for point in found.points]
    high = [point.slow_step_s for point in found.points]
    axes.fill_between(workers, medians, high, color=tint(CURVE, 0.25), linewidth=0)
    _curve(axes, workers, medians, "seconds a step (median, 90 %)")
    axes.set_ylim(0, max(high) * 1.1)
    axes.set_xlim(0, workers[-1] * 1.02)


def _spares(axes: Axes, found: Scaling) -> None:
    spare = np.asarray([each.spare for each in found.spares])
    for values, offset, colour, text in (
        ([each.faster * 100 for each in found.spares], -0.2, CURVE, "faster"),
        ([each.worth * 100 for each in found.spares], 0.2, BARS, "for its machines"),
    ):
        axes.bar(spare + offset, values, 0.38, color=tint(colour, 0.5), edgecolor=colour,
                 linewidth=0.8, label=text)  # fmt: skip
    axes.axhline(0, color=faint(), linewidth=0.8)
    axes.set_xticks(spare)
    axes.legend(fontsize=7.5, frameon=False, labelcolor=ink(), loc="upper left")
    axes.margins(y=0.25)
    _label(axes, f"spare replicas beside {found.points[-1].workers:,}", "%")


def _costs(axes: Axes, found: Scaling) -> None:
    workers = [point.workers for point in found.points]
    costs = [point.machine_s for point in found.points]
    _curve(axes, workers, costs, "machine seconds a gradient")
    axes.set_ylim(0, max(costs) * 1.1)
    axes.set_xlim(0, workers[-1] * 1.02)


def _curve(axes: Axes, xs: Sequence[float], ys: Sequence[float], label: str) -> None:
    marker = "." if len(xs) <= BINS else ""
    axes.plot(xs, ys, color=CURVE, linewidth=1.8, marker=marker, markersize=5)
    _label(axes, "workers", label)


def _label(axes: Axes, below: str, above: str) -> None:
    axes.set_xlabel(below, fontsize=8, color=ink())
    axes.set_title(above, fontsize=8.5, color=ink(), loc="left")
