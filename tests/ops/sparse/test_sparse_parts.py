"""Which indices of sparse tensors are accepted, and what is told of the first wrong one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.ops.sparse.components import check_order

FAR = 2**40


@pytest.mark.parametrize(
    ("indices", "shape", "said"),
    [
        pytest.param([[0], [2], [3]], [4], None, id="a vector's places, in order"),
        pytest.param([[0], [4]], [4], r"indices\[1\] = \[4\] is out of bounds", id="past the end"),
        pytest.param([[-1], [0]], [4], r"indices\[0\] = \[-1\] is out of b", id="before the front"),
        pytest.param([[2], [1]], [4], r"indices\[1\] = \[1\] is out of order", id="backwards"),
        pytest.param([[2], [2]], [4], r"indices\[1\] = \[2\] is repeated", id="twice"),
        pytest.param([[0, 3], [1, 0]], [2, 4], None, id="the first axis counts most"),
        pytest.param(
            [[0, 0], [0, 4]], [2, 4], r"indices\[1\] = \[0,4\] is out", id="the next row's"
        ),
        pytest.param([[1, 0], [0, 3]], [2, 4], "out of order", id="the last axis counts least"),
        pytest.param(np.zeros((0, 2)), [0, FAR], None, id="no elements in no room"),
        pytest.param([[0, 0]], [0, FAR], "out of bounds", id="an element in no room"),
        pytest.param([[0] * 3, [0, 0, FAR - 1]], [FAR] * 3, None, id="more places than int64 has"),
        pytest.param([[0, 1, 0], [0, 0, 9]], [FAR] * 3, "out of order", id="backwards among them"),
        pytest.param(np.zeros((1, 0)), [], None, id="a scalar"),
    ],
)
def test_indices_are_inside_ascend_and_occur_once(indices, shape, said):
    indices, shape = np.array(indices, np.int64), np.array(shape, np.int64)
    if said is None:
        check_order(indices, shape)
    else:
        with pytest.raises(InvalidArgumentError, match=said):
            check_order(indices, shape)


@pytest.mark.parametrize("count", [1, 2])
def test_all_small_indices_are_judged_as_pairs_of_numbers(count):
    shape = (2, 3)
    places = list(itertools.product(range(-1, 3), range(-1, 4)))
    for rows in itertools.product(places, repeat=count):
        inside = all(
            0 <= place < size for row in rows for place, size in zip(row, shape, strict=True)
        )
        is_right = inside and all(one < other for one, other in itertools.pairwise(rows))
        try:
            check_order(np.array(rows), np.array(shape))
            assert is_right, rows
        except InvalidArgumentError:
            assert not is_right, rows
