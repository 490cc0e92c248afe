"""What is said of many runs of a step, and of two sets of them."""

from math import inf

import pytest

from tests.tracing.steps.test_path_spread import paths
from tfdist.plots.timeline.path_spread import (
    shift_sentence,
    shift_table,
    spread_sentence,
    spread_table,
)
from tfdist.plots.timeline.path_spread_figure import spread_figure
from tfdist.tracing.steps.critical_path import path_shares
from tfdist.tracing.steps.path_spread import PartShift, compared_paths
from tfdist.tracing.steps.significance import Shift
from tfdist.tracing.steps.spread import Spread

MINUS = "\N{MINUS SIGN}"
NAMES = ("before", "after")


def test_the_sentence_names_what_most_of_a_step_is():
    found = paths(*[1000] * 8, 2000, 3000, way=800)
    assert spread_sentence(found, path_shares(found)) == (
        "In 10 runs a step took 1.8 ms (the median; 8 of 10 took 1.8 ms to 2.9 ms): 56% is a on "
        "/job:ps/task:0 and 44% is the way of a from /job:ps/task:0 to /job:worker/task:0."
    )


def test_where_nothing_is_a_tenth_nothing_is_named():
    found = paths(*[1000] * 4)
    assert spread_sentence(found, []).endswith(
        "; no node or transfer is a tenth of it in half of the runs."
    )


def test_a_row_for_the_step_and_for_each_kind():
    table = spread_table(paths(1000, 2000, 3000, way=500))
    assert [row[0] for row in table.rows] == ["the step", "computing", "transfers"]
    assert table.rows[0] == ("the step", "2.5 ms", "1.7 ms", "3.3 ms", "100%")


def part(median, low, high):
    whole = Spread(10_000, 10_000, 9_000, 11_000)
    return PartShift("step", whole, whole, Shift(median, low, high))


SENTENCES = [
    (
        "shorter", part(-3100, -4000, -2200), (50, 50),
        "A step of after is 3.1 ms shorter than one of before (31%), between 2.2 ms and 4 ms at "
        "95%, over 50 runs of each.",
    ),
    (
        "longer", part(100, 50, 150), (50, 40),
        "A step of after is 100 µs longer than one of before (1%), between 50 µs and 150 µs at "
        "95%, over 50 and 40 runs.",
    ),
    (
        "no difference", part(20, -800, 1100), (50, 50),
        "No difference between before and after that 50 runs can show: it lies between "
        f"{MINUS}800 µs and +1.1 ms at 95%.",
    ),
    (
        "too few", part(20, -inf, inf), (2, 2),
        "2 runs are too few to compare after with before: try -n 50.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "runs", "expected"), [c[1:] for c in SENTENCES], ids=[c[0] for c in SENTENCES]
)
def test_difference_in_words(found, runs, expected):
    assert shift_sentence(found, runs, NAMES) == expected


def test_differences_part_by_part():
    before, after = paths(*range(1000, 1020)), paths(*range(1000, 1020), way=405)
    table = shift_table(compared_paths(before, after), NAMES)
    assert [row[0] for row in table.rows] == ["the step", "computing", "transfers"]
    assert table.rows[1][3:] == ("+0 µs", f"{MINUS}4.0 µs to +4.0 µs", "may be chance")
    assert table.rows[2][3:] == ("+400 µs", "+400 µs to +400 µs", "")


def drawn_runs(axes):
    """Return the milliseconds of the dots, set by set, part by part."""
    return [collection.get_offsets()[:, 0].tolist() for collection in axes.collections]


def test_each_run_is_a_dot_in_a_row_for_each_part():
    [axes] = spread_figure([("", paths(1000, 3000, 2000, way=500))]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "the step", "computing", "transfers",
    ]  # fmt: skip
    assert drawn_runs(axes)[0] == pytest.approx([1.501, 3.501, 2.501])
    assert drawn_runs(axes)[2] == pytest.approx([0.5] * 3)


def test_two_sets_have_colours_and_a_legend():
    figure = spread_figure([("before", paths(1000, 2000)), ("after", paths(900, 800, way=1))])
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["before", "after"]
    assert len(drawn_runs(figure.axes[0])) == 2 * 3


def test_a_run_that_was_held_up_does_not_squeeze_the_others():
    [axes] = spread_figure([("", paths(*[1000] * 9, 90_000))]).axes
    assert max(drawn_runs(axes)[0]) == pytest.approx(5 * 1.006)
    assert "drawn at the right edge" in axes.get_xlabel()
