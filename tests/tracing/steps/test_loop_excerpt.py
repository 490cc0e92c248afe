"""First and last rounds of long loops."""

import pytest

from tests.tracing.samples import WORKER0, in_round, loop, node, step, three_tasks
from tfdist.tracing.steps.loop_excerpt import OmittedIterations, omit_iterations
from tfdist.tracing.steps.loop_iterations import Rounds
from tfdist.tracing.steps.rows import rows

LONG = rows(loop(1000))


@pytest.mark.parametrize("stats", [three_tasks(), loop(5)], ids=["no loop", "short loop"])
def test_what_is_short_is_kept(stats):
    found = rows(stats)
    assert omit_iterations(found, 100) == (found, [])


def test_what_is_in_no_loop_is_kept_however_much_it_is():
    found = rows(three_tasks())
    assert omit_iterations(found, 1) == (found, [])


@pytest.mark.parametrize("most", [30, 100, 1000])
def test_first_and_last_rounds_are_kept_and_no_more_than_asked_for(most):
    kept, [left_out] = omit_iterations(LONG, most)
    assert len(kept) <= most
    numbers = {row.rounds.numbers[0] for row in kept if row.rounds.numbers}
    first, last = left_out.first, left_out.last
    assert numbers == {*range(first), *range(last + 1, 1001)}
    assert first == 1000 - last >= 1
    assert left_out.rounds == 1001 - len(numbers)


def test_one_round_at_each_end_is_kept_at_least():
    kept, [left_out] = omit_iterations(LONG, 1)
    assert {row.rounds.numbers for row in kept} == {(), (0,), (1000,)}
    assert str(left_out) == "rounds 1 to 999 of while left out (999)"


def test_loops_in_a_loop_are_abridged_where_they_are_shown():
    inner = [
        in_round(node("n", "Add", "", 0, 1), i, j, loops=("a", "a/b"))
        for i in range(9)
        for j in range(9)
    ]
    kept, left_out = omit_iterations(rows(step((WORKER0, inner))), 8)
    assert sorted(row.rounds.numbers for row in kept) == [(0, 0), (0, 8), (8, 0), (8, 8)]
    assert left_out == [
        OmittedIterations(("a",), (), 1, 7),
        OmittedIterations(("a", "a/b"), (0,), 1, 7),
        OmittedIterations(("a", "a/b"), (8,), 1, 7),
    ]
    assert str(left_out[2]) == "rounds 8/1 to 8/7 of a/b left out (7)"


def test_rounds_are_on_one_side_of_what_is_left_out():
    left_out = OmittedIterations(("a", "b"), (4,), 2, 7)
    sides = [left_out.side(Rounds(("a", "b"), (4, number))) for number in (1, 2, 7, 8)]
    assert sides == [-1, 0, 0, 1]
    assert left_out.side(Rounds(("a", "b"), (5, 1))) == left_out.side(Rounds(("a",), (4,))) == 0
    assert left_out.side(Rounds(("a", "b", "c"), (4, 9, 0))) == 1


def test_a_single_round_is_told_as_one():
    assert str(OmittedIterations(("a",), (), 3, 3)) == "round 3 of a left out (1)"
