"""Sliders over simulated curves of throughput, in a notebook.

The browser has all curves from the beginning and draws them alone, as a report's does: a kernel
that is busy is not needed. It tells what is chosen; in the end a picture of that stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self
from weakref import ref

from tfdist.jupyter.bundles import Bundle, picture_bundle, sentence_bundle
from tfdist.jupyter.live import Live, Way, way_of
from tfdist.jupyter.settings import live_mode, style_in_use
from tfdist.plots.scaling.explorable import explorable_payload
from tfdist.plots.scaling.figure import scaling_figure
from tfdist.plots.scaling.text import scaling_sentence
from tfdist.simulation.scaling import Scaling, scaling, spread_over
from tfdist.simulation.scaling_grid import ScalingGrid

if TYPE_CHECKING:
    from tfdist.jupyter.widgets.explorer_widget import ExplorerWidget


class ScalingExplorer:
    """Curves to explore.

    Args:
      grid: of throughput.
      batch: examples of a gradient; with it, throughput is told in examples.
      beside: what a notebook keeps that is saved while the sliders are open; by default a picture
        of what they begin with.
    """

    def __init__(self, grid: ScalingGrid, batch: int = 0, beside: Sequence[Bundle] = ()) -> None:
        self.grid, self._batch, self._beside = grid, batch, beside
        self._live: Live | None = None
        self._widget: ExplorerWidget | None = None
        self._choice: Mapping[str, int] = {}

    @property
    def choice(self) -> dict[str, float]:
        """Return what is chosen, as far as the browser has told it."""
        told = self._widget.choice if self._widget is not None else self._choice
        at = {**explorable_payload(self.grid)["chosen"], **told}
        grid = self.grid
        return {
            "workers": grid.workers[at["workers"]],
            "ps": grid.ps[at["ps"]],
            "spare": grid.spares[at["spare"]],
            "straggle_share": grid.shares[at["share"]],
        }

    def scaling(self) -> Scaling:
        """Return how training scales as chosen: simulated anew, with more points and replicas."""
        chosen = self.choice
        setup = replace(
            self.grid.setup, ps=int(chosen["ps"]), straggle_share=chosen["straggle_share"]
        )
        workers = spread_over(self.grid.workers[0], int(chosen["workers"]))
        return scaling(setup, workers, True, len(self.grid.spares) - 1)

    def show(self) -> Self:
        """Display it in the cell that runs; another one that is open stands still then."""
        global _shown
        if self._live is not None:
            return self
        last = _shown() if _shown else None
        if last is not None:
            last.freeze()
        _shown = ref(self)
        way = way_of(live_mode())
        beside = lambda: self._beside or self._drawn()  # noqa: E731
        self._live = Live(self._still, way, repr(self)[1:-1], beside=beside)
        self._live.show(self._new_widget() if way is Way.WIDGET else None)
        if way is Way.LINE:  # nothing moves in words
            self.freeze()
        return self

    def freeze(self) -> None:
        """Put a picture of what is chosen in the place of the sliders."""
        if self._live is not None:
            self._live.freeze()

    def __repr__(self) -> str:
        return f"<ScalingExplorer: 1 to {self.grid.workers[-1]:,} workers>"

    def _new_widget(self) -> ExplorerWidget:
        from tfdist.jupyter.widgets.explorer_widget import (
            ExplorerWidget,  # ipywidgets takes a while
        )

        curves = explorable_payload(self.grid, self._batch)
        self._widget = ExplorerWidget(curves, repr(self)[1:-1], self.freeze)
        return self._widget

    def _still(self) -> Sequence[Bundle]:
        if self._widget is not None:
            self._choice, self._widget = dict(self._widget.choice), None
        return self._drawn()

    def _drawn(self) -> Sequence[Bundle]:
        found, style = self.scaling(), style_in_use()
        sentence = scaling_sentence(found, self._batch)
        if not style.pictures:
            return [sentence_bundle(sentence)]
        return [picture_bundle(lambda: scaling_figure(found, self._batch), sentence, style)]


_shown: ref[ScalingExplorer] | None = None  # last
