"""Functions of elements by oneDNN give what NumPy's give, and leave to these what is not for it."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf
from tfdist.base import onednn
from tfdist.ops.math import eltwise_onednn

pytestmark = pytest.mark.skipif(
    not onednn.is_available(), reason="oneDNN is not installed: pip install 'tfdist[onednn]'"
)


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def usual_elu(x):
    return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)


ELEMENTWISE = {
    "exp": (eltwise_onednn.exp, np.exp),
    "elu": (eltwise_onednn.elu, usual_elu),
    "sigmoid": (eltwise_onednn.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
}
USUAL = [0.0, 200.0, -200.0, 88.0, -80.0]
SPECIAL = [*USUAL, np.inf, -np.inf, 1e18, -1e18, np.nan]


@pytest.mark.parametrize("in_place", [False, True], ids=["new", "in place"])
@pytest.mark.parametrize("count", [40_000, 123_457])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_elements_are_those_of_numpy(name, count, in_place):
    fast, usual = ELEMENTWISE[name]
    x = 3 * floats(count)
    x[::50] = np.resize(USUAL if name == "exp" else SPECIAL, len(x[::50]))
    with np.errstate(over="ignore"):
        wanted = usual(x.astype(np.float64)).astype(np.float32)
    made = fast(x.reshape(-1, 1), x.reshape(-1, 1) if in_place else None)
    np.testing.assert_allclose(made[:, 0], wanted, rtol=1e-6, atol=1e-7)
    assert not in_place or np.shares_memory(made, x)


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(floats(1000), id="few"),
        pytest.param(floats(40_000, dtype=np.float64), id="64 bits"),
        pytest.param(floats(400, 1000)[:, ::2], id="with gaps"),
    ],
)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_which_elements_are_left_to_numpy(x, name):
    assert ELEMENTWISE[name][0](x) is None


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_exp_of_what_is_no_number_is_that_of_numpy(special):
    x = floats(40_000)
    x[7] = special
    assert eltwise_onednn.exp(x) is None
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.exp(x))[:9], np.exp(x[:9]))
