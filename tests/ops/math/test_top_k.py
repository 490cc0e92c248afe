"""The greatest elements of rows, by whichever way they are found."""

import numpy as np
import pytest

from tfdist.ops.math.top_k import MOST_TURNS, top_k_kernel

RANDOM = np.random.default_rng(0)
ROWS = {
    "floats": RANDOM.normal(size=(3, 4, 300)).astype(np.float32),
    "whole numbers, many of them equal": RANDOM.integers(-3, 3, (5, 300)),
    "bytes": RANDOM.integers(0, 256, (5, 300), np.uint8),
    "the least number among them": np.full((2, 300), np.iinfo(np.int32).min, np.int32),
    "infinities": np.full((2, 300), -np.inf),
    "float16": RANDOM.normal(size=(5, 300)).astype(np.float16),
    "no rows": np.zeros((0, 300), np.float32),
}


@pytest.mark.parametrize("count", [0, 1, 5, MOST_TURNS // 2, MOST_TURNS, 300])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_greatest_come_first_and_of_equal_ones_the_first(rows, count):
    backwards = np.argsort(rows[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    expected = (rows.shape[-1] - 1 - backwards)[..., :count]
    given = rows.copy()
    values, indices = top_k_kernel(given, count)
    assert (indices == expected).all()
    assert indices.dtype == np.int32
    assert (values == np.take_along_axis(rows, expected, -1)).all()
    assert (given == rows).all()


def test_nan_is_greater_than_all():
    values, indices = top_k_kernel(np.array([[1, np.nan, 3, 2, 0, -1, -2, -3.0]]), 2)
    assert indices.tolist() == [[1, 2]]
    assert np.isnan(values[0, 0])
