"""Spectra and special functions beyond samples: gradients, shapes that run late, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tfdist as tf

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


REAL = [
    pytest.param(tf.signal.rfft, (2, 6), None, id="even"),
    pytest.param(tf.signal.rfft, (2, 7), None, id="odd"),
    pytest.param(tf.signal.rfft, (2, 7), [5], id="cut"),
    pytest.param(tf.signal.rfft, (2, 5), [8], id="filled up"),
    pytest.param(tf.signal.rfft2d, (2, 4, 6), None, id="of two axes"),
    pytest.param(tf.signal.rfft2d, (5, 7), [4, 6], id="of two axes, cut"),
    pytest.param(tf.signal.irfft, (2, 4), None, id="back, even"),
    pytest.param(tf.signal.irfft, (2, 4), [7], id="back, odd"),
    pytest.param(tf.signal.irfft, (2, 4), [4], id="back, cut"),
    pytest.param(tf.signal.irfft2d, (2, 3, 4), None, id="back, of two axes"),
    pytest.param(tf.signal.irfft2d, (3, 4), [2, 5], id="back, of two axes, cut"),
]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("transform", "shape", "length"), REAL)
def test_a_transform_is_linear_and_so_is_its_gradient(transform, shape, length, known):
    """For all directions d: the gradient times d is the change along d."""
    dtype = tf.complex64 if transform.__name__.startswith("i") else tf.float32
    x = tf.placeholder(dtype, shape if known else [None] * len(shape))
    y = transform(x, length)
    weights = tf.placeholder(y.dtype, None)
    gradient = tf.gradients(y, x, weights)[0]
    at, along = (
        (numbers(*shape) + 1j * numbers(*shape)).astype(dtype.as_numpy_dtype)
        if dtype.is_complex
        else numbers(*shape)
        for _ in range(2)
    )
    with tf.Session() as session:
        change = session.run(y, {x: along})
        drawn = numbers(*change.shape)
        if change.dtype.kind == "c":
            drawn = drawn + 1j * numbers(*change.shape)
        found = session.run(gradient, {x: at, weights: drawn})
    assert found.shape == shape
    slope, wanted = (
        np.sum(np.real(np.conj(found) * along)),
        np.sum(np.real(np.conj(drawn) * change)),
    )
    np.testing.assert_allclose(slope, wanted, rtol=1e-4, atol=1e-4)


ONE_WAY = [
    pytest.param(tf.betainc, (2.0, 3.0, 0.25), 2, id="betainc along x"),
    pytest.param(tf.zeta, (2.5, 3.0), 1, id="zeta along q"),
    pytest.param(tf.polygamma, (1.0, 3.0), 1, id="polygamma along x"),
]


@pytest.mark.parametrize(("function", "values", "place"), ONE_WAY)
def test_gradients_flow_to_one_argument_only(function, values, place):
    arguments = [tf.constant(value, tf.float64) for value in values]
    found = tf.gradients(function(*arguments), arguments)
    assert [each is not None for each in found] == [i == place for i in range(len(values))]
    moved = [
        function(*(v + step * (i == place) for i, v in enumerate(arguments)))
        for step in (1e-5, -1e-5)
    ]
    slope, ends = run([found[place], moved])
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_next_after_passes_gradients_to_its_first_argument():
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    found = run(tf.gradients(tf.math.nextafter(x, y), [x, y]))
    assert [each.tolist() for each in found] == [[1.0, 1.0], 0.0]


def wide(value):
    return np.float64(value)


KNOWN = [
    pytest.param(lambda: tf.igamma(wide(1), wide(3)), 1 - math.exp(-3), id="igamma"),
    pytest.param(lambda: tf.igamma(wide(1e5), wide(1e5)), 0.5004205221, id="igamma, great"),
    pytest.param(lambda: tf.igammac(wide(1), wide(90)), math.exp(-90), id="igammac, tiny"),
    pytest.param(lambda: tf.betainc(wide(2), wide(2), wide(0.3)), 0.216, id="betainc"),
    pytest.param(lambda: tf.betainc(wide(5e3), wide(5e3), wide(0.5)), 0.5, id="betainc, great"),
    pytest.param(lambda: tf.zeta(wide(2), wide(1)), math.pi**2 / 6, id="zeta"),
    pytest.param(
        lambda: tf.math.bessel_i0e(wide(1e6)), 1 / math.sqrt(2e6 * math.pi), id="bessel, great"
    ),
]


@pytest.mark.parametrize(("make", "wanted"), KNOWN)
def test_values_that_tables_tell(make, wanted):
    assert run(make()) == pytest.approx(wanted, rel=1e-6)


def test_what_was_transformed_by_frames_comes_back():
    x = numbers(2, 40)
    spectra = tf.signal.stft(tf.placeholder_with_default(x, [None, None]), 8, 4)
    back = tf.signal.inverse_stft(spectra, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    np.testing.assert_allclose(run(back)[:, 4:-4], x[:, 4:-4], atol=1e-6)


def test_lengths_that_are_known_when_it_runs():
    length, step = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    x = numbers(20)
    frames = tf.signal.frame(x, length, step, pad_end=True)
    found, added = run([frames, tf.signal.overlap_and_add(frames, step)], {length: 5, step: 5})
    np.testing.assert_array_equal(found, x.reshape(4, 5))
    np.testing.assert_array_equal(added, x)
    assert run(tf.signal.stft(x, length, step), {length: 5, step: 5}).shape == (4, 5)


@pytest.mark.parametrize("function", [tf.signal.stft, tf.signal.frame])
def test_frames_that_do_not_go_on_are_refused(function):
    with pytest.raises(ValueError, match="frame_step must be positive"):
        function(numbers(20), 4, 0)


BAD = [
    pytest.param(lambda n: tf.signal.rfft(numbers(2, 8), n), [-1], id="a negative length"),
    pytest.param(lambda n: tf.signal.irfft(numbers(2, 8) + 0j, n), [-1], id="and back"),
    pytest.param(lambda n: tf.raw_ops.Bincount([1, 2], n[0], [1.0]), [3], id="weights that miss"),
    pytest.param(lambda n: tf.histogram_fixed_width([1.0], [0.0, 1.0], n[0]), [0], id="no bins"),
]


@pytest.mark.parametrize(("make", "value"), BAD)
def test_bad_numbers_are_told_when_it_runs(make, value):
    given = tf.placeholder(tf.int32, [len(value)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(make(given), {given: value})


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.signal.frame(x, 4, 2, pad_end=True),
        lambda x: tf.signal.stft(x, 4, 2),
        lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 4, 2), 4, 2),
        lambda x: tf.signal.overlap_and_add(tf.signal.frame(x, 4, 2), 2),
        lambda x: tf.signal.rfft(x, [32]),
        tf.signal.dct,
    ],
    ids=["frame", "stft", "inverse_stft", "overlap_and_add", "rfft", "dct"],
)
def test_a_signal_of_unknown_rank_is_as_one_of_a_known(function):
    x = np.sin(np.arange(36, dtype=np.float32)).reshape(2, 18)
    known, unknown = function(tf.constant(x)), function(tf.placeholder_with_default(x, None))
    with tf.Session() as session:
        np.testing.assert_allclose(*session.run([unknown, known]), atol=1e-5)
