"""A causal profile beside what really slowing everything else showed: a sentence and a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tfdist.launch.causal_check import CheckedSaving
from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.timeline.critical_path import saving_text
from tfdist.tracing.steps.significance import LEVEL


def check_sentence(found: Sequence[CheckedSaving]) -> str:
    """Return how many predictions lie within what was measured.

    Args:
      found: from `launch.causal_check`.
    """
    if not found:
        return "No task or link is slow enough that slowing the others would show something."
    right = sum(_holds(each) for each in found)
    return (
        f"With everything twice as slow but one part: {right} of {len(found)} predictions of what "
        f"that part would save lie within the interval at {LEVEL:.0%}."
    )


def check_table(found: Sequence[CheckedSaving]) -> Table:
    """Return a row for each part: what it would save if it were twice as fast.

    Args:
      found: from `launch.causal_check`.
    """
    header = ("twice as fast", "", "predicted", "measured", f"at {LEVEL:.0%}", "")
    cells = tuple(
        (
            each.saving.kind,
            saving_text(each.saving),
            _text(each.saving.saved_us),
            _text(each.measured.median),
            f"{_text(each.measured.low)} to {_text(each.measured.high)}",
            "" if _holds(each) else "not as predicted",
        )
        for each in found
    )
    return Table(header, cells, frozenset({2, 3, 4}))


def _holds(each: CheckedSaving) -> bool:
    return each.measured.low <= each.saving.saved_us <= each.measured.high


def _text(microseconds: float) -> str:
    if abs(microseconds) == inf:
        return "any"
    sign = "\N{MINUS SIGN}" if microseconds < 0 else ""
    return f"{sign}{duration_text(abs(microseconds))}"
