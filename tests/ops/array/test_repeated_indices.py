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


def ask_often(ufunc, dtype):
    """Change so many rows that compiling is worth while, where Numba is installed."""
    rows, places, by = np.ones((8, 9), dtype), np.arange(1_000) % 3, np.ones((1_000, 9), dtype)
    for _ in range(3_000):
        change_rows(ufunc, rows, places, by)


@pytest.mark.parametrize("is_often", [False, True], ids=["at first", "after many"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 2, 300], ids=lambda width: f"rows of {width}")
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_rows_change_as_often_as_named_in_that_order(places, ufunc, width, dtype, is_often):
    if is_often:
        ask_often(ufunc, dtype)
    random = np.random.default_rng(0)
    rows = (9 * random.normal(size=(40, width))).astype(dtype)
    by = (9 * random.normal(size=(len(places), width))).astype(dtype)
    by[::7] = 0
    expected = rows.copy()
    ufunc.at(expected, places, by)
    change_rows(ufunc, rows, places, by)
    assert rows.tobytes() == expected.tobytes()


def test_rows_of_several_axes_and_what_changes_them_may_lie_anyhow():
    ask_often(np.add, np.float32)
    rows, places = np.zeros((5, 2, 3), np.float32), np.array([4, 0, 4], np.int32)
    by = np.arange(18, dtype=np.float32).reshape(3, 2, 3).T.copy().T
    by.flags.writeable = False
    change_rows(np.add, rows, places, by)
    expected = np.zeros((5, 2, 3), np.float32)
    np.add.at(expected, places, by)
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("place", [5, -6])
def test_a_row_that_is_not_there_is_never_written(place):
    ask_often(np.add, np.float32)
    with pytest.raises(IndexError):
        change_rows(
            np.add, np.zeros((5, 9), np.float32), np.array([0, place]), np.ones((2, 9), "f")
        )


def test_earlier_times_count_from_zero():
    assert earlier_times(np.array([5, 3, 5, 5, 3])).tolist() == [0, 0, 1, 2, 1]


def test_turns_name_no_index_twice_and_leave_none_out():
    indices = np.array([5, 3, 5, 5, 4])
    found = [indices[turn].tolist() for turn in turns(indices)]
    assert found == [[5, 3, 4], [5], [5]]


@pytest.mark.parametrize(("indices", "differ"), [([], True), ([1, 2], True), ([2, 1, 2], False)])
def test_all_differ(indices, differ):
    assert all_differ(np.array(indices)) is differ
