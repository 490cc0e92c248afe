"""Seeded random ops draw the numbers of TensorFlow 1.15.5, which printed those that stand here."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.base import philox

raw = tf.raw_ops
SEEDS = {"seed": 5, "seed2": 7}
LONG = np.int64(3), np.int64(100)
LOGITS = [[0.1, 0.2, 0.3, 0.0], [1.0, 2.0, 3.0, 4.0]]
WAYS = {
    "uniform": lambda: raw.RandomUniform([5], dtype=tf.float32, **SEEDS),
    "uniform, double": lambda: raw.RandomUniform([3], dtype=tf.float64, **SEEDS),
    "uniform, half": lambda: raw.RandomUniform([3], dtype=tf.float16, **SEEDS),
    "uniform, large and negative seeds": lambda: raw.RandomUniform(
        [3], dtype=tf.float32, seed=-5, seed2=2**40
    ),
    "normal": lambda: raw.RandomStandardNormal([5], dtype=tf.float32, **SEEDS),
    "normal, double": lambda: raw.RandomStandardNormal([5], dtype=tf.float64, **SEEDS),
    "truncated": lambda: raw.TruncatedNormal([5], dtype=tf.float32, **SEEDS),
    "integers": lambda: raw.RandomUniformInt([5], 3, 100, **SEEDS),
    "long integers": lambda: raw.RandomUniformInt([5], *LONG, **SEEDS),
    "order": lambda: raw.RandomShuffle(list(range(7)), **SEEDS),
    "classes": lambda: raw.Multinomial(LOGITS, 3, **SEEDS),
    "gamma": lambda: raw.RandomGamma([2], [0.2, 1.0, 3.0, 30.0], **SEEDS),
    "gamma, double": lambda: raw.RandomGamma([2], np.array([0.2, 1.0, 3.0]), **SEEDS),
    "poisson": lambda: raw.RandomPoissonV2([2], [0.0, 2.0, 9.5, 10.0, 300.0], **SEEDS),
    "stateless, uniform": lambda: raw.StatelessRandomUniform([5], [5, 7]),
    "stateless, normal": lambda: raw.StatelessRandomNormal([5], [5, 7]),
    "stateless, truncated": lambda: raw.StatelessTruncatedNormal([5], [5, 7]),
    "stateless, integers": lambda: raw.StatelessRandomUniformInt([5], [5, 7], 3, 100),
    "stateless, classes": lambda: raw.StatelessMultinomial(LOGITS, 3, [5, 7]),
}
# of each, what the first run of a session gives, and the third
DRAWN = {
    "uniform": (
        [0.447463751, 0.620756984, 0.259069324, 0.300779819, 0.205548167],
        [0.0675321817, 0.889069319, 0.111701131, 0.475448966, 0.928364873],
    ),
    "uniform, double": (
        [0.579710298, 0.0725554196, 0.644385721],
        [0.136091281, 0.19887648, 0.459999434],
    ),
    "uniform, half": (
        [0.623046875, 0.241210938, 0.295898438],
        [0.357421875, 0.2578125, 0.649414062],
    ),
    "uniform, large and negative seeds": (
        [0.456318974, 0.273674726, 0.450810432],
        [0.604001284, 0.337617755, 0.896564126],
    ),
    "normal": (
        [-0.872526765, -0.920334995, 1.56061959, -0.51554364, -0.888665974],
        [-1.49034429, 1.78021801, 0.321702123, -2.06890416, 0.275620371],
    ),
    "normal, double": (
        [0.459732044, 0.937603338, 0.518084466, 0.781347592, -1.12201685],
        [-0.687770827, 0.87085526, -0.0147027083, -1.3046466, -0.421729514],
    ),
    "truncated": (
        [-0.872526765, -0.920334995, 1.56061959, -0.51554364, -1.25133121],
        [-1.49034429, 1.78021801, 0.321702123, 0.275620371, -0.60943675],
    ),
    "integers": (
        [80, 58, 68, 31, 25],
        [32, 64, 4, 72, 73],
    ),
    "long integers": (
        [65, 78, 74, 93, 17],
        [33, 91, 33, 26, 11],
    ),
    "order": (
        [6, 2, 0, 3, 5, 4, 1],
        [6, 1, 5, 2, 4, 3, 0],
    ),
    "classes": (
        [2, 0, 2, 1, 2, 3],
        [1, 0, 0, 1, 3, 3],
    ),
    "gamma": (
        [
            0.229468927,
            0.665133476,
            2.35458398,
            33.2354202,
            3.27303894e-07,
            1.59664094,
            3.12313509,
            28.491106,
        ],
        [
            0.00468308013,
            0.367514342,
            7.21174383,
            31.3018742,
            0.454917461,
            0.256590456,
            8.45436192,
            32.9235725,
        ],
    ),
    "gamma, double": (
        [0.229468919, 0.665133503, 2.35458392, 3.27303805e-07, 1.59664092, 3.12313506],
        [0.440523047, 1.87776944, 2.19107496, 0.00136707259, 0.512728694, 2.14534599],
    ),
    "poisson": (
        [0, 2, 8, 7, 306, 0, 3, 10, 7, 298],
        [0, 1, 7, 13, 295, 0, 1, 7, 12, 306],
    ),
    "stateless, uniform": (
        [0.120394945, 0.127788544, 0.655450106, 0.618863106, 0.268092394],
        [0.120394945, 0.127788544, 0.655450106, 0.618863106, 0.268092394],
    ),
    "stateless, normal": (
        [1.48025167, 1.42926896, -0.624410093, -0.674520731, -0.163624123],
        [1.48025167, 1.42926896, -0.624410093, -0.674520731, -0.163624123],
    ),
    "stateless, truncated": (
        [1.48025167, 1.42926896, -0.624410093, -0.674520731, 0.955604017],
        [1.48025167, 1.42926896, -0.624410093, -0.674520731, 0.955604017],
    ),
    "stateless, integers": (
        [72, 6, 16, 61, 69],
        [72, 6, 16, 61, 69],
    ),
    "stateless, classes": (
        [3, 1, 0, 1, 3, 1],
        [3, 1, 0, 1, 3, 1],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_drawn(way):
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = WAYS[way]()
        runs = [session.run(drawn).ravel().tolist() for _ in range(3)]
    np.testing.assert_allclose(runs[::2], DRAWN[way], rtol=2e-7)


def test_two_sessions_draw_the_same():
    with tf.Graph().as_default():
        drawn = WAYS["normal"]()
        first, second = (tf.Session().run(drawn).tolist() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("count", [1, 3, 7, 20_000])
def test_few_and_many_blocks_are_the_same(count):
    stream = philox.of_seeds(3, 2**62)._replace(counter=2**64 - 5 + (9 << 64))
    one_by_one = [stream.skipped(place).blocks(1)[0] for place in (0, count // 2, count - 1)]
    assert (stream.blocks(count)[[0, count // 2, count - 1]] == one_by_one).all()


def test_a_run_without_elements_draws_nothing():
    with tf.Graph().as_default(), tf.Session() as session:
        for each in ("RandomUniform", "TruncatedNormal"):
            drawn = getattr(raw, each)([0, 3], dtype=tf.float32, **SEEDS)
            assert session.run(drawn).shape == (0, 3)
        assert session.run(raw.RandomShuffle(np.zeros([0, 2]), **SEEDS)).shape == (0, 2)
        assert session.run(raw.Multinomial(np.zeros([0, 4]), 3, **SEEDS)).shape == (0, 3)
        assert session.run(raw.RandomGamma([0], [2.0], **SEEDS)).shape == (0, 1)
        assert session.run(raw.RandomPoissonV2([3], np.zeros(0), **SEEDS)).shape == (3, 0)
        assert session.run(raw.Multinomial(LOGITS, 0, **SEEDS)).shape == (2, 0)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5, 40.0])
def test_many_gamma_numbers_have_their_mean_and_variance(alpha):
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = session.run(raw.RandomGamma([20_000], [alpha], **SEEDS))
    assert abs(drawn.mean() - alpha) < 5 * np.sqrt(alpha / 20_000)
    assert abs(drawn.var() / alpha - 1) < 0.1


@pytest.mark.parametrize("rate", [0.3, 9.9, 10.0, 500.0])
def test_many_poisson_numbers_have_their_mean_and_variance(rate):
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = session.run(raw.RandomPoissonV2([20_000], [rate], **SEEDS))
    assert abs(drawn.mean() - rate) < 5 * np.sqrt(rate / 20_000)
    assert abs(drawn.var() / rate - 1) < 0.1


@pytest.mark.parametrize(
    ("op", "parameter", "expected"),
    [
        ("RandomGamma", 0.0, 0.0),
        ("RandomGamma", np.inf, np.inf),
        ("RandomGamma", np.nan, np.nan),
        ("RandomGamma", -2.0, np.nan),
        ("RandomPoissonV2", 0.0, 0),
        ("RandomPoissonV2", -1.0, 0),
        ("RandomPoissonV2", np.inf, np.iinfo(np.int64).min),
    ],
)
def test_parameters_of_no_distribution(op, parameter, expected):
    """They are told by no error; this is what 1.15.5 gives."""
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = session.run(getattr(raw, op)([3], np.array([parameter]), **SEEDS))
    np.testing.assert_array_equal(drawn.ravel(), [expected] * 3)
