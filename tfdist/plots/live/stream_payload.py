"""A task stream as plain data, for a browser that zooms into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfdist.plots.live.census import task_colours
from tfdist.plots.live.stream import TaskStream
from tfdist.tracing.device_names import plain_task, short_name
from tfdist.tracing.intervals import MOST, STATES, Interval, intervals
from tfdist.tracing.zoom import TracedStep, refined

MOST_TASKS = 40
_MOST_PARTS = 2400  # of all tasks, besides what was traced; each task has `MOST` in any case
_MOST_ROWS = 400  # of the traced steps whose nodes are told apart: they are sent again and again
_OTHER = "#999999"


def stream_payload(stream: TaskStream) -> dict[str, object]:
    """Return what a browser needs to draw what tasks did and to tell of it.

    `parts` of a task are lists: begin and end, in seconds since the watch began, and the percentage
    of that time that it computed, moved values and waited; without percentages, it did not tell
    then. `marks` are beginnings and ends of
    traced steps; of the last of them the nodes are told apart, if they are few.

    Args:
      stream: of a watch.
    """
    names = stream.tasks[:MOST_TASKS]
    colours = task_colours(stream.history.last)
    most = max(MOST, _MOST_PARTS // max(len(names), 1))
    fine = list(_few(stream.traced))
    return {
        "span": round(stream.history.seconds, 3) or 1.0,
        "sentence": stream.sentence(),
        "tasks": [
            {
                "name": short_name(name),
                "colour": colours.get(plain_task(name), _OTHER),
                "parts": sorted(
                    _parts(refined(intervals(stream.history, name, most), name, fine))
                    + [[_fine(begin), _fine(end)] for begin, end in stream.silences(name)]
                ),
            }
            for name in names
        ],
        "marks": [[_fine(each.begin), _fine(each.end)] for each in stream.traced],
    }


def _few(steps: Iterable[TracedStep]) -> Iterator[TracedStep]:
    """Yield the steps that ran last, as long as they have few rows together."""
    left = _MOST_ROWS
    for step in sorted(steps, key=lambda each: each.begin, reverse=True):
        left -= len(step.rows)
        if left < 0:
            return
        yield step


def _parts(found: Iterable[Interval]) -> list[list[float]]:
    """Return intervals as lists; what is the same in several, one after the other, is one."""
    parts: list[list[float]] = []
    for each in found:
        shares = [round(100 * share) for share in each.shares[: len(STATES) - 1]]
        begin, end = _fine(each.begin), _fine(each.end)
        if parts and parts[-1][1] == begin and parts[-1][2:] == shares:
            parts[-1][1] = end
        else:
            parts.append([begin, end, *shares])
    return parts


def _fine(seconds: float) -> float:
    return round(seconds, 6)
