"""Predictions beside what slowing the rest showed."""

from math import inf

from tests.tracing.samples import PS, WORKER0
from tfdist.launch.causal_check import CheckedSaving
from tfdist.plots.timeline.causal_check import check_sentence, check_table
from tfdist.tracing.steps.replay import Saving
from tfdist.tracing.steps.significance import Shift

FOUND = [
    CheckedSaving(Saving("link", "", WORKER0, PS, 1600.0), Shift(1440.0, 860.0, 1990.0)),
    CheckedSaving(Saving("task", "", WORKER0, "", 300.0), Shift(-182.0, -674.0, -43.0)),
    CheckedSaving(Saving("task", "", PS, "", 300.0), Shift(250.0, -inf, inf)),
]


def test_the_sentence_counts_what_was_right():
    assert check_sentence(FOUND) == (
        "With everything twice as slow but one part: 2 of 3 predictions of what that part would "
        "save lie within the interval at 95%."
    )
    assert check_sentence([]).startswith("No task or link is slow enough")


def test_a_row_has_both_and_says_what_was_wrong():
    rows = check_table(FOUND).rows
    assert rows[0][2:] == ("1.6 ms", "1.44 ms", "860 µs to 1.99 ms", "")
    minus = "\N{MINUS SIGN}"
    assert rows[1][2:] == (
        "300 µs", f"{minus}182 µs", f"{minus}674 µs to {minus}43 µs", "not as predicted",
    )  # fmt: skip
    assert rows[2][4:] == ("any to any", "")
