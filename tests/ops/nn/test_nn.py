"""tf.nn's calls of all ages, and the values at the edges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError
from tfdist.graph.graph import Graph
from tfdist.ops.array.constants import constant, placeholder
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.math import elementwise
from tfdist.ops.nn import activations
from tfdist.ops.nn import functions as nn
from tfdist.ops.nn.activations import SELU_ALPHA, SELU_SCALE
from tfdist.session.session import Session

LOGITS = [[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]]
ONE_HOT = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
CLASSES = [2, 0]


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def wanted_loss() -> np.ndarray:
    x = np.array(LOGITS, np.float64)
    return np.log(np.exp(x).sum(1)) - (x * ONE_HOT).sum(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(labels=ONE_HOT, logits=LOGITS),
        lambda f: f(logits=constant(LOGITS), labels=constant(ONE_HOT), name="loss"),
        lambda f: f(LOGITS, ONE_HOT),
        lambda f: f(LOGITS, ONE_HOT, "loss"),
        lambda f: f(labels=np.transpose(ONE_HOT), logits=np.transpose(LOGITS), dim=0),
    ],
    ids=["keywords", "keywords, swapped", "0.x: logits first", "0.x: with a name", "another axis"],
)
def test_softmax_cross_entropy_in_the_spellings_of_all_versions(call):
    loss = evaluate(call(nn.softmax_cross_entropy_with_logits))
    np.testing.assert_allclose(loss, wanted_loss(), rtol=1e-6)


def test_sparse_and_dense_labels_give_one_loss():
    sparse = nn.sparse_softmax_cross_entropy_with_logits
    for loss in (sparse(labels=CLASSES, logits=LOGITS), sparse(LOGITS, CLASSES)):
        np.testing.assert_allclose(evaluate(loss), wanted_loss(), rtol=1e-6)
    assert loss.name.startswith("SparseSoftmaxCrossEntropyWithLogits_1/Sparse")


@pytest.mark.parametrize(
    "function",
    [
        nn.softmax_cross_entropy_with_logits,
        nn.sparse_softmax_cross_entropy_with_logits,
        nn.sigmoid_cross_entropy_with_logits,
    ],
)
def test_missing_labels_are_an_error(function):
    with pytest.raises(ValueError, match="labels= and logits="):
        function(logits=LOGITS)


def test_losses_of_unknown_and_higher_rank():
    x, y = placeholder("float32"), placeholder("float32")
    feeds = {x: [LOGITS], y: [ONE_HOT]}
    loss = nn.softmax_cross_entropy_with_logits_v2(y, x)
    np.testing.assert_allclose(evaluate(loss, feeds), [wanted_loss()], rtol=1e-6)
    sparse = nn.sparse_softmax_cross_entropy_with_logits(labels=[CLASSES], logits=[LOGITS])
    np.testing.assert_allclose(evaluate(sparse), [wanted_loss()], rtol=1e-6)
    assert sparse.shape.as_list() == [1, 2]


def test_no_gradient_flows_into_labels_but_in_version_2():
    x, y = constant(LOGITS), constant(ONE_HOT)
    first = nn.softmax_cross_entropy_with_logits(labels=y, logits=x)
    second = nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
    assert gradients(first, y) == [None]
    assert gradients(second, y)[0] is not None


def test_large_logits_do_not_overflow():
    x = constant([[1000.0, -1000.0]])
    with np.errstate(all="raise", under="ignore"):
        assert evaluate(nn.softmax(x)).tolist() == [[1.0, 0.0]]
        assert evaluate(nn.log_softmax(x)).tolist() == [[0.0, -2000.0]]
    loss = nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[-1000.0, 1000.0])
    assert evaluate(loss).tolist() == [1000.0, 1000.0]


def test_a_label_out_of_range_is_named():
    loss = nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 3], logits=LOGITS)
    with pytest.raises(
        InvalidArgumentError, match=r"label value of 3 .*outside the valid range of \[0, 3\)"
    ):
        evaluate(loss)


def test_one_hot_labels_in_the_sparse_loss_are_told_where_to_go():
    with pytest.raises(ValueError, match="one-hot labels go into softmax_cross_entropy"):
        nn.sparse_softmax_cross_entropy_with_logits(labels=[[1, 0, 0]] * 2, logits=LOGITS)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_softmax_along_each_axis(axis):
    x = np.array(LOGITS)
    wanted = np.exp(x) / np.exp(x).sum(axis, keepdims=True)
    for found in (nn.softmax(LOGITS, axis), nn.softmax(LOGITS, dim=axis)):
        np.testing.assert_allclose(evaluate(found), wanted, rtol=1e-6)


def test_an_axis_out_of_range_is_an_error():
    with pytest.raises(InvalidArgumentError, match=r"must be in the range \[-2, 2\)"):
        nn.softmax(LOGITS, axis=2)


def test_dropout_keeps_the_mean_of_what_it_drops(graph):
    x = constant(LOGITS)
    assert nn.dropout(x, keep_prob=1.0) is x
    assert nn.dropout(x, rate=0.0) is x
    kept = nn.dropout(x, 0.5, seed=1)
    assert kept.name == "dropout_2/mul_1:0"  # each call opens a scope, also where it adds nothing
    (chance,) = [op for op in graph.get_operations() if op.type == "RandomUniform"]
    numbers = np.array([[0.1, 0.6, 0.9], [0.4, 0.5, 0.2]], np.float32)
    found = evaluate(kept, {chance.outputs[0]: numbers})
    np.testing.assert_array_equal(found, np.where(numbers >= 0.5, np.array(LOGITS) * 2, 0))


@pytest.mark.parametrize("arguments", [{}, {"keep_prob": 0.0}, {"rate": 1.0}, {"keep_prob": 2.0}])
def test_a_chance_out_of_range_is_an_error(arguments):
    with pytest.raises(ValueError, match=r"keep_prob|rate"):
        nn.dropout(LOGITS, **arguments)


def test_top_k_takes_the_first_of_equals():
    best = nn.top_k([3.0, 1.0, 3.0, 2.0], 3)
    assert evaluate(best.values).tolist() == [3.0, 3.0, 2.0]
    assert evaluate(best.indices).tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="k = 5"):
        nn.top_k([1.0, 2.0], 5)


def test_in_top_k_counts_what_is_greater():
    predictions = [[1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [np.nan, 1.0, 2.0], [1.0, 2.0, 3.0]]
    assert evaluate(nn.in_top_k(predictions, [2, 1, 2, 7], 1)).tolist() == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("keep_dims", [False, True])
def test_moments(keep_dims):
    mean, variance = evaluate(nn.moments(constant(LOGITS), [0], keep_dims=keep_dims))
    x = np.array(LOGITS)
    np.testing.assert_allclose(mean, x.mean(0, keepdims=keep_dims))
    np.testing.assert_allclose(variance, x.var(0, keepdims=keep_dims))


def test_bias_in_front_of_the_other_axes():
    value = np.zeros((2, 3, 4), np.float32)
    found = nn.bias_add(value, [1.0, 2.0, 3.0], data_format="NCHW")
    assert evaluate(found)[0, :, 0].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="channels"):
        nn.bias_add(value, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", nn.__all__)
def test_every_name_is_there(name):
    assert callable(getattr(nn, name))


def sampled_by_hand(weights, biases, labels, inputs, drawn, counts):
    """Return logits of true classes and those drawn, less the logarithms of expected counts."""
    true = (weights[labels] * inputs[:, np.newaxis]).sum(-1) + biases[labels]
    others = inputs @ weights[drawn].T + biases[drawn]
    others[(labels[:, :, np.newaxis] == drawn).any(1)] = -np.inf
    return np.concatenate([true - np.log(counts[0]), others - np.log(counts[1])], 1)


def test_sampled_softmax_leaves_accidental_hits_out():
    rng = np.random.default_rng(0)
    weights, biases, inputs = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=(2, 3))
    labels, drawn = np.array([[5], [1]]), np.array([1, 4, 0])
    counts = np.array([[0.5], [0.25]]), np.array([0.25, 1.0, 2.0])
    loss = nn.sampled_softmax_loss(
        weights, biases, labels, inputs, 3, 6, sampled_values=(drawn, *counts)
    )
    logits = sampled_by_hand(weights, biases, labels, inputs, drawn, counts)
    wanted = np.log(np.exp(logits).sum(1)) - logits[:, 0]
    np.testing.assert_allclose(evaluate(loss), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("sampler", "chances"),
    [
        (nn.uniform_candidate_sampler, np.full(5, 0.2)),
        (nn.log_uniform_candidate_sampler, np.log1p(1 / np.arange(1.0, 6)) / np.log(6)),
    ],
)
def test_classes_are_drawn_as_often_as_expected(sampler, chances):
    with Session() as session:
        drawn, true, each = session.run(list(sampler([[0], [3]], 1, 20000, False, 5, seed=1)))
        np.testing.assert_allclose(np.bincount(drawn) / 20000, chances, atol=0.02)
        np.testing.assert_allclose(each, 20000 * chances[drawn], rtol=1e-5)
        np.testing.assert_allclose(true[:, 0], 20000 * chances[[0, 3]], rtol=1e-5)
        different = session.run(sampler([[0]], 1, 4, True, 5)[0])
        assert len(set(different)) == 4
        with pytest.raises(InvalidArgumentError, match="range is too small"):
            session.run(sampler([[0]], 1, 6, True, 5)[0])


@pytest.mark.parametrize("number", [0.5, np.nan, np.inf, -np.inf, 1e30, -0.0])
@pytest.mark.parametrize("is_over", [False, True], ids=["a new array", "over the input"])
def test_rectifiers_and_sigmoid_keep_what_is_no_number(number, is_over):
    random = np.random.default_rng(0)
    features, slopes = (random.normal(size=shape).astype(np.float32) for shape in ((5, 9), (9, 5)))
    gradients = slopes.T
    features[3, 2:4] = gradients[4, 5:9] = number
    with np.errstate(all="ignore"):
        for kernel, inputs, wanted in (
            (activations.RELU, [features], np.maximum(features, 0)),
            (activations.RELU_GRAD, [gradients, features], gradients * (features > 0)),
            (elementwise.SIGMOID, [features], 1 / (1 + np.exp(-features))),
        ):
            given = [each.copy() for each in inputs]
            function = kernel.kernels["CPU"].function
            made = function(*given, out=given[0]) if is_over else function(*given)
            np.testing.assert_array_equal(made, wanted)
            if not is_over:
                np.testing.assert_array_equal(given, inputs)


# Name -> what it gives for x, and for its gradient of 1 (from the result y where it has to do).
ACTIVATIONS = {
    "relu6": (lambda x: np.clip(x, 0, 6), lambda x, y: (x > 0) & (x < 6)),
    "leaky_relu": (lambda x: np.where(x > 0, x, 0.2 * x), lambda x, y: np.where(x > 0, 1, 0.2)),
    "elu": (lambda x: np.where(x < 0, np.expm1(x), x), lambda x, y: np.where(x < 0, y + 1, 1)),
    "selu": (
        lambda x: SELU_SCALE * np.where(x < 0, SELU_ALPHA * np.expm1(x), x),
        lambda x, y: np.where(x < 0, y + SELU_SCALE * SELU_ALPHA, SELU_SCALE),
    ),
    "softplus": (lambda x: np.logaddexp(x, 0), lambda x, y: 1 / (1 + np.exp(-x))),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [10, 3000], ids=["few", "many"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_few_and_many(name, size, dtype):
    values = (4 * np.random.default_rng(0).normal(size=size)).astype(dtype)
    values[:3] = 0, 200, -200
    x = constant(values)
    y = getattr(nn, name)(x)
    activation, slope = ACTIVATIONS[name]
    exact = values.astype(float)
    got, got_slope = evaluate([y, gradients(y, x)[0]])
    tolerance = 3e-3 if dtype == "float16" else 1e-6
    with np.errstate(over="ignore"):
        wanted = activation(exact)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(got_slope, slope(exact, wanted), rtol=tolerance, atol=tolerance)
    assert got.dtype == dtype


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 1.5, -0.5])
def test_leaky_rectifiers_of_any_slope(alpha):
    x = np.array([-np.inf, -2, -0.0, 2, np.inf], np.float32)
    with np.errstate(invalid="ignore"):
        wanted = np.where(x > 0, x, np.float32(alpha) * x)
    np.testing.assert_array_equal(evaluate(nn.leaky_relu(x, alpha)), wanted)
