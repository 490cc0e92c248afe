"""Chains of tags are those of TensorFlow 1.15.5; a tagger learns as it does there.

`tests/models/seq2seq/seq2seq_programs.py` has the expressions;
`tests/models/seq2seq/expected_seq2seq_1_15.json` is what 1.15.5 said.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.models.seq2seq import seq2seq_programs as programs
from tests.models.seq2seq import tagger

EXPECTED = json.loads(Path(programs.__file__).with_name("expected_seq2seq_1_15.json").read_text())


def test_expected_values_are_those_of_the_programs():
    assert list(EXPECTED["taggers"]) == programs.lines(programs.TAGGERS)


@pytest.mark.parametrize("line", programs.lines(programs.TAGGERS))
def test_an_expression_gives_what_it_gives_there(line):
    programs.check(programs.outcome(tf, line), EXPECTED["taggers"][line])


def test_a_tagger_learns_as_there():
    found, expected = tagger.run(tf), EXPECTED["tagger"]
    for what in ("losses", "moves"):
        np.testing.assert_allclose(found[what], expected[what], rtol=1e-3, atol=1e-4)
    assert found["tags"] == expected["tags"]
    assert found["alone"] == expected["alone"] == found["tags"][0][: len(found["alone"])]
    assert found["right"] == expected["right"] > 0.8


def test_the_best_of_all_sequences_is_found():
    """Of 3 ** 4, each with its score; and likelihoods of all add up to 1."""
    rng = np.random.default_rng(0)
    scores, moves = rng.normal(size=[4, 3]), rng.normal(size=[3, 3])
    sequences = np.array(list(itertools.product(range(3), repeat=4)), np.int32)
    totals = [
        scores[np.arange(4), tags].sum() + moves[tags[:-1], tags[1:]].sum() for tags in sequences
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        many = np.tile(scores, [81, 1, 1]).astype(np.float32)
        moves = moves.astype(np.float32)
        likelihoods, _ = tf.contrib.crf.crf_log_likelihood(many, sequences, [4] * 81, moves)
        found = tf.contrib.crf.crf_decode(many[:1], moves, [4])
        likelihoods, (tags, best) = session.run([likelihoods, found])
    assert tags[0].tolist() == sequences[np.argmax(totals)].tolist()
    assert best[0] == pytest.approx(max(totals), rel=1e-5)
    assert np.exp(likelihoods).sum() == pytest.approx(1, rel=1e-5)
