"""The task stream as HTML: a lane for each task, which moves; its process's processors and memory.

What the lanes show is what the picture shows (`plots.live.stream_figure`): computing is solid,
moving and waiting have patterns, and the shares are written beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tfdist.plots.live.census import task_colours
from tfdist.plots.live.stream import NOBODY, TaskStream, share_text
from tfdist.plots.live.stream_figure import mark_text, stairs, time_marks
from tfdist.tracing.census_history import CensusHistory, Point
from tfdist.tracing.intervals import (
    COMPUTING,
    MOVING,
    STATES,
    WAITING,
    Interval,
)
from tfdist.tracing.task_names import plain_task, short_name
from tfdist.web import panel_html as html

WIDTH, HEIGHT = 600, 26  # of a lane; it is as wide as there is room
LEAST = 200  # CSS pixels
CURVE = 64  # the same
MOST_TASKS = 40
_LATELY = 3  # seconds that the shares beside a lane are about, at least
_CELL = f"{html.CELL};min-width:{LEAST}px;width:60%"
# What lies over the hue of what is no computing: slanted lines, dots.
_PATTERNS = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    '<pattern id="tfd-moving" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="2" height="5" fill="currentColor"/></pattern>'
    '<pattern id="tfd-waiting" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<circle cx="3" cy="3" r="1.1" fill="currentColor"/></pattern></defs></svg>'
)
_LOOKS = {COMPUTING: (1.0, ""), MOVING: (0.5, "tfd-moving"), WAITING: (0.22, "tfd-waiting")}


def stream_html(history: CensusHistory) -> str:
    """Return what a live panel shows of what tasks do over time."""
    stream = TaskStream(history)
    colours = task_colours(history.last)
    rows = [_row(stream, name, colours) for name in stream.tasks[:MOST_TASKS]]
    seen = {plain_task(name) for name in stream.tasks}
    silent = [
        html.row(task, "lane", (html.named(short_name(task), colours[task]), _why(reason, 8)))
        for task, reason in stream.silent.items()
        if task not in seen
    ]
    if not rows:
        return html.section(stream.sentence(), ("task", ""), silent) or html.heading(NOBODY)
    header = ("task", "what it did", *STATES[:-1], "processors", "", "memory", "")
    axis = _axis(history.seconds or 1.0)
    table = html.section(stream.sentence(), header, [*rows, axis, *silent], is_wide=True)
    return _PATTERNS + table + _legend()


def _row(stream: TaskStream, name: str, colours: dict[str, str]) -> str:
    colour = colours.get(plain_task(name), "#999999")
    found = stream.intervals(name)
    head = html.named(short_name(name), colour)
    lane = _lane(found, colour, stream.history.seconds or 1.0)
    if plain_task(name) in stream.silent:
        why = _why(stream.silent[plain_task(name)], 7)
        return html.row(plain_task(name), "lane", (head, lane, why))
    busy, nbytes = stream.process_texts(name)
    cells = (
        head,
        lane,
        *(html.number(share_text(share)) for share in _lately(found)),
        html.number(busy),
        html.curve(_thinned(stream.processors(name)), colour, width=CURVE),
        html.number(nbytes),
        html.curve(_thinned(stream.history.process_bytes(name)), colour, width=CURVE),
    )
    return html.row(plain_task(name), "lane", cells)


def _why(reason: str, columns: int) -> str:
    return f'<td style="{html.CELL}" colspan="{columns}">{escape(reason)}</td>'


def _lately(found: Sequence[Interval]) -> list[float]:
    """Return the shares of the last seconds."""
    last = [each for each in found if each.end > found[-1].end - _LATELY]
    total = sum(each.end - each.begin for each in last) or 1.0
    return [
        sum(each.shares[i] * (each.end - each.begin) for each in last) / total
        for i in range(len(STATES) - 1)
    ]


def _lane(found: Sequence[Interval], colour: str, span: float) -> str:
    shapes = "".join(
        f'<path d="{path}" fill="{colour}" fill-opacity="{opacity}"/>'
        + (f'<path d="{path}" fill="url(#{pattern})" opacity=".55"/>' if pattern else "")
        for state, (opacity, pattern) in _LOOKS.items()
        if (path := _outline(found, state, span))
    )
    line = f'<line x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" stroke="currentColor" opacity=".4"/>'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" height="{HEIGHT}"'
    return (
        f'<td style="{_CELL}"><svg {size} style="width:100%;display:block" '
        f'aria-hidden="true">{shapes}{line}</svg></td>'
    )


def _outline(found: Sequence[Interval], state: str, span: float) -> str:
    """Return the path around one state in a lane, in whole pixels; "" if it takes none."""
    across, below, above = stairs(found, state)
    xs = [round(WIDTH * x / span) for x in across]
    lower, upper = ([round(HEIGHT * (1 - y)) for y in ys] for ys in (below, above))
    if lower == upper:
        return ""
    back = _steps(xs[::-1], lower[::-1])
    return f"M{xs[0]} {lower[0]}{_steps(xs, upper)}{back}"


def _steps(xs: Sequence[int], ys: Sequence[int]) -> str:
    """Return the commands of a path along stairs; what is level is one line."""
    path, level = f"V{ys[0]}", ys[0]
    for x, y, after in zip(xs, ys, [*ys[1:], None], strict=True):
        if y != level:
            path, level = f"{path}V{y}", y
        if after != level:
            path += f"H{x}"
    return path


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Return as many points of a curve as are seen."""
    return points[:: max(1, len(points) // CURVE)]


def _axis(span: float) -> str:
    texts = "".join(
        f'<text x="{100 * each / span:.1f}%" y="11" font-size="10" fill="currentColor" '
        f'text-anchor="{"start" if not each else "middle"}">{escape(mark_text(each, span))}</text>'
        for each in time_marks(span * 0.97, 6)
    )
    return (
        f'<tr><td></td><td style="{_CELL};{html.FAINT}"><svg width="100%" height="14">{texts}'
        '</svg></td><td colspan="7"></td></tr>'
    )


def _legend() -> str:
    keys = []
    for state, (opacity, pattern) in _LOOKS.items():
        over = f'<rect width="22" height="11" fill="url(#{pattern})" opacity=".55"/>'
        box = f'<rect width="22" height="11" fill="#999999" fill-opacity="{opacity}"/>'
        keys.append(
            f'<svg width="22" height="11" aria-hidden="true">{box}{over if pattern else ""}</svg> '
            f"{state}"
        )
    keys.append(f"empty: idle &ensp; (the shares are those of the last {_LATELY} s)")
    return f'<div style="{html.FAINT}">{" &ensp; ".join(keys)}</div>'
