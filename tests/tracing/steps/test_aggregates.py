"""What rows come to: nodes over all rounds, rounds, and loops."""

from tests.tracing.samples import WORKER0, WORKER1, in_round, loop, node, step, three_tasks
from tfdist.tracing.steps.aggregates import LoopTotal, loop_totals, node_sums, round_totals
from tfdist.tracing.steps.node_row import TRANSFER
from tfdist.tracing.steps.rows import rows


def test_runs_of_a_node_are_summed_up_over_rounds():
    sums = {
        (each.row.device, each.row.kind, each.row.name): each for each in node_sums(rows(loop(4)))
    }
    less = sums[WORKER0, "compute", "while/less"]
    assert (less.runs, less.bytes, less.total_us, less.longest_us) == (5, 20, 15, 3)
    moved = sums[WORKER1, TRANSFER, "while/Identity"]
    assert (moved.runs, moved.bytes, moved.total_us) == (4, 16, 40)
    assert less.row.rounds.numbers == (0,)
    assert sums[WORKER0, "compute", "done"].runs == 1


def test_rows_outside_of_loops_stay_as_they_are():
    twice = rows(step((WORKER0, [node("n", "Add", "", start, 1) for start in (0, 20)])))
    assert [each.row for each in node_sums(twice)] == twice
    assert [each.row for each in node_sums(rows(three_tasks()))] == rows(three_tasks())


def test_loops_tell_how_often_they_went_round():
    assert loop_totals(rows(loop(4))) == [LoopTotal(("while",), 4, 4, 1)]
    assert loop_totals(rows(three_tasks())) == []


def test_a_loop_in_a_loop_may_go_round_differently_often():
    inner = [
        in_round(node("n", "Add", "", 0, 1), i, j, loops=("a", "b"))
        for i, last in enumerate((2, 0, 5))
        for j in range(last + 1)
    ]
    assert loop_totals(rows(step((WORKER0, inner)))) == [
        LoopTotal(("a",), 2, 2, 1),
        LoopTotal(("a", "b"), 0, 5, 3),
    ]


def test_rounds_count_what_ran_and_crossed_in_them():
    first, second, last = round_totals(rows(loop(2)))
    assert (first.rounds.numbers, second.rounds.numbers) == ((0,), (1,))
    assert (second.nodes, second.transfers, second.received_bytes) == (7, 2, 8)
    assert (second.start_us, second.end_us) == (110, 201)
    assert (last.nodes, last.transfers) == (5, 0)


def test_a_round_counts_the_rounds_inside():
    inner = [in_round(node("n", "Add", "", j, 1), 0, j, loops=("a", "b")) for j in range(3)]
    counts = {
        each.rounds.numbers: each.nodes for each in round_totals(rows(step((WORKER0, inner))))
    }
    assert counts == {(0,): 3, (0, 0): 1, (0, 1): 1, (0, 2): 1}
