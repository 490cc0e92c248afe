"""Random ops: their distributions, bounds, types and seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph import Graph
from tfdist.ops.array.constants import constant
from tfdist.ops.random import distributions, random_ops


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


class Context:
    """A task whose generators start from the node's seeds."""

    def rng(self, seed: int, seed2: int) -> np.random.Generator:
        return np.random.default_rng([seed, seed2])

    def reserve(self, blocks: int) -> int:
        return 0


def draw(kernel: Any, *inputs: Any, **attrs: Any) -> Any:
    return kernel(Context(), *inputs, seed=1, seed2=2, **attrs)


SHAPE = np.array([100, 200])


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_fill_the_unit_interval(name):
    dtype = dtypes.as_dtype(name)
    drawn = draw(random_ops.random_uniform_kernel, SHAPE, dtype=dtype)
    assert drawn.dtype == dtype.as_numpy_dtype
    numbers = drawn.astype(float)
    assert 0 <= numbers.min() < 0.01
    assert 0.98 < numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_normal_numbers_have_mean_0_and_deviation_1(name):
    numbers = draw(random_ops.random_standard_normal_kernel, SHAPE, dtype=dtypes.as_dtype(name))
    assert numbers.dtype == name
    assert abs(numbers.astype(float).mean()) < 0.03
    assert abs(numbers.astype(float).std() - 1) < 0.02


def test_truncated_numbers_stay_within_two_deviations():
    numbers = draw(random_ops.truncated_normal_kernel, SHAPE, dtype=dtypes.float32)
    assert np.abs(numbers).max() <= 2
    assert abs(numbers.std() - 0.88) < 0.01  # of a normal distribution cut there


def test_a_truncated_scalar_is_a_scalar():
    assert (
        draw(random_ops.truncated_normal_kernel, np.array([], int), dtype=dtypes.float32).shape
        == ()
    )


def test_integers_reach_both_ends_but_not_maxval():
    bounds = np.int32(-2), np.int32(3)
    drawn = draw(random_ops.random_uniform_int_kernel, SHAPE, *bounds, Tout=dtypes.int32)
    assert set(drawn.reshape(-1).tolist()) == {-2, -1, 0, 1, 2}
    assert drawn.dtype == np.int32


def test_integers_need_an_interval():
    with pytest.raises(InvalidArgumentError, match="minval < maxval, got 3 >= 3"):
        draw(
            random_ops.random_uniform_int_kernel, SHAPE, np.int32(3), np.int32(3), Tout=dtypes.int32
        )


def test_integers_need_maxval():
    with pytest.raises(ValueError, match="needs `maxval` for int32"):
        random_ops.random_uniform([2], dtype="int32")


def test_shuffle_keeps_rows_together():
    rows = np.arange(20).reshape(10, 2)
    shuffled = draw(random_ops.random_shuffle_kernel, rows)
    assert sorted(shuffled.tolist()) == rows.tolist()
    assert shuffled.tolist() != rows.tolist()


def test_multinomial_follows_the_probabilities():
    logits = np.log(np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]], np.float32))
    drawn = draw(
        distributions.multinomial_kernel, logits, np.int32(20000), output_dtype=dtypes.int64
    )
    shares = [np.bincount(row, minlength=3) / 20000 for row in drawn]
    np.testing.assert_allclose(shares, np.exp(logits), atol=0.02)


def test_gamma_and_poisson_have_the_means_asked_for():
    size = np.array([20000])
    alpha = np.array([0.5, 3.0], np.float32)
    gamma = draw(distributions.random_gamma_kernel, size, alpha)
    np.testing.assert_allclose(gamma.mean(0), alpha, rtol=0.05)
    poisson = draw(distributions.random_poisson_kernel, size, alpha, dtype=dtypes.int64)
    np.testing.assert_allclose(poisson.mean(0), alpha, rtol=0.05)
    assert poisson.dtype == np.int64


# seeds


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "nodes", "seeds"),
    [
        pytest.param(None, None, 3, (0, 0), id="none: every session draws other numbers"),
        pytest.param(None, 9, 3, (87654321, 9), id="of the op: a fixed one for the graph"),
        pytest.param(5, None, 3, (5, 3), id="of the graph: the number of nodes for the op"),
        pytest.param(5, 9, 3, (5, 9), id="both"),
        pytest.param(0, 0, 3, (0, 2**31 - 1), id="zeros do not mean none"),
        pytest.param(2**40, None, 1, (512, 1), id="large ones are folded"),
    ],
)
def test_get_seed(graph_seed, op_seed, nodes, seeds):
    random_ops.set_random_seed(graph_seed)
    for _ in range(nodes):
        constant(1)
    assert random_ops.get_seed(op_seed) == seeds


def test_two_ops_of_a_seeded_graph_differ():
    random_ops.set_random_seed(1)
    one, other = random_ops.random_normal([2]), random_ops.random_normal([2])
    seeds = [t.op.inputs[0].op.inputs[0].op.get_attr("seed2") for t in (one, other)]
    assert len(set(seeds)) == 2
