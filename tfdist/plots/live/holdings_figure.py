"""The picture of what tasks hold: a band for each task, in it a room for each container.

Variables, queues and other resources of a task are found by their names, and names of different
containers never meet: so each room is drawn apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure, text_width, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text
from tfdist.plots.shared.themes import faint, ink, shade
from tfdist.tracing.census import Allocation
from tfdist.tracing.device_names import device_order, plain_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.0  # inches, as all sizes
ROOM, GAP, EDGE, FOOT = 0.56, 0.1, 0.14, 0.06  # a room's height, between rooms, round them, below
NAME, LEFT, PAD = 0.12, 2.3, 0.12  # where names of tasks and where rooms begin; in and between
TITLE, WHAT = 7.0, 7.5  # points
DEFAULT = "default container"
MOST_ROOMS = 24


def holdings_figure(holdings: Sequence[Allocation]) -> Figure:
    """Return a matplotlib `Figure` of tasks, their containers, and what is in each.

    Args:
      holdings: variables and other resources, as in `census(holdings=True).records.holdings`.
    """
    rooms = _rooms(holdings)
    shown = dict(list(rooms.items())[:MOST_ROOMS])
    heights = {name: _height(name, shown) for name, _ in shown}
    more = ROOM if len(rooms) > len(shown) else 0.0
    height = max(sum(heights.values()), ROOM) + more + FOOT
    figure, axes = new_figure(height, WIDTH)
    figure.set_layout_engine("none")
    axes.set_position((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    top = FOOT / 2
    for name, colour in device_colours(list(heights)).items():
        inside = [found for (owner, _), found in shown.items() if owner == name]
        _draw_task(axes, name, colour, (top, heights[name]), inside)
        top += heights[name]
    if not rooms or more:
        told = f"{len(rooms) - len(shown)} containers more" if more else "Nothing is held."
        axes.text(NAME, top + ROOM / 2, told, fontsize=8, color=faint(), va="center")
    return figure


def _rooms(holdings: Sequence[Allocation]) -> dict[tuple[str, str], list[Allocation]]:
    """Return what is held, by task and container, in the order of the cluster spec."""
    rooms: dict[tuple[str, str], list[Allocation]] = {}
    order = sorted(holdings, key=lambda each: (device_order(plain_task(each.task)), each.container))
    for each in order:
        rooms.setdefault((plain_task(each.task), each.container), []).append(each)
    return {key: sorted(found, key=lambda each: each.name) for key, found in rooms.items()}


def _height(name: str, rooms: dict[tuple[str, str], list[Allocation]]) -> float:
    count = sum(owner == name for owner, _ in rooms)
    return 2 * EDGE + count * ROOM + (count - 1) * GAP


def _draw_task(
    axes: Axes, name: str, colour: str, place: tuple[float, float], rooms: list[list[Allocation]]
) -> None:
    from matplotlib.patches import Rectangle

    top, height = place
    band = Rectangle((0, top), WIDTH, height - 0.04, facecolor=shade(), edgecolor="none", zorder=0)
    axes.add_patch(band)
    axes.add_patch(Rectangle((NAME, top + EDGE), 0.13, 0.13, facecolor=colour, edgecolor=colour))
    style: dict[str, Any] = {"color": ink(), "va": "center", "zorder": 6}
    axes.text(NAME + 0.22, top + EDGE + 0.07, shorten(name, 26), fontsize=9, weight="bold", **style)
    for row, found in enumerate(rooms):
        _draw_room(axes, colour, top + EDGE + row * (ROOM + GAP), found)


def _draw_room(axes: Axes, colour: str, top: float, found: Sequence[Allocation]) -> None:
    from matplotlib.patches import FancyBboxPatch

    right = WIDTH - 2 * PAD
    outline = "round,pad=0,rounding_size=0.06"
    axes.add_patch(
        FancyBboxPatch(
            (LEFT, top), right - LEFT, ROOM, boxstyle=outline, fill=False, edgecolor=colour
        )
    )
    title = found[0].container or DEFAULT
    axes.text(
        LEFT + PAD, top + 0.13, shorten(title, 60), fontsize=TITLE, color=faint(), va="center"
    )
    for left, width, text in _chips(found, right):
        chip = FancyBboxPatch(
            (left, top + 0.24), width, 0.23, boxstyle=outline, facecolor=tint(colour),
            edgecolor="none",
        )  # fmt: skip
        axes.add_patch(chip)
        axes.text(left + width / 2, top + 0.355, text, fontsize=WHAT, color=ink(), va="center",
                  ha="center")  # fmt: skip


def _chips(found: Sequence[Allocation], right: float) -> Iterator[tuple[float, float, str]]:
    """Yield where each thing of a room stands, and its text; what has no place is counted."""
    left = LEFT + PAD
    for at, each in enumerate(found):
        behind = len(found) - at
        text = f"{shorten(each.name, 24)}  {_about(each)}".rstrip()
        width = text_width(text, WHAT) + 0.2
        spare = 0.0 if behind == 1 else 0.9  # room to say that there are more
        if left + width + spare > right - PAD:
            told = f"{behind} more"
            yield left, text_width(told, WHAT) + 0.2, told
            return
        yield left, width, text
        left += width + PAD


def _about(each: Allocation) -> str:
    if each.kind != "variable":
        return each.kind
    return bytes_text(each.nbytes) if each.about else "no value"
