"""Candidate samplers with seeds draw the classes of TensorFlow 1.15.5, which printed these."""

import numpy as np
import pytest

import tfdist as tf

TRUE = [[3], [5]]
UNIGRAMS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
# of each: a program, and the classes of the first run and the third, with their expected counts
ROWS = {
    "uniform": (
        lambda nn: nn.uniform_candidate_sampler(TRUE, 1, 4, False, 1000, seed=5),
        [131, 648, 69, 767], [0.00400000019] * 4, [729, 420, 652, 234], [0.00400000019] * 4,
    ),
    "uniform, unique": (
        lambda nn: nn.uniform_candidate_sampler(TRUE, 1, 6, True, 8, seed=5),
        [3, 0, 5, 7, 1, 2], [0.699342191] * 6, [7, 1, 6, 5, 4, 0], [0.699342191] * 6,
    ),
    "log-uniform": (
        lambda nn: nn.log_uniform_candidate_sampler(TRUE, 1, 4, False, 1000, seed=5),
        [0, 180, 117, 32], [0.401315272, 0.00318995584, 0.00488589844, 0.0172841363],
        [9, 18, 962, 0], [0.0551822633, 0.0296975635, 0.000600908767, 0.401315272],
    ),
    "log-uniform, unique: as many draws as classes": (
        lambda nn: nn.log_uniform_candidate_sampler(TRUE, 1, 4, True, 20, seed=5),
        [0, 8, 7, 3], [0.910681009, 0.138426334, 0.154747471, 0.29317379],
        [1, 2, 19, 0], [0.532714248, 0.377966762, 0.064102225, 0.910681009],
    ),
    "learned: the true classes become more likely": (
        lambda nn: nn.learned_unigram_candidate_sampler(TRUE, 1, 4, False, 20, seed=5),
        [3, 3, 12, 1], [0.200000003] * 4, [5, 19, 3, 9], [0.5, 0.166666672, 0.5, 0.166666672],
    ),
    "fixed": (
        lambda nn: nn.fixed_unigram_candidate_sampler(
            TRUE, 1, 4, False, 8, distortion=0.5, unigrams=UNIGRAMS, seed=5
        ),
        [3, 5, 0, 3], [0.490616947, 0.600880623, 0.245308474, 0.490616947],
        [7, 5, 5, 6], [0.693837166, 0.600880623, 0.600880623, 0.649025202],
    ),
    "fixed, unique": (
        lambda nn: nn.fixed_unigram_candidate_sampler(
            TRUE, 1, 4, True, 8, unigrams=UNIGRAMS, seed=5
        ),
        [3, 5, 0, 7], [0.506729841, 0.665102065, 0.155512437, 0.778622687],
        [6, 5, 1, 3], [0.72674191, 0.665102065, 0.290326655, 0.506729841],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_what_is_drawn(row):
    program, first, first_counts, third, third_counts = ROWS[row]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(11)
        drawn = program(tf.nn)
        runs = [session.run(drawn) for _ in range(3)]
    assert [run[0].tolist() for run in runs[::2]] == [first, third]
    counts = [run[2] for run in runs[::2]]
    np.testing.assert_allclose(counts, [first_counts, third_counts], rtol=2e-7)


def test_a_whole_range_is_drawn_in_the_order_of_tensorflow():
    """The last classes take hundreds of thousands of tries."""
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = tf.nn.log_uniform_candidate_sampler([[0, 5]], 2, 20_000, True, 20_000, seed=3)
        classes, _, _ = session.run(drawn)
    assert classes[:5].tolist() == [1, 3201, 0, 795, 49]
    assert sorted(classes) == list(range(20_000))


def test_what_is_too_seldom_ends_with_its_step():
    """On TensorFlow it goes on for ever."""
    weights = [1.0] * 9 + [1e-30]
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 10, True, 10, unigrams=weights)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(drawn, options=tf.RunOptions(timeout_in_ms=50))
