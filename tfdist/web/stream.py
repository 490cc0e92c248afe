"""The task stream as HTML: lanes that a script draws, and a row of numbers for each task.

What the lanes show is what the picture shows (`plots.live.stream_figure`): computing is solid,
moving and waiting have patterns, and the shares are written beside. `browser/stream.js` draws them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from tfdist.plots.live.census import task_colours
from tfdist.plots.live.stream import NOBODY, TaskStream, share_text
from tfdist.plots.live.stream_payload import MOST_TASKS, stream_payload
from tfdist.tracing.census_history import Point
from tfdist.tracing.device_names import plain_task, short_name
from tfdist.tracing.intervals import STATES, Interval
from tfdist.web import panel_html as html

CURVE = 64  # CSS pixels
_LATELY = 3  # seconds that the shares are about, at least


def stream_html(stream: TaskStream) -> str:
    """Return what a live panel shows of what tasks do over time."""
    colours = task_colours(stream.history.last)
    rows = [_row(stream, name, colours) for name in stream.tasks[:MOST_TASKS]]
    seen = {plain_task(name) for name in stream.tasks}
    silent = [
        html.row(task, "lane", (html.named(short_name(task), colours[task]), _why(reason)))
        for task, reason in stream.silent.items()
        if task not in seen
    ]
    if not rows:
        return html.section(stream.sentence(), ("task", ""), silent) or html.heading(NOBODY)
    data = escape(json.dumps(stream_payload(stream), separators=(",", ":")))
    header = ("task", *STATES[:-1], "processors", "", "memory", "")
    table = html.section("", header, [*rows, *silent])
    note = f'<div style="{html.FAINT}">The shares are those of the last {_LATELY} s.</div>'
    more = html.more(len(stream.tasks) - MOST_TASKS, "tasks")
    return f'{html.heading(stream.sentence())}<div data-stream="{data}"></div>{table}{more}{note}'


def _row(stream: TaskStream, name: str, colours: dict[str, str]) -> str:
    colour = colours.get(plain_task(name), "#999999")
    head = html.named(short_name(name), colour)
    if plain_task(name) in stream.silent:
        return html.row(plain_task(name), "lane", (head, _why(stream.silent[plain_task(name)])))
    busy, nbytes = stream.process_texts(name)
    cells = (
        head,
        *(html.number(share_text(share)) for share in _lately(stream.intervals(name))),
        html.number(busy),
        html.curve(_thinned(stream.processors(name)), colour, width=CURVE),
        html.number(nbytes),
        html.curve(_thinned(stream.history.process_bytes(name)), colour, width=CURVE),
    )
    return html.row(plain_task(name), "lane", cells)


def _why(reason: str) -> str:
    return f'<td style="{html.CELL}" colspan="7">{escape(reason)}</td>'


def _lately(found: Sequence[Interval]) -> list[float]:
    """Return the shares of the last seconds."""
    last = [each for each in found if each.end > found[-1].end - _LATELY]
    total = sum(each.end - each.begin for each in last) or 1.0
    return [
        sum(each.shares[i] * (each.end - each.begin) for each in last) / total
        for i in range(len(STATES) - 1)
    ]


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Return as many points of a curve as are seen."""
    return points[:: max(1, len(points) // CURVE)]
