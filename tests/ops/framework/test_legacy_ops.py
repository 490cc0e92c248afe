"""Ops of old graphs that real TensorFlow 1.15 builds no more, references, bands of diagonals."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.graph.op_def import raw


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def run(*results, **options):
    with tf.Session() as session:
        return session.run(results[0] if len(results) == 1 else list(results), **options)


def test_tiles_are_summed():
    tiled = np.tile(np.arange(6).reshape(2, 3), [2, 3])
    assert run(raw.TileGrad(tiled, [2, 3])).tolist() == [[0, 6, 12], [18, 24, 30]]


def test_a_crop_is_a_part_of_the_image():
    image = np.arange(24).reshape(4, 3, 2)
    crop = run(raw.RandomCrop(image, [2, 1], seed=3))
    row, column = divmod(crop[0, 0, 0] // 2, 3)
    np.testing.assert_array_equal(crop, image[row : row + 2, column : column + 1])


def test_contrast_is_adjusted_about_the_mean_of_each_channel():
    image = np.uint8([[[10, 0]], [[30, 200]]])
    assert run(raw.AdjustContrast(image, 2.0, 0.0, 255.0)).tolist() == [[[0, 0]], [[40, 255]]]


def test_the_first_quantize_and_dequantize_takes_its_range_as_attributes():
    numbers = np.float32([-0.7, 0.1, 0.9])
    bounds = {"range_given": True, "num_bits": 3}
    first = raw.QuantizeAndDequantize(numbers, input_min=-1.0, input_max=0.5, **bounds)
    second = raw.QuantizeAndDequantizeV2(numbers, -1.0, 0.5, **bounds)
    np.testing.assert_array_equal(*run(first, second))


def test_the_first_poisson_gives_the_type_of_the_rate():
    drawn = run(raw.RandomPoisson([5], np.float32([1, 20]), seed=1))
    assert (drawn.shape, drawn.dtype) == ((5, 2), np.float32)


def test_the_second_placeholder_must_be_fed():
    tensor = raw.PlaceholderV2(dtype="float32", shape=[2])
    assert run(tensor + 1, feed_dict={tensor: [1, 2]}).tolist() == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
        run(tensor)


def test_abort_is_refused():
    with pytest.raises(tf.errors.UnimplementedError, match=r"ends the whole process.*'bye'"):
        run(raw.Abort(error_msg="bye"))


def test_a_first_variable_of_no_shape_takes_any():
    v = raw.Variable(shape=[], dtype="float32", name="v")
    assert v.shape.ndims is None
    assert run(tf.assign(v, [1.0, 2.0], validate_shape=False)).tolist() == [1, 2]


def test_a_reference_is_handed_on():
    one, two = (raw.Variable(shape=[2], dtype="float32", name=name) for name in "ab")
    place = tf.placeholder(tf.int32, [])
    chosen = raw.RefSelect(place, [one, raw.RefIdentity(two)])
    with tf.Session() as session:
        session.run([tf.assign(one, [1, 2]), tf.assign(two, [3, 4])])
        session.run(tf.assign_add(chosen, [10, 10]), {place: 1})
        assert session.run([one, two])[1].tolist() == [13, 14]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"range \[0, 2\) but got 2"):
            session.run(tf.assign_add(chosen, [10, 10]), {place: 2})


def test_padding_is_no_part_of_the_gradient_of_a_band():
    diagonal, matrix = tf.constant([[1.0, 2], [3, 0]]), tf.constant([[1.0, 2, 3], [4, 5, 6]])
    made = tf.matrix_diag(diagonal, k=(-1, 0), padding_value=7)
    taken = tf.matrix_diag_part(matrix, k=(0, 1), padding_value=7)
    found = run(
        made, taken, tf.gradients(made * [[1, 2], [3, 4]], diagonal)[0],
        tf.gradients(taken * [[1, 2], [3, 4]], matrix)[0],
    )  # fmt: skip
    assert [each.tolist() for each in found] == [
        [[1, 7], [3, 2]], [[2, 6], [1, 5]], [[1, 4], [3, 0]], [[3, 1, 0], [0, 4, 2]],
    ]  # fmt: skip


def test_the_gradient_of_a_scaled_image_is_its_transpose():
    image = tf.constant(np.arange(24, dtype=np.float32).reshape(1, 4, 3, 2))
    scaled = raw.ScaleAndTranslate(image, [2, 5], [0.5, 1.6], [0.1, -0.1])
    weights = np.random.default_rng(0).standard_normal((1, 2, 5, 2)).astype(np.float32)
    found = run(scaled, tf.gradients(scaled * weights, image)[0], image)
    np.testing.assert_allclose((found[0] * weights).sum(), (found[1] * found[2]).sum(), rtol=1e-4)


# What does not fit -> what is said of it.
WRONG = {
    "k is the wrong way round": (lambda: tf.matrix_diag([1], k=(1, 0)), "greater than upper"),
    "rows are too few": (lambda: tf.matrix_diag([1, 2], k=-1, num_rows=2), "num_rows is too small"),
    "sizes agree with no diagonal": (
        lambda: tf.matrix_diag([1, 2], k=1, num_rows=9, num_cols=9), "not consistent"),
    "the diagonal is outside": (lambda: tf.matrix_diag_part([[1, 2]], k=2), "out of bound"),
    "a shape is not known": (lambda: tf.parallel_stack([tf.placeholder("int32")]), "fully defined"),
    "bits make no bytes": (lambda: raw.CompareAndBitpack([1.0, 2.0], 0.5), "divisible by 8"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_told_early(make, said):
    with pytest.raises(ValueError, match=said):
        make()


# What shows only when it runs -> what is said of it.
WRONG_THEN = {
    "a scale of nothing": (
        lambda: raw.ScaleAndTranslate(np.ones((1, 2, 2, 1)), [2, 2], [0.0, 1.0], [0.0, 0.0]),
        "scale must be greater than zero"),
    "an axis that is not there": (lambda: raw.DataFormatDimMap([4]), "axis of NHWC"),
    "formats of other axes": (
        lambda: raw.DataFormatDimMap([1], src_format="ABCD", dst_format="CBAE"), "permutation"),
    "a vector without all axes": (lambda: raw.DataFormatVecPermute([1, 2, 3]), "of size 4"),
    "places that are no vector": (lambda: raw.InplaceAdd([1.0], 0, 1.0), "i must be a vector"),
    "rows of another length": (lambda: raw.InplaceAdd([1.0], [0], [[1.0]]), "shape doesn't match"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "said"), WRONG_THEN.values(), ids=WRONG_THEN)
def test_what_does_not_fit_is_told_when_it_runs(make, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        run(make())
