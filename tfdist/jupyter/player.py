"""The step player: a traced step, scrubbed through over its placed graph.

The browser has the whole scene from the beginning and plays it alone: a kernel that is busy is not
needed. It tells which moment it shows; when the player ends, a film strip takes its place in the
notebook, and before it a picture of that moment (`live`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

from tfdist.jupyter.bundles import Bundle, Style, picture_bundle, picture_html
from tfdist.jupyter.html import details
from tfdist.jupyter.live import Live, Way, way_of
from tfdist.jupyter.settings import live_mode, style_in_use
from tfdist.plots.player.payload import payload
from tfdist.plots.player.scene import Scene, caption, scene, telling_moments
from tfdist.plots.player.stills import moment_figure, strip_figure
from tfdist.plots.shared.themes import THEMES, drawn
from tfdist.plots.text import timeline_sentence
from tfdist.tracing.steps.node_row import NodeRow
from tfdist.tracing.steps.rows import rows

if TYPE_CHECKING:
    from tfdist.plots.shared.blocks import Placed
    from tfdist.plots.shared.palette import Figure

MOMENTS_TOLD = 12  # of a step, where it is told in words


class StepPlayer:
    """A step that can be played.

    Args:
      trace: a Trace, a RunMetadata, or the rows of a step.
      step: which complete run of a Trace.
      boxes: that are drawn; beyond, the nodes of a scope on one device are one.
      nodes: that the step needed, placed; a Trace knows its own.

    Raises:
      IndexError: the trace has no such run.
      ValueError: nothing ran in the step.
    """

    def __init__(
        self,
        trace: Any,
        step: int = -1,
        boxes: int | None = None,
        nodes: Sequence[Placed] = (),
    ) -> None:
        self._rows, self._nodes = _seen(trace, step, nodes)
        if not self._rows:
            raise ValueError("nothing to play: the step has no statistics; trace it (%trace)")
        self._boxes = boxes
        self._live: Live | None = None
        self._widget: Any = None
        self._moment: float | None = None

    @cached_property
    def scene(self) -> Scene:
        """What is played, as data."""
        return scene(self._rows, self._nodes, self._boxes or style_in_use().most_boxes)

    @property
    def moment(self) -> float | None:
        """Return the moment that is shown, in microseconds, as far as the browser has told it."""
        told = self._widget.moment if self._widget is not None else None
        return told if self._moment is None else self._moment

    def show(self) -> Self:
        """Display it in the cell that runs; another player that is open stands still then.

        Where widgets are not wanted it is the film strip, or words (`%config TFDist.live`).
        """
        global _shown
        if self._live is not None:
            return self
        last = _shown() if _shown else None
        if last is not None:
            last.freeze()
        way = way_of(live_mode())
        self._live = Live(self._still, way, repr(self)[1:-1], beside=self._beside)
        _shown = ref(self)
        self._live.show(self._new_widget() if way is Way.WIDGET else None)
        if way is Way.LINE:  # nothing moves in words
            self.freeze()
        return self

    def freeze(self, moment: float | None = None) -> None:
        """Put pictures in the place of the widget: of a moment, and a film strip.

        Args:
          moment: in microseconds since the step's beginning; by default the one that is shown.
        """
        if moment is not None:
            self._moment = float(moment)
        if self._live is not None:
            self._live.freeze()

    def close(self) -> None:
        """Do as `freeze`: a player that is closed leaves its pictures."""
        self.freeze()

    @property
    def is_playing(self) -> bool:
        """Return whether it is shown and not frozen."""
        return self._live is not None and not self._live.is_frozen

    def figure(self, moment: float | None = None) -> Figure:
        """Return a matplotlib `Figure` of a moment, or a film strip of several.

        Args:
          moment: in microseconds since the step's beginning; None for the film strip.
        """
        with drawn(style_in_use().theme):
            return strip_figure(self.scene) if moment is None else moment_figure(self.scene, moment)

    def caption(self, moment: float) -> str:
        """Return a moment in words."""
        return caption(self.scene, moment)

    def to_text(self) -> str:
        """Return the step in words: what every device does, at some telling moments."""
        moments = telling_moments(self.scene, MOMENTS_TOLD)
        return "\n".join(dict.fromkeys(caption(self.scene, moment) for moment in moments))

    def __enter__(self) -> Self:
        return self.show()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        _, _, shown = timeline_sentence(self._rows, times=False).rstrip(".").partition(": ")
        return f"<StepPlayer: {shown}>"

    def _new_widget(self) -> Any:
        from tfdist.jupyter.widgets.player_widget import (
            PlayerWidget,  # ipywidgets takes a while to import
        )

        self._widget = PlayerWidget(
            payload(self.scene), repr(self)[1:-1], self._moment or 0.0, self.freeze
        )
        self._moment = None  # from now on the browser tells
        return self._widget

    def _beside(self) -> list[Bundle]:
        return player_bundles(self.scene, repr(self)[1:-1], style_in_use())

    def _still(self) -> list[Bundle]:
        style = style_in_use()
        if self._widget is not None and self._widget.ground in THEMES:
            style = replace(style, theme=self._widget.ground)  # as it looked until now
        self._moment, self._widget = self.moment, None
        return player_bundles(self.scene, repr(self)[1:-1], style, self._moment)


def player_bundles(
    scene: Scene, sentence: str, style: Style, moment: float | None = None
) -> list[Bundle]:
    """Return what stays of a player: the moment that was shown, and a film strip.

    Args:
      scene: that was played.
      sentence: what it is.
      style: how much is shown.
      moment: in microseconds; None or a time outside of the step for the strip alone.
    """
    moments = telling_moments(scene, MOMENTS_TOLD)
    lines = list(dict.fromkeys(caption(scene, each) for each in moments)) if style.times else []
    if not style.pictures:
        return [Bundle({"text/plain": "\n".join([f"{sentence}.", *lines])})]
    strip = partial(strip_figure, scene)
    about, text = f"{sentence}; some moments.", "\n".join(lines)
    if moment is None or not 0 < moment < scene.span_us:
        return [picture_bundle(strip, about, style, text)]
    seen = partial(moment_figure, scene, moment)
    shown = picture_bundle(seen, f"{caption(scene, moment)}.", style)
    opening = details("Other moments of the step", picture_html(strip, about, style))
    twin = "\n".join(filter(None, [about, text]))
    return [shown, Bundle({"text/plain": twin, "text/html": opening})]


_shown: ref[StepPlayer] | None = None  # last


def _seen(trace: Any, step: int, nodes: Sequence[Placed]) -> tuple[list[NodeRow], Sequence[Placed]]:
    """Return the rows of a step, and the nodes that it needed as far as they are known."""
    if hasattr(trace, "runs"):
        return trace.rows(step), nodes or trace.run(step).nodes
    if hasattr(trace, "step_stats"):
        return rows(trace.step_stats), nodes
    return list(trace), nodes
