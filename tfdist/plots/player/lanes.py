"""The lanes below a still of a step player: what each device does, all events alike in length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdist.plots.player.scene import Scene, notes
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import HATCHES
from tfdist.plots.shared.tables import duration_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.tracing.steps.device_activity import (
    COMPUTES,
    QUEUES,
    RECEIVES,
    WAITS,
    Status,
    spoken_device,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANE = 0.2  # inches
LABELS = 8  # on the time axis
_REDS = ("#B3261E", "#FF8A80")  # on light panels, on dark ones
_HEIGHTS = {COMPUTES: 0.7, QUEUES: 0.7, RECEIVES: 0.4, WAITS: 0.3}
_HATCH = {QUEUES: HATCHES["queue"], RECEIVES: HATCHES["transfer"]}


def waiting_colour() -> str:
    """Return the colour of what waits in the theme in which pictures are drawn now."""
    return _REDS[panel() < "#808080"]


def draw_lanes(axes: Axes, scene: Scene, moments: Sequence[float], names: Sequence[str]) -> None:
    """Draw what each device does from left to right, and where some moments are."""
    places = np.fromiter(accumulate(scene.lengths, initial=0.0), float)
    ticks = np.asarray(scene.ticks)

    def place(time: float) -> float:
        return float(np.interp(time, ticks, places))

    colours = device_colours(list(scene.doing))
    for lane, (device, found) in enumerate(scene.doing.items()):
        axes.axhspan(lane - 0.5, lane + 0.5, color=panel() if lane % 2 else shade(), linewidth=0)
        for status, end in _stretches(found, scene.span_us):
            _draw_stretch(axes, status, (place(status.start_us), place(end)), lane, colours[device])
    for moment, name in zip(moments, names, strict=True):
        axes.axvline(place(moment), color=ink(), linewidth=1.4, zorder=5)
        size = 9 if name else 7
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "color": ink()}
        axes.text(place(moment), -0.62, name or "▼", fontsize=size, **style)
    _set_up(axes, scene, places, ticks)


def _draw_stretch(
    axes: Axes, status: Status, span: tuple[float, float], lane: int, colour: str
) -> None:
    height = _HEIGHTS.get(status.state)
    if height is None:
        return
    waits = status.state == WAITS
    start, end = span
    axes.broken_barh(
        [(start, max(end - start, 0.02))],
        (lane - height / 2, height),
        facecolor=panel() if waits else colour,
        edgecolor=waiting_colour() if waits else panel(),
        hatch="|||||" if waits else _HATCH.get(status.state, ""),
        linewidth=0.0,
        zorder=3,
    )


def _set_up(axes: Axes, scene: Scene, places: np.ndarray, ticks: np.ndarray) -> None:
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(faint())
    axes.set_xlim(0, places[-1])
    axes.set_ylim(len(scene.doing) - 0.5, -0.5)
    axes.set_yticks(range(len(scene.doing)), [spoken_device(device) for device in scene.doing])
    axes.tick_params(axis="y", length=0, labelsize=7.5, colors=ink())
    marks = np.linspace(0, places[-1], LABELS)
    told = [duration_text(float(np.interp(mark, places, ticks))) for mark in marks]
    axes.set_xticks(marks, told)
    axes.tick_params(axis="x", labelsize=7, colors=faint(), length=3)
    legend = (
        "solid: computes   striped: receives a tensor   red: waits   (all events alike in length)"
    )
    axes.set_xlabel("\n".join([legend, *notes(scene)]), fontsize=7, color=faint(), loc="left")


def _stretches(found: Sequence[Status], span: float) -> Iterator[tuple[Status, float]]:
    """Yield each status and when it ends."""
    ends = [*(status.start_us for status in found[1:]), span]
    yield from zip(found, ends, strict=True)
