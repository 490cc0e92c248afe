"""tf.contrib.metrics' own: numbers are those that TensorFlow 1.15.5 gave for the same calls."""

from __future__ import annotations

import numpy as np
import pytest

import tfdist as tf

metrics = tf.contrib.metrics
NAN = float("nan")


def floats(*numbers):
    return tf.constant(numbers, tf.float32)


def ints(*numbers):
    return tf.constant(numbers)


def top(*numbers):
    return tf.constant(numbers, tf.int64)


ONES, SCORES = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
MORE_ONES, MORE_SCORES = [0, 1, 1, 0, 1], [0.9, 0.8, 0.6, 0.4, 0.3]

# a call, and what the metric is after each of two batches that are equal
CALLS = {
    "cohen_kappa": (lambda: metrics.cohen_kappa(ints(0, 1, 1, 2), ints(0, 1, 2, 2), 3),
                    [0.6363636363636364] * 2),
    "cohen_kappa of weights": (
        lambda: metrics.cohen_kappa(
            ints(0, 1, 1, 2), ints(0, 1, 2, 2), 3, weights=floats(1, 2, 3, 4)
        ),
        [0.5081967213114754] * 2),
    "count": (lambda: metrics.count(floats(1, 2, 3)), [3, 6]),
    "count of weights": (lambda: metrics.count(tf.ones([1, 3]), weights=[[2.0]]), [6, 12]),
    "f1_score": (lambda: metrics.f1_score(ONES, SCORES, num_thresholds=5), [0.79999995] * 2),
    "precision_at_recall": (
        lambda: metrics.precision_at_recall(MORE_ONES, MORE_SCORES, 0.6, num_thresholds=9),
        [0.6666667] * 2),
    "precision_at_recall without ones": (
        lambda: metrics.precision_at_recall([0, 0], [0.9, 0.8], 0.6, num_thresholds=9), [1, 1]),
    "recall_at_precision": (
        lambda: metrics.recall_at_precision(ONES, SCORES, 0.7, num_thresholds=5), [1, 1]),
    "recall_at_precision that is reached": (
        lambda: metrics.recall_at_precision(
            MORE_ONES, MORE_SCORES, 0.5, num_thresholds=9, strict_mode=True
        ),
        [0.6666667] * 2),
    "recall_at_precision that is not": (
        lambda: metrics.recall_at_precision(
            MORE_ONES, MORE_SCORES, 0.95, num_thresholds=9, strict_mode=True
        ),
        [0, 0]),
    "sparse_recall_at_top_k": (
        lambda: metrics.sparse_recall_at_top_k(top([0, 2]), top([2, 1])), [0.5, 0.5]),
    "sparse_precision_at_top_k of a class": (
        lambda: metrics.streaming_sparse_precision_at_top_k(
            top([2, 1]), top([0, 2]), class_id=2
        ),
        [1, 1]),
    "sparse_average_precision_at_top_k": (
        lambda: metrics.streaming_sparse_average_precision_at_top_k(
            top([2, 1, 3], [1, 0, 2]), top([0, 1], [1, 2]), weights=[1.0, 2.0]
        ),
        [0.6388888888888888] * 2),
    "recall_at_k": (
        lambda: metrics.streaming_recall_at_k(
            floats([0.1, 0.5, 0.4], [0.3, 0.2, 0.1]), ints(2, 2), 2, weights=[1.0, 3.0]
        ),
        [0.25, 0.25]),
    "covariance": (lambda: metrics.streaming_covariance(floats(1, 2, 4), floats(3, 1, 1)),
                   [-1.3333333, -1.0666666]),
    "covariance of weights": (
        lambda: metrics.streaming_covariance(floats(1, 2, 4), floats(3, 1, 1), [1.0, 2.0, 3.0]),
        [-0.7333333, -0.6666666]),
    "covariance of one": (lambda: metrics.streaming_covariance(floats(1), floats(3)), [NAN, 0]),
    "pearson": (lambda: metrics.streaming_pearson_correlation(floats(1, 2, 4), floats(3, 1, 1)),
                [-0.7559289] * 2),
    "false_negative_rate": (
        lambda: metrics.streaming_false_negative_rate(ints(1, 0, 1, 0), ints(1, 1, 1, 0)),
        [0.33333334] * 2),
    "false_positive_rate": (
        lambda: metrics.streaming_false_positive_rate(ints(1, 0, 1, 0), ints(1, 1, 0, 0)),
        [0.5] * 2),
    "false_negative_rate_at_thresholds": (
        lambda: metrics.streaming_false_negative_rate_at_thresholds(SCORES, ONES, [0.3, 0.5]),
        [[0, 0.5]] * 2),
    "false_positive_rate_at_thresholds": (
        lambda: metrics.streaming_false_positive_rate_at_thresholds(
            floats(*SCORES), ONES, [0.3, 0.5], weights=[1.0, 2.0, 3.0, 4.0]
        ),
        [[0.6666667] * 2] * 2),
}  # fmt: skip


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("name", CALLS)
def test_a_metric_adds_up_batches(session, name):
    call, wanted = CALLS[name]
    value, update = call()
    session.run(tf.local_variables_initializer())
    for each in wanted:
        np.testing.assert_allclose(session.run(update), each, rtol=1e-5)
        np.testing.assert_allclose(session.run(value), each, rtol=1e-5)


# what their metrics are after one batch
AREAS = {
    "dynamic_auc": (lambda: metrics.streaming_dynamic_auc(ints(*ONES), floats(*SCORES)), 0.75),
    "dynamic_auc of equal scores": (
        lambda: metrics.streaming_dynamic_auc(
            ints(1, 0, 1, 0, 1, 0, 0), floats(0.9, 0.8, 0.8, 0.5, 0.4, 0.4, 0.1), "PR"
        ),
        0.7777777777777777),
    "dynamic_auc of weights": (
        lambda: metrics.streaming_dynamic_auc(
            ints(0, 0, 1, 1, 1), floats(0.1, 0.6, 0.4, 0.9, 0.9), weights=floats(1, 2, 3, 4, 5)
        ),
        0.8333333333333334),
    "dynamic_auc without zeros": (
        lambda: metrics.streaming_dynamic_auc(ints(1, 1), floats(0.9, 0.8)), 0),
    "auc_using_histogram": (
        lambda: metrics.auc_using_histogram(
            tf.constant([False, False, True, True]), floats(*SCORES), [0.0, 1.0], nbins=10
        ),
        0.75),
    "curve_points": (
        lambda: metrics.streaming_curve_points(ONES, SCORES, num_thresholds=5, curve="PR"),
        [[1, 0.5], [1, 0.6666667], [0.5, 0.5], [0.5, 1], [5e-7, 1]]),
}  # fmt: skip


SOME, SOME_SCORES = [0, 0, 1, 1, 0, 1], [0.1, 0.6, 0.4, 0.9, 0.2, 0.3]
INTERVALS = {
    "of the logit": (lambda: metrics.auc_with_confidence_intervals(SOME, SOME_SCORES),
                     [0.77777773, 0.3707238, 0.9541145]),
    "of weights": (
        lambda: metrics.auc_with_confidence_intervals(
            SOME, SOME_SCORES, weights=[1.0, 2.0, 3.0, 1.0, 1.0, 1.0], alpha=0.9,
            logit_transformation=False,
        ),
        [0.6, 0.32821772, 0.8717823]),
    "without zeros": (lambda: metrics.auc_with_confidence_intervals([1, 1], [0.1, 0.6]), [0] * 3),
}  # fmt: skip


@pytest.mark.parametrize("name", INTERVALS)
def test_an_area_has_an_interval(session, name):
    """The numbers are those after two batches that are equal."""
    call, wanted = INTERVALS[name]
    value, update = call()
    session.run(tf.local_variables_initializer())
    assert session.run(value) == (0, 0, 0)
    assert [session.run(update) for _ in "ab"] == [True, True]
    np.testing.assert_allclose(session.run(value), wanted, rtol=1e-5)


@pytest.mark.parametrize("name", AREAS)
def test_an_area_is_that_of_all_so_far(session, name):
    call, wanted = AREAS[name]
    value, update = call()
    session.run(tf.local_variables_initializer())
    session.run(update)
    np.testing.assert_allclose(session.run(value), wanted, rtol=2e-6)


def test_values_are_put_one_after_the_other(session):
    fed = tf.placeholder(tf.int32, [None, 1])
    value, update = metrics.streaming_concat(fed)
    some, more = metrics.streaming_concat(tf.transpose(fed), axis=1, max_size=3)
    session.run(tf.local_variables_initializer())
    assert session.run([update, more], {fed: [[5], [6]]}) == [2, 2]
    assert session.run([update, more], {fed: [[7], [8]]}) == [4, 3]
    assert session.run(value).tolist() == [[5], [6], [7], [8]]
    assert session.run(some).tolist() == [[5, 6, 7]]


def test_precision_and_recall_at_equal_thresholds(session):
    data, update = metrics.precision_recall_at_equal_thresholds(
        tf.constant([False, False, True, True]), floats(*SCORES), num_thresholds=5
    )
    session.run(tf.local_variables_initializer())
    session.run(update)
    found = session.run(data._asdict())
    assert found["tp"].tolist() == [2, 2, 1, 1, 0]
    assert found["fp"].tolist() == [2, 1, 1, 0, 0]
    assert found["tn"].tolist() == [0, 1, 1, 2, 2]
    assert found["fn"].tolist() == [0, 0, 1, 1, 2]
    np.testing.assert_allclose(found["precision"], [0.5, 0.6666667, 0.5, 1, 0], rtol=1e-6)
    np.testing.assert_allclose(found["recall"], [1, 1, 0.5, 0.5, 0])


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: metrics.precision_at_recall([1], [0.5], 1.5), id="recall"),
        pytest.param(lambda: metrics.recall_at_precision([1], [0.5], -1), id="precision"),
        pytest.param(lambda: metrics.cohen_kappa(ints(0), ints(0), 1), id="one class"),
        pytest.param(lambda: metrics.streaming_concat(floats(1), axis=2), id="axis"),
        pytest.param(lambda: metrics.streaming_curve_points([1], [0.5], curve="X"), id="curve"),
        pytest.param(lambda: metrics.streaming_dynamic_auc(ints(1), floats(1), "X"), id="area"),
    ],
)
def test_what_cannot_be_measured_is_told(session, call):
    with pytest.raises(ValueError):  # noqa: PT011  six texts
        call()
