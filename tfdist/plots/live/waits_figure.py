"""The picture of waits: steps, the queues that they wait at, and who could end that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdist.plots.live.queues import state_texts
from tfdist.plots.live.waits_layout import (
    WIDTH,
    Bar,
    Line,
    Spot,
    StepBox,
    TaskBox,
    WaitsLayout,
    layout_waits,
)
from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.themes import faint, ink, panel, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tfdist.tracing.why import Explanation

WARNING = "#D55E00"  # vermilion
LEGEND = 0.35  # inches
WAITS: dict[str, Any] = {"linewidth": 1.5, "linestyle": "-"}
HELPS: dict[str, Any] = {"linewidth": 1.2, "linestyle": (0, (4, 1.5))}


def waits_figure(explanation: Explanation, times: bool = True) -> Figure:
    """Return a matplotlib `Figure` of what steps in flight wait for.

    Args:
      explanation: of what is in flight (`tracing.why.explain`).
      times: whether to say since when steps run.
    """
    layout = layout_waits(explanation, times)
    figure, axes = new_figure(layout.height + LEGEND, WIDTH)
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(layout.height, 0)
    colours = device_colours([task.name for task in layout.tasks])
    for task in layout.tasks:
        _draw_task(axes, task, colours[task.name])
    for line in layout.lines:
        _draw_line(axes, line)
    for step in layout.steps:
        _draw_step(axes, step)
    for bar in layout.bars:
        _draw_bar(axes, bar, colours[bar.stock.task.replace("/replica:0", "")])
    _draw_legend(figure, layout)
    return figure


def _box(axes: Axes, spot: Spot, rounding: float, **style: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = f"round,pad=0,rounding_size={rounding}"
    corner, width, height = (spot.left, spot.top), spot.width, spot.height
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=shape, **style))


def _write(axes: Axes, x: float, y: float, text: str, size: float, **style: Any) -> None:
    style = {"color": ink(), "ha": "left", "va": "center", "zorder": 6, **style}
    axes.text(x, y, text, fontsize=size, **style)


def _draw_task(axes: Axes, task: TaskBox, colour: str) -> None:
    _box(axes, task.spot, 0.08, facecolor=shade(), edgecolor=colour, linewidth=1.4, zorder=1)
    name = {"weight": "bold"}
    _write(axes, task.spot.left + 0.16, task.spot.top + 0.18, task.name, 9, **name)


def _draw_step(axes: Axes, step: StepBox) -> None:
    edge = WARNING if step.in_deadlock else ink()
    face = tint(WARNING, 0.15) if step.in_deadlock else panel()
    width = 2.0 if step.in_deadlock else 1.2
    _box(axes, step.spot, 0.06, facecolor=face, edgecolor=edge, linewidth=width, zorder=4)
    left = step.spot.left + 0.12
    _write(axes, left, step.spot.top + 0.2, shorten(step.name, 34), 8.5, weight="bold")
    _write(axes, left, step.spot.top + 0.43, shorten(step.does, 44), 7)


def _draw_bar(axes: Axes, bar: Bar, colour: str) -> None:
    from matplotlib.patches import Rectangle

    spot, stock = bar.spot, bar.stock
    edge, width = (WARNING, 2.0) if bar.in_deadlock else (colour, 1.2)
    corner = (spot.left, spot.top)
    axes.add_patch(Rectangle(corner, spot.width, spot.height, facecolor=panel(), zorder=3))
    full = spot.width * _share(stock.fill, stock.capacity)
    axes.add_patch(Rectangle(corner, full, spot.height, facecolor=tint(colour), zorder=4))
    hatch = "////" if stock.closed else None
    frame: dict[str, Any] = {"fill": False, "edgecolor": edge, "linewidth": width, "hatch": hatch}
    axes.add_patch(Rectangle(corner, spot.width, spot.height, zorder=5, **frame))
    title = shorten(f"{stock.kind} {stock.name!r}", 40)
    _write(axes, spot.left + 0.12, spot.top + 0.2, title, 8.5, weight="bold")
    _write(axes, spot.left + 0.12, spot.top + 0.43, _state(bar), 7)


def _share(fill: int, capacity: int) -> float:
    """Return how full a bar is; one without bound never is."""
    if capacity < 0:
        return fill / (fill + 10)
    return min(1.0, fill / capacity) if capacity else 0.0


def _state(bar: Bar) -> str:
    stock = bar.stock
    parts = [f"{stock.fill} of {stock.capacity}" if stock.capacity >= 0 else f"holds {stock.fill}"]
    if stock.min_after_dequeue:
        parts.append(f"keeps {stock.min_after_dequeue}")
    return ", ".join([*parts, *state_texts(stock)])


def _draw_line(axes: Axes, line: Line) -> None:
    from matplotlib.patches import FancyArrowPatch

    style = WAITS if line.is_wait else HELPS
    colour = WARNING if line.in_deadlock else (ink() if line.is_wait else faint())
    axes.add_patch(
        FancyArrowPatch(
            line.start,
            line.end,
            arrowstyle="-|>",
            mutation_scale=11,
            color=colour,
            shrinkA=0,
            shrinkB=1,
            zorder=7,
            **style,
        )
    )


def _draw_legend(figure: Figure, layout: WaitsLayout) -> None:
    from matplotlib.lines import Line2D

    keys = {
        "waits for": (
            Line2D([], [], color=ink(), **WAITS),
            any(a.is_wait for a in layout.lines),
        ),
        "could be ended by": (
            Line2D([], [], color=faint(), **HELPS),
            any(not line.is_wait for line in layout.lines),
        ),
        "deadlock": (
            Line2D([], [], color=WARNING, linewidth=2),
            any(line.in_deadlock for line in layout.lines),
        ),
        f"{layout.left_out} more steps": (Line2D([], [], linewidth=0), layout.left_out > 0),
    }
    shown = {name: handle for name, (handle, is_there) in keys.items() if is_there}
    if shown:
        figure.legend(
            list(shown.values()),
            list(shown),
            loc="outside lower center",
            ncols=len(shown),
            fontsize=8,
            frameon=False,
            labelcolor=ink(),
        )
