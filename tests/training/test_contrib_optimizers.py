"""The optimizers of tf.contrib.opt make the nodes of TensorFlow 1.15.5, and the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training import contrib_optimizer_programs as programs

OPT = tf.contrib.opt
EXPECTED = json.loads(
    (Path(__file__).parent / "expected_contrib_1_15.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("line", programs.OPTIMIZERS)
def test_an_optimizer_makes_what_it_makes_there(line, use_resource):
    found = programs.outcome(tf, line, use_resource)
    wanted = EXPECTED[f"{line} {use_resource}"]
    assert found["nodes"] == wanted["nodes"]
    assert found["names"] == wanted["names"]
    if wanted["values"] is not None:
        for value, expected in zip(found["values"], wanted["values"], strict=True):
            np.testing.assert_allclose(value, expected, 2e-5, 1e-6)


def sgd():
    return tf.train.GradientDescentOptimizer(0.1)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        pytest.param(
            lambda: OPT.LARSOptimizer(0.1, momentum=-1.0), ValueError,
            "momentum should be positive", id="a negative momentum",
        ),
        pytest.param(
            lambda: OPT.MultitaskOptimizerWrapper(3), TypeError,
            "must be an instance of tf.train.Optimizer", id="no optimizer",
        ),
        pytest.param(
            lambda: OPT.AddSignOptimizer(sign_decay_fn=lambda step: step).minimize(
                tf.get_variable("v", []) * 1.0
            ),
            ValueError, "needs the global step", id="a decay of steps that nobody counts",
        ),
        pytest.param(
            lambda: OPT.MovingAverageOptimizer(sgd()).swapping_saver(), RuntimeError,
            "Must call apply_gradients or minimize", id="averages that are not there yet",
        ),
        pytest.param(
            lambda: OPT.DropStaleGradientOptimizer(sgd(), 1).apply_gradients([]), ValueError,
            "Global step is required", id="staleness without a step",
        ),
        pytest.param(
            lambda: OPT.ElasticAverageOptimizer(
                sgd(), 2, OPT.ElasticAverageCustomGetter("")
            ).minimize(tf.get_variable("v", []) * 1.0),
            KeyError, "was not made through this ElasticAverageCustomGetter",
            id="a variable without a centre",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(make, error, words):
    with pytest.raises(error, match=words):
        make()
