"""The critical paths of many runs of a step: sentences, tables, and how two sets of runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tfdist.plots.shared.tables import Table, duration_text
from tfdist.plots.timeline.critical_path import KIND_TEXTS, row_text
from tfdist.tracing.steps.critical_path import CriticalPath, PathShare
from tfdist.tracing.steps.path_spread import STEP, PartShift, part_spreads
from tfdist.tracing.steps.significance import LEVEL, Shift

NAMED = 0.1  # least share of a step of what the sentence names
OFTEN = 0.5  # least share of the runs in which it is on the path
Names = tuple[str, str]


def spread_sentence(paths: Sequence[CriticalPath], shares: Sequence[PathShare]) -> str:
    """Return how long a step takes over many runs, and what most of it is.

    Args:
      paths: of each run.
      shares: what is on them, from `tracing.steps.critical_path.path_shares`.
    """
    step = part_spreads(paths)[STEP]
    whole = (
        f"In {len(paths)} runs a step took {duration_text(step.median)} (the median; 8 of 10 took "
        f"{duration_text(step.low)} to {duration_text(step.high)})"
    )
    named = [
        f"{each.median_us / step.median:.0%} is {row_text(each.row)}{_often(each, len(paths))}"
        for each in shares
        if each.runs >= OFTEN * len(paths) and each.median_us >= NAMED * step.median
    ]
    if not named:
        return f"{whole}; no node or transfer is a tenth of it in half of the runs."
    return f"{whole}: {', '.join(named[:-1]) + ' and ' * (len(named) > 1) + named[-1]}."


def spread_table(paths: Sequence[CriticalPath]) -> Table:
    """Return what the critical paths of many runs were made of: a row for the step and each kind.

    Args:
      paths: of each run.
    """
    spreads = part_spreads(paths)
    whole = spreads[STEP].median or 1.0
    header = ("critical path", "median", "a tenth is below", "a tenth is above", "of the step")
    cells = tuple(
        (
            part_text(part),
            *(duration_text(us) for us in (each.median, each.low, each.high)),
            f"{each.median / whole:.0%}",
        )
        for part, each in spreads.items()
    )
    return Table(header, cells, frozenset({1, 2, 3, 4}))


def shift_sentence(found: PartShift, runs: tuple[int, int], names: Names) -> str:
    """Return how much longer or shorter the step of the second set of runs is, and how sure.

    Args:
      found: of the step.
      runs: how many there are of each set.
      names: of both.
    """
    first, second = names
    is_same = runs[0] == runs[1]
    many = f"{runs[0]}" if is_same else f"{runs[0]} and {runs[1]}"
    how = found.shift
    if how.low == -inf:
        return f"{many} runs are too few to compare {second} with {first}: try -n 50."
    if not how.is_significant:
        return (
            f"No difference between {first} and {second} that {many} runs can show: it lies "
            f"between {_signed(how.low)} and {_signed(how.high)} at {LEVEL:.0%}."
        )
    word = "longer" if how.median > 0 else "shorter"
    least, most = sorted((abs(how.low), abs(how.high)))
    share = abs(how.median) / (found.a.median or 1.0)
    return (
        f"A step of {second} is {duration_text(abs(how.median))} {word} than one of {first} "
        f"({share:.0%}), between {duration_text(least)} and {duration_text(most)} at {LEVEL:.0%}, "
        f"over {many} runs{' of each' * is_same}."
    )


def shift_table(found: Sequence[PartShift], names: Names) -> Table:
    """Return how two sets of runs differ, part by part.

    Args:
      found: from `tracing.steps.path_spread.compared_paths`.
      names: of both.
    """
    header = ("critical path", *names, "difference", f"at {LEVEL:.0%}", "")
    cells = tuple(
        (
            part_text(each.part),
            duration_text(each.a.median),
            duration_text(each.b.median),
            _signed(each.shift.median),
            _signed_range(each.shift),
            "" if each.shift.is_significant else "may be chance",
        )
        for each in found
    )
    return Table(header, cells, frozenset({1, 2, 3, 4}))


def part_text(part: str) -> str:
    """Return what a part of the critical path is called: "the step", "computing", ..."""
    return "the step" if part == STEP else KIND_TEXTS[part]


def _often(share: PathShare, runs: int) -> str:
    return "" if share.runs == runs else f" (in {share.runs} runs)"


def _signed(microseconds: float) -> str:
    sign = "\N{MINUS SIGN}" if microseconds < 0 else "+"
    return f"{sign}{duration_text(abs(microseconds))}"


def _signed_range(how: Shift) -> str:
    if how.low == -inf:
        return "too few runs"
    return f"{_signed(how.low)} to {_signed(how.high)}"
