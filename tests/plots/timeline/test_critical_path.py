"""What is said and drawn of a critical path."""

from tests.tracing.samples import PS, WORKER0, three_tasks
from tests.tracing.steps.test_critical_path import node, transfer
from tfdist.plots.timeline.critical_path import (
    COLOUR,
    critical_path_figure,
    critical_path_sentence,
    critical_path_table,
    savings_sentence,
    savings_table,
    shares_table,
)
from tfdist.tracing.steps.critical_path import critical_path, path_shares
from tfdist.tracing.steps.replay import Replay
from tfdist.tracing.steps.rows import rows

STEP = [node("grads/w1", 0, 20), transfer("grads/w1", 20, 62), node("w1", 82, 18, "grads/w1",
        device=WORKER0)]  # fmt: skip


def test_sentence():
    assert critical_path_sentence(critical_path(STEP)) == (
        "Critical path of 100 µs: 62% transfers, 38% computing. 62% is the way of grads/w1 from "
        "/job:ps/task:0 to /job:worker/task:0, 20% is grads/w1 on /job:ps/task:0 and 18% is w1 on "
        "/job:worker/task:0."
    )


def test_sentences_where_there_is_nothing_to_tell():
    assert critical_path_sentence(critical_path([])) == ("Nothing ran: there is no critical path.")
    assert savings_sentence([], 0.0) == ""
    many = [node(f"n{i}", 10 * i, 10) for i in range(20)]
    assert critical_path_sentence(critical_path(many)).endswith(
        "No node or transfer is a tenth of it."
    )


def test_what_would_make_the_step_shorter():
    savings = Replay(STEP).savings()
    assert savings_sentence(savings, 100) == (
        "Twice as fast, all tensors from /job:ps/task:0 to /job:worker/task:0 would make the step "
        "31% shorter."
    )
    table = savings_table(savings, 100)
    assert table.rows[0] == (
        "link", "all tensors from /job:ps/task:0 to /job:worker/task:0", "31 µs", "31%",
    )  # fmt: skip


def test_table_is_in_order_of_time_and_says_what_is_left_out():
    table = critical_path_table(critical_path(STEP), most=2)
    assert [row[:2] for row in table.rows] == [("1", "grads/w1"), ("2", "grads/w1")]
    assert table.rows[1][-1] == "from /job:ps/task:0"
    assert table.note == "1 shorter ones, 18 µs together"


def test_table_of_waits():
    step = [node("a", 0, 10), node("other", 11, 4, device=WORKER0), node("b", 16, 5, "a")]
    (_, second) = critical_path_table(critical_path(step)).rows
    assert second == ("2", "b", "Neg", "/job:ps/task:0", "6.0 µs", "5.0 µs", "52%",
                      "waited while other ran")  # fmt: skip


def test_table_of_several_runs():
    shares = path_shares([critical_path(STEP)] * 3)
    assert shares_table(shares, 3).rows[0][3:] == ("3 of 3 runs", "62 µs")


def test_the_line_goes_through_the_bars_of_the_path():
    step = rows(three_tasks())
    path = critical_path(step)
    (axes,) = critical_path_figure(step, path).axes
    line = next(each for each in axes.lines if each.get_color() == COLOUR)
    assert list(line.get_xdata())[-1] == path.span_us
    assert PS in {row.device for row in path.rows}
