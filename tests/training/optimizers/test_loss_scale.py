"""Scaled losses; what tf.train.experimental does is 1.15.5's."""

import pytest

import tfdist as tf

E = tf.train.experimental


def sgd():
    return tf.train.GradientDescentOptimizer(0.1)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        pytest.param(lambda: E.FixedLossScale(8.0), [0.9, 0.8, 0.7, -float("inf")],
                     id="a fixed scale applies whatever comes"),
        pytest.param(lambda: E.DynamicLossScale(8.0, 2, 2.0), [0.9, 0.8, 0.7, 0.7],
                     id="a dynamic one leaves a step out"),
    ],
)  # fmt: skip
def test_steps_with_gradients_that_are_not_finite(scale, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        v, slope = tf.Variable(1.0), tf.placeholder(tf.float32, [])
        loss_scale = scale()
        optimizer = E.MixedPrecisionLossScaleOptimizer(sgd(), loss_scale)
        pairs = optimizer.compute_gradients(v * slope, [v])
        step = optimizer.apply_gradients(pairs)
        session.run(tf.global_variables_initializer())
        assert session.run(pairs[0][0], {slope: 3.0}) == 3.0
        found, scales = [], []
        for each in (1.0, 1.0, 1.0, float("inf")):
            session.run(step, {slope: each})
            found.append(float(session.run(v)))
            scales.append(float(session.run(loss_scale())))
    assert found == pytest.approx(expected)
    assert scales == ([8.0] * 4 if "Fixed" in type(loss_scale).__name__ else [8.0, 16.0, 16.0, 8.0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: E.FixedLossScale(0.5), "must be at least 1"),
        (lambda: E.FixedLossScale("x"), "must be a Python int or float"),
        (lambda: E.MixedPrecisionLossScaleOptimizer(3, 2.0), "must be an instance of Optimizer"),
        (lambda: E.enable_mixed_precision_graph_rewrite(sgd(), "x"), "Could not interpret"),
        (lambda: E.enable_mixed_precision_graph_rewrite(3), "must be an instance of a"),
    ],
)
def test_what_is_no_scale_is_told(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_rewrite_scales_only(caplog):
    with tf.Graph().as_default():
        made = E.enable_mixed_precision_graph_rewrite(sgd())
    assert isinstance(made, E.MixedPrecisionLossScaleOptimizer)
    assert "all nodes keep their types" in caplog.text
    E.disable_mixed_precision_graph_rewrite()
