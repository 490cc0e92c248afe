"""Parts of live panels as HTML: bars, curves and cells.

It is for widgets only, which take SVG; what stands still is made in `bundles` and `html`. Colours
of text and ground are the notebook's own, light or dark; a hue stands for a task, and everything
that it says is written beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tfdist.plots.live.queues import share
from tfdist.tracing.census_history import Point
from tfdist.tracing.waits import ResourceStatus

CELL = "padding:1px 14px 1px 0;text-align:left;white-space:nowrap;vertical-align:middle"
NUMBER = f"{CELL};text-align:right;font-variant-numeric:tabular-nums"
FAINT = "opacity:.7;font-size:85%"
CURVE_WIDTH, CURVE_HEIGHT = 120, 20  # CSS pixels
BAR = (160, 14)
_HATCH = "repeating-linear-gradient(45deg,transparent 0 4px,rgba(127,127,127,.6) 4px 6px)"


def section(title: str, header: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table under a title, if it has one; nothing if there are no rows."""
    body = "".join(rows)
    if not body:
        return ""
    names = "".join(f'<th scope="col" style="{CELL};{FAINT}">{escape(n)}</th>' for n in header)
    style = "border-collapse:collapse;line-height:1.35"
    above = heading(title) if title else ""
    return f'{above}<table style="{style}"><tr>{names}</tr>{body}</table>'


def more(count: int, what: str) -> str:
    """Return a line that says how many more there are than are shown; nothing if there are none."""
    return f'<div style="{FAINT}">{count:,} more {what} are not shown</div>' if count > 0 else ""


def heading(text: str) -> str:
    """Return what stands above a table."""
    return f'<div style="font-weight:bold;margin-top:6px">{escape(text)}</div>'


def row(name: str, kind: str, cells: Iterable[str]) -> str:
    """Return a row whose element says what it is about: `data-KIND="NAME"`."""
    return f'<tr data-{kind}="{escape(name)}">{"".join(cells)}</tr>'


def cell(text: str) -> str:
    """Return a cell with text."""
    return f'<td style="{CELL}">{escape(text)}</td>'


def number(text: str) -> str:
    """Return a cell with a number."""
    return f'<td style="{NUMBER}">{escape(text)}</td>'


def named(name: str, colour: str) -> str:
    """Return the head of a row, with the square of its hue."""
    square = f'<span style="color:{colour}">&#9632;</span>'
    style = f"{CELL};font-weight:normal"
    return f'<th scope="row" style="{style}">{square} {escape(name)}</th>'


def curve(points: Sequence[Point], colour: str, most: float = 0.0, width: int = CURVE_WIDTH) -> str:
    """Return a cell with a small curve.

    Args:
      points: of it, in order.
      colour: of its line.
      most: what reaches the top; by default the highest point.
      width: in CSS pixels.
    """
    height = CURVE_HEIGHT
    if len(points) < 2:
        return f'<td style="{CELL}"></td>'
    points = _corners(points)
    begin, end = points[0][0], points[-1][0]
    top = max([most, *(value for _, value in points)]) or 1.0
    spots = [
        (width * (when - begin) / ((end - begin) or 1.0), (height - 2) * (1 - value / top) + 1)
        for when, value in points
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    return (
        f'<td style="{CELL}"><svg width="{width}" height="{height}" aria-hidden="true">'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/></svg></td>'
    )


def _corners(points: Sequence[Point]) -> list[Point]:
    """Return a curve without what lies on level stretches: so a level one never changes."""
    inner = [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if not before[1] == here[1] == after[1]
    ]
    return [points[0], *inner, points[-1]]


def bar(part: float, colour: str, hatched: bool = False) -> str:
    """Return a cell with a bar that is full as far as `part`, from 0 to 1."""
    width, height = BAR
    full = round(width * max(0.0, min(1.0, part)))
    ground = f"background:{_HATCH};" if hatched else ""
    frame = f"{ground}width:{width}px;height:{height}px;border:1px solid {colour}"
    inner = f"width:{full}px;height:100%;background:{colour};opacity:.55"
    return f'<td style="{CELL}"><div style="{frame}"><div style="{inner}"></div></div></td>'


def fill_bar(stock: ResourceStatus, colour: str) -> str:
    """Return a cell with a bar for how full a queue is; a closed one is hatched."""
    return bar(share(stock), colour, stock.closed)
