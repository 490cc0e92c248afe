"""TensorFlow's `timeline.Timeline`: step statistics as a picture for Perfetto.

Differs from TensorFlow's where that one went wrong: nodes are known by device and name, so equal
names on two tasks stay apart; a device that occurs twice is one process; arrows lead from the
sender through the transfer to the taker, and each has an end. A value that was fed and sent has a
slice "Feed", where its task began; a clock that was put right is stated at its process. A slice
tells the round of a loop; of a loop of very many rounds the first and the last ones are drawn, and
a slice in between says how many are left out.

Source: TF 1.15 API documentation, tf.python.client.timeline.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tfdist.tracing.steps import chrome
from tfdist.tracing.steps.aggregates import DeviceTotal, totals
from tfdist.tracing.steps.entries import fed_tensor
from tfdist.tracing.steps.loop_excerpt import omit_iterations
from tfdist.tracing.steps.node_row import COMPUTE, NodeRow
from tfdist.tracing.steps.rows import beginnings, first_start_us, rows

__all__ = ["DeviceTotal", "NodeRow", "Timeline", "rows", "totals"]

OP_TIMES = ("schedule", "gpu", "all")
MOST_SLICES = 10_000  # beyond, viewers are slow


class Timeline:
    """The statistics of one step, to be written as a Chrome trace."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        """Keep `step_stats`, a `StepStats` message; `graph` is taken for TensorFlow's sake."""
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """Return JSON text that Perfetto and chrome://tracing open.

        Args:
          show_dataflow: whether arrows lead from makers to takers.
          show_memory: whether a counter per device shows the bytes of outputs still needed.
          op_time: "schedule": a node lasts as its kernel call; "gpu": as its work on the card,
            where that was recorded; "all": from the one's start to the other's end.

        Raises:
          ValueError: `op_time` is none of the three.
        """
        shown, left_out = omit_iterations(self._rows(op_time), MOST_SLICES)
        drawn = chrome.slices(shown, first_start_us(self._step_stats))
        events = chrome.metadata_events(drawn) + chrome.slice_events(drawn)
        events += chrome.left_out_events(drawn, left_out)
        events += chrome.flow_events(drawn) if show_dataflow else []
        events += chrome.memory_events(drawn) if show_memory else []
        lines = ",\n".join(map(json.dumps, events))  # indented, it takes five times as long
        return f'{{"traceEvents": [\n{lines}\n]}}'

    def _rows(self, op_time: str) -> list[NodeRow]:
        if op_time not in OP_TIMES:
            raise ValueError(f"op_time is one of {', '.join(OP_TIMES)}, not {op_time!r}")
        step_rows = rows(self._step_stats)
        step_rows += _feeds(step_rows, beginnings(self._step_stats))
        if op_time == "schedule":
            return step_rows
        return [_on_card(row, step_rows, op_time == "all") for row in step_rows]


def _feeds(step_rows: Iterable[NodeRow], begun_us: Mapping[str, float]) -> list[NodeRow]:
    """Return a row for each value that was fed and then sent: no node made it.

    It was there when its device began.
    """
    found = {
        (row.source, row.name): NodeRow(
            row.source, row.name, "Feed", COMPUTE, begun_us[row.source], 0.0, row.bytes
        )
        for row in step_rows
        if fed_tensor(row.name) and row.source in begun_us
    }
    return list(found.values())


def _on_card(row: NodeRow, step_rows: Iterable[NodeRow], whole: bool) -> NodeRow:
    """Return `row` with the time of its kernels in a "/stream:all" entry, if it has any."""
    kernels = [
        r
        for r in step_rows
        if "/stream:all" in r.device and r.name.partition(":")[0] == row.name and r is not row
    ]
    if not kernels:
        return row
    start = row.start_us if whole else min(k.start_us for k in kernels)
    end = max([k.end_us for k in kernels] + [row.end_us] * whole)
    return replace(row, start_us=start, duration_us=end - start)
