"""How a label tells rounds, and in which rounds what a node made is taken."""

import pytest

from tfdist.tracing.steps.loop_iterations import (
    OUTSIDE,
    Rounds,
    given_to,
    loop_name,
    split_rounds,
    with_rounds,
)

LABEL = "while/add = Add(while/Identity, while/y)"


@pytest.mark.parametrize(
    ("rounds", "told"),
    [
        (Rounds(("while",), (3,)), f"{LABEL} [round 3 of while]"),
        (Rounds(("a/b", "a/b/c_1"), (12, 0)), f"{LABEL} [round 12/0 of a/b, a/b/c_1]"),
        (OUTSIDE, LABEL),
    ],
)
def test_a_label_tells_rounds_and_can_be_read_back(rounds, told):
    assert with_rounds(LABEL, rounds) == told
    assert split_rounds(told) == (LABEL, rounds)


@pytest.mark.parametrize(
    "label",
    [
        "_SOURCE = NoOp() [clock +5 us +- 2 us]",
        "id=1,device=/job:ps,async=false",
        "a [round of while]",
        "a [round 1/2 of while]",  # of two loops, but one is named
        "",
    ],
)
def test_other_labels_are_of_no_loop(label):
    assert split_rounds(label) == (label, OUTSIDE)


def test_names_that_would_confuse_a_reader_are_told_without_their_signs():
    told = with_rounds(LABEL, Rounds(("a) = b(c, d]",), (0,)))
    assert told == f"{LABEL} [round 0 of a____b_c__d_]"
    assert split_rounds(told)[0] == LABEL


@pytest.mark.parametrize(
    ("frame", "expected"),
    [("while/while_context", "while"), ("f", "f"), ("/while_context", "/while_context")],
)
def test_a_loop_is_called_after_its_scope(frame, expected):
    assert loop_name(frame) == expected


@pytest.mark.parametrize(
    ("op", "numbers"),
    [("Add", (4, 2)), ("Exit", (4,)), ("RefNextIteration", (4, 3)), ("Enter", (4, 2))],
)
def test_what_a_node_makes_is_taken_in_its_round_behind_the_loop_or_in_the_next_one(op, numbers):
    assert given_to(op, Rounds(("a", "b"), (4, 2))) == numbers
    assert given_to(op, OUTSIDE) == ()
