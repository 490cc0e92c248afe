"""Two steps side by side."""

import pytest

from tests.tracing.samples import PS, WORKER0, WORKER1, node, step, transfer
from tfdist.tracing.steps.comparison import compare, times_text
from tfdist.tracing.steps.rows import rows


def traced(device=WORKER1, took=100, extra=()):
    """Return the rows of a step: worker 0 multiplies, `device` adds."""
    multiplied = [node("MatMul", "MatMul", "", 10, took)]
    added = [node("add", "AddV2", "MatMul_S1", 30 + took, 20), *extra]
    if device == WORKER1:
        added.insert(0, transfer("MatMul", WORKER0, WORKER1, 12 + took, 10))
    return rows(step((WORKER0, multiplied), (device, added)))


def text(microseconds):
    return f"{microseconds:.0f} us"


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        pytest.param(
            traced(), traced(took=50),
            "B took 50 us less than A: worker:0 computed MatMul in half the time.", id="faster",
        ),
        pytest.param(
            traced(), traced(took=300),
            "B took 200 us more than A: worker:0 computed MatMul in 3 times the time.", id="slower",
        ),
        pytest.param(traced(), traced(), "B took as long as A (140 us).", id="the same"),
        pytest.param(
            traced(), traced(WORKER0),
            "B took as long as A (140 us): 1 transfer fewer; 1 node on another device.", id="moved",
        ),
        pytest.param(
            traced(WORKER0), traced(extra=[node("neg", "Neg", "add", 131, 1)]),
            "B took as long as A (140 us): 1 transfer more; 1 node more; 1 node on another device.",
            id="more",
        ),
        pytest.param(
            [], traced(), "B took 140 us more than A: 1 transfer more; 2 nodes more.", id="empty",
        ),
    ],
)  # fmt: skip
def test_the_sentence_says_what_matters_first(a, b, sentence):
    assert compare(a, b).sentence(text) == sentence


def test_without_times_only_what_came_went_or_moved_is_told():
    found = compare(traced(), traced(WORKER0, took=5), ("before", "after"))
    assert found.sentence() == "after beside before: 1 transfer fewer; 1 node on another device."


def test_pairs_are_matched_by_name_and_ordered_by_change():
    found = compare(traced(), traced(WORKER0, took=40))
    assert [(pair.row.name, pair.is_transfer, pair.change_us) for pair in found.pairs] == [
        ("MatMul", False, -60), ("MatMul", True, -10), ("add", False, 0),
    ]  # fmt: skip
    assert [pair.row.name for pair in found.moved] == ["add"]
    assert [pair.row.kind for pair in found.gone] == ["transfer"]
    assert found.new == []
    assert found.pairs[0].ratio == pytest.approx(0.4)


def test_equal_names_on_two_tasks_stay_apart():
    both = rows(step((PS, [node("x", "Neg", "", 0, 5)]), (WORKER0, [node("x", "Neg", "", 0, 9)])))
    found = compare(both, both)
    assert len(found.pairs) == 2
    assert not any(pair.change_us or pair.has_moved for pair in found.pairs)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.5, "in half the time"),
        (0.25, "in 25% of the time"),
        (2.1, "in 2.1 times the time"),
        (None, ""),
    ],
)
def test_ratios_read_as_words(ratio, words):
    assert times_text(ratio) == words
