"""CTC against its definition: sums over all ways, slopes of the loss, the best of all sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfdist as tf

STEPS, CLASSES = 4, 3
SCORES = np.random.default_rng(0).normal(size=(STEPS, 2, CLASSES)) * 2
LABELS = [[0, 0], [0, 1], [1, 0]], np.int32([0, 0, 1]), [2, 2]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def probabilities(scores):
    """Return how likely each sequence of labels is: the sum over all ways that give it."""
    found = {}
    softmax = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    for way in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        merged = [key for key, _ in itertools.groupby(way)]
        labels = tuple(each for each in merged if each != scores.shape[1] - 1)
        chance = np.prod(softmax[range(len(scores)), way])
        found[labels] = found.get(labels, 0.0) + chance
    return found


def test_the_loss_is_that_of_all_ways_to_the_labels():
    loss = run(tf.nn.ctc_loss(tf.SparseTensor(*LABELS), tf.constant(SCORES), [4, 3]))
    wanted = [probabilities(SCORES[:, 0])[0, 0], probabilities(SCORES[:3, 1])[1,]]
    np.testing.assert_allclose(loss, -np.log(wanted), rtol=1e-10)


def test_labels_that_are_the_blank_alone_leave_one_way():
    """1.15.5 says less here: it writes beside its array, and counts the last step as 1 + p."""
    blank = tf.SparseTensor([[0, 0], [1, 0]], np.int32([2, 2]), [2, 1])
    loss = run(tf.nn.ctc_loss(blank, tf.constant(SCORES), [4, 3]))
    chances = np.exp(SCORES[..., 2]) / np.exp(SCORES).sum(-1)
    expected = [-np.log(chances[:4, 0]).sum(), -np.log(chances[:3, 1]).sum()]
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


@pytest.mark.parametrize("merge", [True, False])
def test_the_gradient_is_the_slope_of_the_loss(merge):
    fed = tf.placeholder(tf.float64, SCORES.shape)
    weights = tf.constant([0.5, -2.0], tf.float64)
    loss = tf.nn.ctc_loss(tf.SparseTensor(*LABELS), fed, [4, 3], ctc_merge_repeated=merge)
    total = tf.reduce_sum(loss * weights)
    with tf.Session() as session:
        found = session.run(tf.gradients(total, fed)[0], {fed: SCORES})
        for place in np.ndindex(SCORES.shape):
            step = np.zeros_like(SCORES)
            step[place] = 1e-6
            ends = [session.run(total, {fed: SCORES + sign * step}) for sign in (1, -1)]
            np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-6, atol=1e-6)


def test_what_cannot_be_has_an_infinite_loss_and_the_gradient_of_its_scores():
    loss, gradient = run(tf.raw_ops.CTCLoss(tf.constant(SCORES[:2]), *LABELS[:2], [2, 2]))
    assert loss[0] == np.inf
    softmax = np.exp(SCORES[:2, 0]) / np.exp(SCORES[:2, 0]).sum(-1, keepdims=True)
    np.testing.assert_allclose(gradient[:, 0], softmax)
    assert np.isfinite(loss[1])


def test_there_is_no_second_derivative():
    scores = tf.constant(SCORES)
    loss = tf.nn.ctc_loss(tf.SparseTensor(*LABELS), scores, [4, 3])
    with pytest.raises(LookupError, match="second derivative of ctc_loss"):
        tf.gradients(tf.gradients(loss, scores), scores)


def test_long_sequences_of_sure_scores_stay_finite():
    scores = np.random.default_rng(1).normal(size=(300, 3, 20)).astype(np.float32) * 30
    labels = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [2, 1]], np.int32([3, 3, 1, 1]), [3, 2])
    loss, gradient = run(tf.raw_ops.CTCLoss(scores, labels.indices, labels.values, [300, 10, 200]))
    assert np.isfinite(loss).all()
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(gradient.sum(-1), 0, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"labels_values": [0, -1, 1]}, "nonnegative", id="a label below 0"),
        pytest.param({"labels_values": [2, 0, 1]}, "following a null label", id="a blank inside"),
        pytest.param({"labels_indices": [[0, 0], [0, 1], [5, 0]]}, "not within", id="row too far"),
        pytest.param({"labels_values": [0, 1]}, "need indices", id="labels without indices"),
        pytest.param({"sequence_length": [4, -3]}, "sequence_length.1.", id="a length below 0"),
    ],
)  # fmt: skip
def test_bad_input_is_told(change, text):
    given = {
        "inputs": SCORES, "labels_indices": LABELS[0], "labels_values": LABELS[1],
        "sequence_length": [4, 3], **change,
    }  # fmt: skip
    fed = {key: tf.placeholder_with_default(value, None) for key, value in given.items()}
    fed["labels_indices"] = tf.cast(fed["labels_indices"], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf.raw_ops.CTCLoss(*fed.values()))


# decoding


def test_a_search_that_drops_nothing_finds_the_likeliest_sequences():
    paths, scores = tf.nn.ctc_beam_search_decoder_v2(tf.constant(SCORES), [4, 3], 50, 5)
    dense, scores = run([[tf.sparse.to_dense(path, -1) for path in paths], scores])
    for row, part in enumerate((SCORES[:, 0], SCORES[:3, 1])):
        best = sorted(probabilities(part).items(), key=lambda each: -each[1])[:5]
        found = [tuple(label for label in path[row] if label >= 0) for path in dense]
        assert found == [labels for labels, _ in best]
        np.testing.assert_allclose(scores[row], np.log([chance for _, chance in best]))


def test_a_prefix_that_comes_back_is_one_with_the_earlier_one():
    """With a narrow beam, prefixes are dropped and found anew."""
    scores = tf.constant(np.random.default_rng(3).normal(size=(12, 4, 5)).astype(np.float32) * 2)
    paths, chances = tf.nn.ctc_beam_search_decoder_v2(scores, [12, 12, 5, 0], 3, 1)
    labels, chances = run([paths[0], chances])
    assert labels.dense_shape[0] == 4
    assert (chances <= 1e-6).all()
    assert chances[3] == 0


def test_the_greedy_decoder_merges_if_it_is_told_to():
    scores = np.zeros((5, 1, 3))
    scores[range(5), 0, [0, 0, 2, 0, 1]] = 1
    decoders = [tf.nn.ctc_greedy_decoder(scores, [5], merge) for merge in (True, False)]
    found = run([labels[0].values for labels, _ in decoders])
    assert [each.tolist() for each in found] == [[0, 0, 1], [0, 0, 0, 1]]
