"""Rows that are named several times change as `ufunc.at` changes them, to the last bit."""

import numpy as np
import pytest

from tfdist.ops.array.repeated_indices import all_differ, change_rows, earlier_times, turns

PLACES = {
    "all differ": np.arange(40)[::-1],
    "some twice: a long first turn, then few": np.array([*range(30), 3, 4, 5]),
    "all twice: two long turns": np.repeat(np.arange(30), 2),
    "one very often": np.array([7] * 50 + [1, 2]),
    "one only": np.array([3]),
    "none": np.zeros(0, np.int64),
}


@pytest.mark.parametrize("width", [1, 2, 300], ids=lambda width: f"rows of {width}")
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_rows_change_as_often_as_named_in_that_order(places, ufunc, width):
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, width)).astype(np.float32)
    by = random.normal(size=(len(places), width)).astype(np.float32)
    expected = rows.copy()
    ufunc.at(expected, places, by)
    change_rows(ufunc, rows, places, by)
    assert rows.tobytes() == expected.tobytes()


def test_earlier_times_count_from_zero():
    assert earlier_times(np.array([5, 3, 5, 5, 3])).tolist() == [0, 0, 1, 2, 1]


def test_turns_name_no_index_twice_and_leave_none_out():
    indices = np.array([5, 3, 5, 5, 4])
    found = [indices[turn].tolist() for turn in turns(indices)]
    assert found == [[5, 3, 4], [5], [5]]


@pytest.mark.parametrize(("indices", "differ"), [([], True), ([1, 2], True), ([2, 1, 2], False)])
def test_all_differ(indices, differ):
    assert all_differ(np.array(indices)) is differ
