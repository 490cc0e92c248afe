"""The picture of a census: a row for each task, and arcs for what tasks have sent to each other.

An arc on the right of the line of tasks goes down the page, one on the left goes up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdist.plots.shared.device_colours import device_colours
from tfdist.plots.shared.palette import new_figure, tint
from tfdist.plots.shared.short_names import shorten
from tfdist.plots.shared.tables import bytes_text
from tfdist.plots.shared.themes import faint, ink, panel, shade
from tfdist.tracing.census import TaskStatus, Traffic
from tfdist.tracing.census_history import CensusHistory, Point
from tfdist.tracing.device_names import device_order, plain_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.0  # inches, as all sizes
ROW, HEAD, FOOT = 0.56, 0.5, 0.1
NAME, MEMORY, STEPS, LINE = 0.12, 2.3, 4.35, 7.75  # where the columns begin; the line of tasks
BAR, CURVE = 1.75, 1.65  # widths
REACH = 0.95  # of the widest arc
LABEL = (0.62, 0.17)  # width and height of what stands at an arc
MANY = 12  # arcs: they are thinner then, and only the table says how many bytes
MOST_ROWS = 24

Place = tuple[float, float]


def census_figure(history: CensusHistory, times: bool = True) -> Figure:
    """Return a matplotlib `Figure` of tasks: what they hold, how many steps, and what crosses.

    Args:
      history: of one census or several; of several, the last counts, and rates are drawn.
      times: whether to say what differs from run to run: rates and the memory of processes.
    """
    records = history.last
    silent = {plain_task(each.task) for each in records.silent}
    names = sorted({plain_task(each.task) for each in records.tasks} | silent, key=device_order)[
        :MOST_ROWS
    ]
    height = HEAD + max(len(names), 1) * ROW + FOOT
    figure, axes = new_figure(height, WIDTH)
    figure.set_layout_engine("none")  # all has its place: laying it out would take most of the time
    axes.set_position((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    places = {name: HEAD + (row + 0.5) * ROW for row, name in enumerate(names)}
    _draw_bands(axes, list(places.values()))
    _draw_titles(axes, times)
    told = {plain_task(task.task): task for task in records.tasks}
    most = max((each.variable_bytes + each.resource_bytes for each in told.values()), default=0)
    for name, colour in device_colours(names).items():
        task = told.get(name)
        _draw_name(axes, name, places[name], colour, task)
        if task is not None:
            _draw_memory(axes, task, places[name], colour, most)
            _draw_steps(axes, task, places[name], colour, history, times)
    _draw_arcs(axes, records.traffic, places)
    return figure


def _write(axes: Axes, x: float, y: float, text: str, size: float, **style: Any) -> None:
    style = {"color": ink(), "ha": "left", "va": "center", "zorder": 6, **style}
    axes.text(x, y, text, fontsize=size, **style)


def _draw_bands(axes: Axes, places: Sequence[float]) -> None:
    from matplotlib.patches import Rectangle

    for place in places[::2]:
        corner = (0, place - ROW / 2)
        axes.add_patch(Rectangle(corner, WIDTH, ROW, facecolor=shade(), edgecolor="none", zorder=0))


def _draw_titles(axes: Axes, times: bool) -> None:
    titles = (
        (NAME, "task", "left"),
        (MEMORY, "variables | in queues", "left"),
        (STEPS, "steps a second" if times else "steps", "left"),
        (LINE, "sent: down on the right, up on the left", "center"),
    )
    for x, text, side in titles:
        _write(axes, x, HEAD / 2, text, 8, color=faint(), ha=side)


def _draw_name(axes: Axes, name: str, y: float, colour: str, task: TaskStatus | None) -> None:
    from matplotlib.patches import Rectangle

    size = 0.13
    style: dict[str, Any] = {"facecolor": colour} if task else {"fill": False, "hatch": "/////"}
    axes.add_patch(Rectangle((NAME, y - 0.18), size, size, edgecolor=colour, **style))
    _write(axes, NAME + 0.22, y - 0.11, shorten(name, 26), 9, weight="bold")
    about = "does not tell"
    if task is not None:
        runs = f"{task.in_flight} in flight" if task.in_flight else "idle"
        about = f"up, {runs}; {' '.join(task.devices)}"
    _write(axes, NAME + 0.22, y + 0.12, shorten(about, 36), 7)


def _draw_memory(axes: Axes, task: TaskStatus, y: float, colour: str, most: int) -> None:
    from matplotlib.patches import Rectangle

    left = MEMORY
    for nbytes, hatch in ((task.variable_bytes, None), (task.resource_bytes, "....")):
        width = BAR * nbytes / most if most else 0.0
        style: dict[str, Any] = {"facecolor": tint(colour), "edgecolor": colour, "linewidth": 0.8}
        axes.add_patch(Rectangle((left, y - 0.19), width, 0.2, hatch=hatch, **style))
        left += width
    axes.plot([MEMORY, MEMORY], [y - 0.21, y + 0.03], color=faint(), linewidth=0.8)
    noun = "variable" if task.variables == 1 else "variables"
    parts = []
    if task.variables:
        parts.append(f"{bytes_text(task.variable_bytes)} in {task.variables} {noun}")
    if task.resource_bytes:
        parts.append(f"{bytes_text(task.resource_bytes)} in queues")
    _write(axes, MEMORY, y + 0.15, " | ".join(parts) or "nothing", 7)


def _draw_steps(
    axes: Axes, task: TaskStatus, y: float, colour: str, history: CensusHistory, times: bool
) -> None:
    points = history.step_rates(task.task) if times else []
    rate = history.step_rate(task.task) if times else None
    if len(points) > 1:
        _draw_curve(axes, points, y, colour, history.seconds)
    lately = "" if rate is None else f"{rate:.3g} a second, "
    _write(axes, STEPS, y + 0.15, f"{lately}{task.steps} in all", 7)


def _draw_curve(axes: Axes, points: Sequence[Point], y: float, colour: str, seconds: float) -> None:
    """Draw how a rate went over the time of the watch, from nothing to its own most."""
    most = max(rate for _, rate in points) or 1.0
    across = [STEPS + CURVE * when / seconds for when, _ in points]
    heights = [y - 0.2 * rate / most for _, rate in points]
    axes.fill_between(across, heights, y, color=tint(colour), linewidth=0, zorder=3)
    axes.plot(across, heights, color=colour, linewidth=1.2, zorder=4)
    axes.plot([STEPS, STEPS + CURVE], [y, y], color=faint(), linewidth=0.6, zorder=3)


def _draw_arcs(axes: Axes, traffic: Sequence[Traffic], places: dict[str, float]) -> None:
    found = [each for each in traffic if {plain_task(name) for name in each.link} <= set(places)]
    ordered = sorted(found, key=lambda each: (-each.nbytes, each.link))
    most = max((each.nbytes for each in ordered), default=0) or 1
    widest = max((_span(each, places) for each in ordered), default=1.0)
    if places:
        ends = min(places.values()), max(places.values())
        axes.plot([LINE, LINE], ends, color=faint(), linewidth=0.8, zorder=2)
    is_few = len(ordered) <= MANY
    thick = 2.3 if is_few else 1.2
    labels: list[Place] = []
    for each in ordered:
        top = _draw_arc(axes, each, places, widest, 0.7 + thick * each.nbytes / most)
        if is_few and not any(_overlap(top, other) for other in labels):
            labels.append(top)
            _label(axes, top, bytes_text(each.nbytes))
    for y in places.values():
        axes.plot([LINE], [y], marker="o", markersize=5, color=ink(), zorder=5)


def _span(each: Traffic, places: dict[str, float]) -> float:
    return abs(places[plain_task(each.source)] - places[plain_task(each.target)])


def _overlap(one: Place, other: Place) -> bool:
    return all(abs(a - b) < size for a, b, size in zip(one, other, LABEL, strict=True))


def _label(axes: Axes, place: Place, text: str) -> None:
    ground = {"facecolor": panel(), "edgecolor": "none", "pad": 0.8}
    _write(axes, *place, text, 6.5, ha="center", bbox=ground)


def _draw_arc(
    axes: Axes, each: Traffic, places: dict[str, float], widest: float, line_width: float
) -> Place:
    """Draw what one task sent to another one; returns where the arc is widest."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    start, end = places[plain_task(each.source)], places[plain_task(each.target)]
    side = 1 if end > start else -1
    reach = LINE + side * REACH * (0.3 + 0.7 * _span(each, places) / widest)
    handle = LINE + (reach - LINE) * 4 / 3  # a cubic curve comes three quarters of the way
    points = [(LINE, start), (handle, start), (handle, end), (LINE, end)]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    axes.add_patch(
        FancyArrowPatch(
            path=path,
            arrowstyle="-|>",
            mutation_scale=9,
            linewidth=line_width,
            color=faint(),
            zorder=3,
        )
    )
    return reach, (start + end) / 2
