"""The checkers themselves: what they accept, and what they catch."""

from __future__ import annotations

import pytest

from tests.faults.histories import Counts, QueueModel, check_counter, check_fifo, replay


@pytest.mark.parametrize("value", [5, 6, 7])
def test_unknown_increments_may_have_happened(value):
    check_counter(value, acknowledged=5, unknown=2)


@pytest.mark.parametrize(
    "value", [pytest.param(4, id="one is lost"), pytest.param(8, id="one happened twice")]
)
def test_a_wrong_counter_is_caught(value):
    with pytest.raises(AssertionError, match=f"counter is {value}; 5 increments"):
        check_counter(value, acknowledged=5, unknown=2)


def test_an_element_may_be_missing_if_a_take_is_unknown():
    check_fifo([0, 1], [3, 4], put=5, unknown_takes=1)


@pytest.mark.parametrize(
    ("taken", "inside", "text"),
    [
        pytest.param([0, 1], [3, 4], "1 of 5 elements are lost", id="lost"),
        pytest.param([0, 1, 1], [2, 3, 4], "twice or out of order", id="given twice"),
        pytest.param([0, 1], [1, 2, 3, 4], "twice or out of order", id="given and kept"),
        pytest.param([1, 0], [2, 3, 4], "twice or out of order", id="out of order"),
        pytest.param([0, 1], [2, 3, 4, 5], "nobody put in", id="from nowhere"),
    ],
)
def test_a_wrong_queue_is_caught(taken, inside, text):
    with pytest.raises(AssertionError, match=text):
        check_fifo(taken, inside, put=5, unknown_takes=0)


def after(*lines, inside=()):
    """Return the queue's model after what a client printed."""
    model = QueueModel(list(inside))
    replay(model, Counts(), lines)
    return model


@pytest.mark.parametrize(
    ("model", "inside", "happened"),
    [
        pytest.param(after("put 1", "done 1"), [1], False, id="nothing under way"),
        pytest.param(after("put 1"), [], False, id="a put that had not happened"),
        pytest.param(after("put 1"), [1], True, id="a put that had happened"),
        pytest.param(after("take", inside=[1, 2]), [1, 2], False, id="a take that had not"),
        pytest.param(after("take", inside=[1, 2]), [2], True, id="a take that had"),
        pytest.param(after("take"), [], False, id="a take that waited"),
    ],
)
def test_what_was_under_way_may_have_happened(model, inside, happened):
    assert model.settle(inside) is happened
    assert model == QueueModel(inside)


@pytest.mark.parametrize(
    ("model", "inside"),
    [
        pytest.param(after("put 1", "done 1"), [], id="an acknowledged element is lost"),
        pytest.param(after("put 1"), [1, 1], id="put twice"),
        pytest.param(after("take", inside=[1, 2]), [], id="taken twice"),
        pytest.param(after("take", inside=[1, 2]), [1], id="taken from the end"),
    ],
)
def test_what_nothing_explains_is_caught(model, inside):
    with pytest.raises(AssertionError, match="the queue holds"):
        model.settle(inside)


def test_a_take_out_of_order_is_caught():
    with pytest.raises(AssertionError, match="2 was taken before 1"):
        after("take", "done 2", inside=[1, 2])


def test_increments_are_counted_beside():
    counts = Counts()
    replay(QueueModel([]), counts, ["add", "added", "put 3", "done 3", "add"])
    assert counts == Counts(acknowledged=1, unknown=1)
