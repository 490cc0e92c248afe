"""Curves to explore as JSON has them, for sliders that run elsewhere."""

from __future__ import annotations

from bisect import bisect_right
from math import isfinite
from typing import TypeAlias

from tfdist.plots.player.payload import Json
from tfdist.simulation.scaling_grid import Curves, ScalingGrid

Numbers: TypeAlias = "float | list[Numbers] | None"
DIGITS = 4
MIDDLE = 0.6  # of the axis: where the mark for workers stands at first


def explorable_payload(grid: ScalingGrid, batch: int = 0) -> Json:
    """Return everything that the sliders need, once.

    Args:
      grid: of throughput.
      batch: examples of a gradient; with it, throughput is told in examples.
    """
    scale = batch or 1
    ps, share = grid.chosen
    middle = bisect_right(grid.workers, MIDDLE * grid.workers[-1]) - 1
    return {
        "unit": "examples/s" if batch else "gradients/s",
        "workers": grid.workers,
        "ps": grid.ps,
        "shares": grid.shares,
        "spares": grid.spares,
        "factor": grid.setup.straggle_factor,
        "alone": _short(grid.alone * scale),
        "together": _short(grid.together * scale),
        "steps": _short(grid.step_s),
        "saturation": _short(grid.saturation),
        "chosen": {"ps": ps, "share": share, "spare": 0, "workers": max(middle, 0)},
    }


def _short(values: Curves) -> Numbers:
    """Return nested lists of numbers with few digits; None where one is infinite."""
    if values.ndim:
        return [_short(each) for each in values]
    return float(f"{float(values):.{DIGITS}g}") if isfinite(values) else None
