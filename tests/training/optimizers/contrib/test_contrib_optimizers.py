"""The optimizers of tf.contrib.opt make the nodes of TensorFlow 1.15.5, and the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.optimizers.contrib import contrib_optimizer_programs as programs

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


# What 1.15.5 makes of a variable [2, 3] or [3] in two steps; with what arguments.
SHAMPOO = {
    "matrices": ({}, [[0.65775806, 0.82088298, 1.02164054], [1.36680019, 1.69115555, 1.99587047]]),
    "older gradients count": (
        {"gbar_decay": 0.9, "gbar_weight": 0.5, "mat_gbar_decay": 0.8, "mat_gbar_weight": 0.7,
         "alpha": 0.4, "epsilon": 0.01},
        [[0.6228863, 0.84192419, 0.98887104], [1.33517647, 1.62573242, 1.91818202]],
    ),
    "a long axis": (
        {"max_matrix_size": 2},
        [[0.53682613, 0.80963403, 1.07190716], [1.33313179, 1.64284396, 1.95531535]],
    ),
    "now and then": (
        {"svd_interval": 2, "precond_update_interval": 3},
        [[-4.99375010, -11.09375, -16.49374962], [-19.59374809, -19.59374619, -16.49374962]],
    ),
    "a vector": ({}, [0.37524891, 0.61637509, 0.98516941]),
}  # fmt: skip


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("case", SHAMPOO)
def test_shampoo_gives_the_numbers_of_1_15(case, use_resource):
    options, expected = SHAMPOO[case]
    size = np.size(expected)
    with tf.Graph().as_default(), tf.Session() as session:
        start = (np.arange(size, dtype=np.float32) / 3 + 0.5).reshape(np.shape(expected))
        v = tf.get_variable("v", initializer=start, use_resource=use_resource)
        step = tf.train.get_or_create_global_step()
        train = OPT.ShampooOptimizer(step, learning_rate=0.1, **options).minimize(
            tf.reduce_sum(v * v * v), step
        )
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train)
        np.testing.assert_allclose(session.run(v), expected, 2e-4)


# What 1.15.5 makes of two variables of float64 in six steps, twice as many as the window is long.
GGT = [
    [[0.47172308, -0.87058412, 1.637596], [0.0, 2.39988384, -0.24581785]],
    [0.87872502, -1.75745005],
]


def test_ggt_forgets_what_its_window_does_not_show():
    with tf.Graph().as_default(), tf.Session() as session:
        begins = [[0.5, -1.0, 2.0], [0.0, 3.0, -0.25]], [1.0, -2.0]
        v, w = (tf.Variable(np.float64(each), name=n) for n, each in zip("vb", begins, strict=True))
        loss = tf.reduce_sum(v**4) + tf.reduce_sum(w * w)
        train = OPT.GGTOptimizer(0.1, window=3).minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(6):
            session.run(train)
        for found, wanted in zip(session.run([v, w]), GGT, strict=True):
            np.testing.assert_allclose(found, wanted, 1e-5)


def test_shampoo_takes_rows():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.ones([3, 2], np.float32))
        loss = tf.reduce_sum(tf.gather(v, [1]))
        train = OPT.ShampooOptimizer(learning_rate=0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = session.run(v)
    assert found[[0, 2]].tolist() == [[1, 1], [1, 1]]
    assert (found[1] < 1).all()


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
            lambda: OPT.GGTOptimizer().minimize(tf.gather(tf.get_variable("v", [3]), [0])),
            NotImplementedError, "GGTOptimizer has no _apply_sparse",
            id="rows, at which 1.15.5 fails as well",
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
