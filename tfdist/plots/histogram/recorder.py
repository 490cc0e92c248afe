"""Histograms over steps: a row for each step, drawn as ridges one before the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdist.plots.histogram.data import (
    Histogram,
    histogram_of,
    histogram_sentence,
    number_text,
    share_text,
)
from tfdist.plots.histogram.figure import histogram_figure, ridges_figure
from tfdist.plots.shared.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_STEPS = 5  # of a tensor, in a table


class HistogramRecorder:
    """Keeps histograms of the same tensors at several steps.

    Example:
      >>> from tfdist.plots.histogram.recorder import HistogramRecorder
      >>> recorder = HistogramRecorder()
      >>> for step in (0, 1, 2):
      ...     recorder.add({"weights": [0.0, 1.0 * step]})
      >>> recorder
      <HistogramRecorder of 1 tensor at 3 steps, 0 to 2>
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[Histogram]]] = []

    def add(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Add a row of histograms.

        Args:
          values: arrays by name.
          step: by default one more than the last.

        Raises:
          ValueError: values are no numbers.
        """
        self.add_histograms([histogram_of(name, array) for name, array in values.items()], step)

    def add_histograms(self, histograms: Sequence[Histogram], step: int | None = None) -> None:
        """Add a row of histograms that are made already; one of the same step is replaced."""
        number = self.next_step() if step is None else step
        self.rows = [row for row in self.rows if row[0] != number]
        self.rows.append((number, list(histograms)))
        self.rows.sort(key=lambda row: row[0])

    def next_step(self) -> int:
        """Return one more than the last step."""
        return self.rows[-1][0] + 1 if self.rows else 0

    def figure(self, digits: int = 3) -> Figure:
        """Return ridges over steps, or the panels of the only step, as a matplotlib `Figure`."""
        if len(self.rows) == 1:
            return histogram_figure(self.rows[0][1], digits)
        return ridges_figure(self.rows, digits)

    def table(self, digits: int = 4, most: int = 200) -> Table:
        """Return a row for each tensor and step; of many steps, some from the first to the last.

        Args:
          digits: of numbers.
          most: rows; a note says how many were left out.
        """
        header = ("name", "what", "step", "mean", "std", "zeros", "not finite", "spread")
        picked = set(np.linspace(0, len(self.rows) - 1, MOST_STEPS).round().astype(int))
        rows = [row for i, row in enumerate(self.rows) if i in picked]
        place = {name: i for i, name in enumerate(self._names())}
        found = [(each.name, each.kind, step, each) for step, row in rows for each in row]
        found.sort(key=lambda each: place[each[0], each[1]])
        cells = tuple(
            (
                name,
                kind,
                f"{step:,}",
                number_text(each.mean, digits),
                number_text(each.std, digits),
                share_text(each.zeros, each.size),
                each.warnings() or "-",
                each.marks(),
            )
            for name, kind, step, each in found[:most]
        )
        left_out, hidden = len(found) - most, len(self.rows) - len(rows)
        notes = [f"... and {left_out} more rows"] if left_out > 0 else []
        if hidden > 0:
            notes.append(f"{hidden} steps in between are not shown")
        note = "; ".join(notes)
        return Table(header, cells, frozenset({2, 3, 4, 5}), note)

    @property
    def sentence(self) -> str:
        """Return what there is, in one sentence."""
        if not self.rows:
            return "Histograms of nothing yet."
        last = histogram_sentence(self.rows[-1][1])
        if len(self.rows) == 1:
            return last
        steps = f"at {len(self.rows)} steps, {self.rows[0][0]:,} to {self.rows[-1][0]:,}"
        return f"{last.rstrip('.')} {steps}."

    def _names(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((each.name, each.kind) for _, row in self.rows for each in row))

    def __repr__(self) -> str:
        count = len(self._names())
        named = f"{count} tensor{'s' * (count != 1)}"
        if not self.rows:
            return "<HistogramRecorder of nothing yet>"
        steps = len(self.rows)
        span = f", {self.rows[0][0]} to {self.rows[-1][0]}" if steps > 1 else ""
        return f"<HistogramRecorder of {named} at {steps} step{'s' * (steps != 1)}{span}>"
