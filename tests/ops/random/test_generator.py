"""tf.random.experimental.Generator gives the numbers that TensorFlow 1.15.5 gives.

What is wanted here was printed by 1.15.5, of the state [5, 7, 9].
"""

import numpy as np
import pytest

import tfdist as tf

DRAWS = {
    "unsigned integers of 64 bits": (
        lambda g: g.uniform_full_int([3]),
        [12914304567718739357, 17823119651950430723, 16032687935575624295], 3,
    ),
    "signed integers of 32 bits": (
        lambda g: g.uniform_full_int([4], tf.int32),
        [-669745763, -1288121452, 2076838403, -145198876], 4,
    ),
    "uniform numbers": (lambda g: g.uniform([2]), [0.16008341, 0.44395685], 2),
    "uniform numbers of double precision": (
        lambda g: g.uniform([2], dtype=tf.float64), [0.2806679726465733, 0.6274451887066386], 2,
    ),
    "integers of a range": (
        lambda g: g.uniform([6], -10, 100, tf.int64), [-3, 93, 5, 98, 48, 70], 6,
    ),
    "normal numbers": (lambda g: g.normal([3]), [0.6601987, -1.7967354, -0.9751532], 3),
    "normal numbers of double precision": (
        lambda g: g.normal([2], dtype=tf.float64), [-1.1443854880401036, -1.1097511682042], 2,
    ),
    "truncated numbers, more than four": (
        lambda g: g.truncated_normal([6]),
        [0.6601987, -1.7967354, -0.9751532, -0.3794075, 0.5987772, -0.18332124], 6,
    ),
    "truncated numbers of double precision": (
        lambda g: g.truncated_normal([4], dtype=tf.float64),
        [-1.1443854880401036, -1.1097511682042, -1.220345068835743, 1.2281353938035329], 4,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_those_of_tensorflow(name):
    draw, wanted, count = DRAWS[name]
    generator = tf.random.experimental.Generator.from_state([5, 7, 9], 1)
    drawn = draw(generator)
    with tf.Session() as session:
        session.run(generator.state.initializer)
        found = session.run(drawn)
        np.testing.assert_allclose(found, np.array(wanted, found.dtype), rtol=2e-6)
        assert session.run(generator.state).tolist() == [5 + 256 * count, 7, 9]


def test_the_counter_carries_and_can_be_skipped():
    generator = tf.random.experimental.Generator.from_key_counter(3, [-1, 0], 1)
    skipped = generator.skip(1)
    with tf.Session() as session:
        session.run(generator.state.initializer)
        session.run(skipped)
        assert session.run(generator.state).tolist() == [0, 1, 3]


def test_a_generator_can_be_split_and_copied():
    generator = tf.random.experimental.Generator.from_seed(42)
    copied = tf.random.experimental.Generator(copy_from=generator)
    parts = [each.state for each in generator.split(2)]
    with tf.Session() as session:
        session.run(generator.state.initializer)
        session.run(copied.state.initializer)
        assert session.run(copied.state).tolist() == [42, 0, 0]
        session.run([each.initializer for each in parts])
        one, other = session.run(parts)
        assert one[:2].tolist() == other[:2].tolist() == [0, 0]
        assert one[2] != other[2]


def test_binomial_numbers_have_their_mean():
    generator = tf.random.experimental.Generator.from_seed(1)
    drawn = generator.binomial([2000], 10.0, 0.3)
    with tf.Session() as session:
        session.run(generator.state.initializer)
        assert abs(session.run(drawn).mean() - 3) < 0.2


def test_what_is_not_there_says_so():
    with pytest.raises(ValueError, match="Unsupported algorithm id: 7"):
        tf.random.experimental.Generator.from_seed(1, alg=7)
    generator = tf.random.experimental.Generator.from_seed(1, alg=2)
    with tf.Session() as session:
        session.run(generator.state.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported algorithm id: 2"):
            session.run(generator.normal([1]))
    drawn = tf.raw_ops.NonDeterministicInts(shape=[2, 3])
    assert tf.Session().run(drawn).shape == (2, 3)
