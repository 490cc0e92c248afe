"""tf.image's functions beside what TensorFlow 1.15.5 makes of the same calls."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import tfdist as tf
from tests.ops.differential import outcome
from tests.ops.image import image_bombs
from tests.ops.image.image_calls import CALLS, ERRORS, calls, spelled_out
from tests.ops.test_differential import compare_first_words
from tfdist.errors import DeadlineExceededError, InvalidArgumentError
from tfdist.formats.images import write_png
from tfdist.graph.op_def import raw

EXPECTED = json.loads(
    Path(__file__).with_name("expected_images_1_15.json").read_text(encoding="utf-8")
)

# Calls whose nodes are others: what they are made of is a choice.
OTHER_NODES = (
    "decode_image", "psnr", "ssim", "rot90", "sobel", "image_gradients", "with_pad",
    "random_flip_left", "rgb_to_grayscale(u", "adjust_jpeg",
)  # fmt: skip
# Noise is not TensorFlow's, nor are random boxes.
OWN_NUMBERS = ("sample_distorted", "extract_glimpse(x(2, 5, 6, 3), [3, 4], [[0.2",
               "extract_glimpse(x(2, 5, 6, 3), [3, 4], [[1.0, 2.0], [3.0")  # fmt: skip
LOSSY = ("jpeg", "decode_png(jpeg")


def evaluate(graph, results):
    with tf.Session(graph=graph) as session:
        return session.run(results)


def nodes(found):
    """Return the nodes of a call but those of assertions, which may be fewer here."""
    return [node for node in found.get("nodes", "").split(" | ") if "ssert" not in node]


def has(source, parts):
    return any(part in source for part in parts)


@pytest.mark.parametrize("source", calls(CALLS))
def test_a_call_gives_what_it_gives_on_tensorflow(source):
    found, wanted = outcome(tf, spelled_out(source), evaluate), EXPECTED[source]
    for key in ("error", "run_error"):
        assert found.get(key) == wanted.get(key)
    if not source.startswith("gradient(") and not has(source, OTHER_NODES):
        assert nodes(found) == nodes(wanted)
    pairs = zip(found.get("outputs", ()), wanted.get("outputs", ()), strict=True)
    for ours, theirs in pairs:
        assert ours[:3] == theirs[:3], "they differ in type, static shape or shape"
        if len(theirs) > 3 and not has(source, OWN_NUMBERS):
            compare(source, ours[3], theirs[3])


@pytest.mark.parametrize("source", calls(ERRORS))
def test_a_call_fails_in_the_words_of_tensorflow(source):
    compare_first_words(outcome(tf, spelled_out(source), evaluate), EXPECTED[source])


def compare(source, ours, theirs):
    """Assert that numbers agree, those of decoded JPEG by a few steps of 256."""
    if has(source, LOSSY) and len(ours) > 3:
        step = 1 if isinstance(theirs[0], int) else 1 / 255
        np.testing.assert_allclose(ours, theirs, atol=LARGEST_STEPS * step)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


LARGEST_STEPS = 13  # where a crop's edge takes other neighbours; 4 elsewhere


LINEAR = {
    "bilinear": lambda x: tf.image.resize_bilinear(x, [5, 7], half_pixel_centers=True),
    "bilinear, smaller": lambda x: tf.image.resize_bilinear(x, [2, 2], align_corners=True),
    "bicubic": lambda x: tf.image.resize_bicubic(x, [5, 7]),
    "bicubic, smaller": lambda x: tf.image.resize_bicubic(x, [2, 3], half_pixel_centers=True),
    "crops": lambda x: tf.image.crop_and_resize(
        x, [[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, -0.2, 0.1], [0.1, 0.2, 0.9, 0.7]], [1, 0, 1], [3, 4]
    ),
    "nearest crops": lambda x: tf.image.crop_and_resize(
        x, [[0.1, 0.2, 0.9, 0.7]], [1], [3, 4], method="nearest"
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_gradient_is_the_transpose_of_what_is_linear(name):
    """<f(x), d> = <x, gradient of f for d>."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=[2, 3, 4, 3]).astype(np.float32))
    y = LINEAR[name](x)
    d = tf.constant(rng.normal(size=y.shape.as_list()).astype(np.float32))
    with tf.Session() as session:
        x, y, d, back = session.run([x, y, d, tf.gradients(y, x, d)[0]])
    np.testing.assert_allclose((y * d).sum(), (x * back).sum(), rtol=1e-4)


def test_sampled_boxes_keep_what_was_asked_for():
    begin, size, box = tf.image.sample_distorted_bounding_box(
        [50, 60, 3], [[[0.1, 0.2, 0.8, 0.7]]], min_object_covered=0.9,
        aspect_ratio_range=[0.9, 1.1], area_range=[0.3, 0.8],
    )  # fmt: skip
    with tf.Session() as session:
        for _ in range(50):
            (top, left, _), (height, width, rest), [[corners]] = session.run([begin, size, box])
            assert rest == -1
            assert 0 <= top <= top + height <= 50
            assert 0 <= left <= left + width <= 60
            found = [top, left, top + height, left + width]
            np.testing.assert_allclose(corners * [50, 60, 50, 60], found, rtol=1e-5)
            assert 0.3 <= height * width / 3000 <= 0.8
            assert 0.85 <= width / height <= 1.15
            rows = min(top + height, 40) - max(top, 5)
            inner = rows * (min(left + width, 42) - max(left, 12))
            assert inner / (35 * 30) >= 0.9


def test_random_functions_draw_anew_in_each_run():
    image = tf.constant(np.random.default_rng(0).random([2, 9, 9, 3]).astype(np.float32))
    made = [
        tf.image.random_brightness(image, 0.5), tf.image.random_contrast(image, 0.1, 0.9),
        tf.image.random_hue(image, 0.4), tf.image.random_saturation(image, 0.1, 0.9),
        tf.image.random_crop(image, [2, 4, 4, 3]),
    ]  # fmt: skip
    flips = [tf.image.random_flip_left_right(image), tf.image.random_flip_up_down(image[0])]
    with tf.Session() as session:
        runs = [session.run(made) for _ in range(8)]  # there are but 36 places for a crop
        for found in zip(*runs, strict=True):
            assert len({each.tobytes() for each in found}) > 1
        both = {tuple(each.tobytes() for each in session.run(flips)) for _ in range(60)}
    assert len(both) == 8, "two images, and one, flipped or not"


@pytest.mark.parametrize("wide", [False, True])
def test_grey_images_come_back_from_png(wide):
    pixels = np.arange(12).reshape(3, 4, 1) * (4001 if wide else 21)
    pixels = pixels.astype(np.uint16 if wide else np.uint8)
    back = tf.image.decode_png(tf.image.encode_png(pixels), dtype=pixels.dtype)
    np.testing.assert_array_equal(tf.Session().run(back), pixels)


BAD = [
    (lambda: tf.image.decode_jpeg(b"\xff\xd8\xff"), InvalidArgumentError, "Invalid JPEG data"),
    (lambda: tf.image.decode_gif(b"GIF89a"), InvalidArgumentError, "Invalid GIF data"),
    (lambda: tf.image.decode_png(b"\x89PNG\r\n\x1a\n" + b"\0" * 40), InvalidArgumentError,
     "Invalid PNG data"),
    (lambda: tf.image.decode_bmp(b"BM" + b"\0" * 60), InvalidArgumentError, "channels must be"),
    (lambda: tf.image.encode_png(np.zeros([0, 3, 1], np.uint8)), InvalidArgumentError, "empty"),
    (lambda: tf.image.non_max_suppression(np.zeros([1, 4], "f"), [0.5], 1, 1.5),
     InvalidArgumentError, r"iou_threshold must be in \[0, 1\]"),
    (lambda: raw.AdjustHue(np.zeros([1, 1, 2], "f"), 0.1), InvalidArgumentError, "3 channels"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "error", "message"), BAD)
def test_bad_input_is_told(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        tf.Session().run(build())


PNG_3_BY_5 = write_png(np.zeros([5, 3, 3], np.uint8))
BOMBS = [
    pytest.param("png", image_bombs.png(60_000, 60_000), "60000 by 60000 are 3600000000", id="PNG"),
    pytest.param("png", image_bombs.png(2**31 - 1, 2), "2147483647 by 2", id="PNG, a long one"),
    pytest.param("jpeg", image_bombs.jpeg(65_500, 65_500), "65500 by 65500", id="JPEG"),
    pytest.param("bmp", image_bombs.bmp(40_000, -40_000), "40000 by 40000", id="BMP"),
    pytest.param("gif", image_bombs.gif(65_535, 65_535), "65535 by 65535", id="GIF"),
    pytest.param("gif", image_bombs.gif(9_000, 9_000, 9), "9 frames of 9000 by 9000", id="frames"),
    pytest.param("png", image_bombs.gif(65_535, 65_535), "65535 by 65535", id="GIF as PNG"),
    pytest.param("image", image_bombs.png(60_000, 60_000), "60000 by 60000", id="any image"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "told"), BOMBS)
def test_a_file_of_too_many_pixels_is_refused_before_memory_is_taken(kind, data, told):
    """Without a warning of Pillow's; those are errors here."""
    decode = getattr(tf.image, f"decode_{kind}")
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=told) as raised:
        tf.Session().run(decode(data))
    assert "268435456 at most are decoded; TFDIST_IMAGE_PIXELS" in raised.value.message


def test_how_many_pixels_may_be_decoded_can_be_set(monkeypatch):
    file = tf.image.encode_png(np.zeros([3, 5, 1], np.uint8))
    monkeypatch.setenv("TFDIST_IMAGE_PIXELS", "15")
    assert tf.Session().run(tf.image.decode_png(file)).shape == (3, 5, 1)
    monkeypatch.setenv("TFDIST_IMAGE_PIXELS", "14")
    with pytest.raises(InvalidArgumentError, match="PNG size too large: 5 by 3 are 15 pixels"):
        tf.Session().run(tf.image.decode_png(file))


def test_pillows_own_bound_does_not_hold(monkeypatch):
    """It belongs to the whole process, warns, and is lower."""
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 4)
    for data in (image_bombs.gif(3, 5), PNG_3_BY_5):
        assert tf.Session().run(tf.image.decode_image(data)).shape[-3:-1] == (5, 3)


def test_a_frame_beyond_its_canvas_is_an_error():
    with pytest.raises(InvalidArgumentError, match="Invalid GIF data"):
        tf.Session().run(tf.image.decode_gif(image_bombs.gif(1, 1, frame=(30_000, 30_000))))


def test_an_animation_of_many_frames_ends_with_its_step():
    data = image_bombs.gif(1, 1, 40_000)
    with tf.Session() as session, pytest.raises(DeadlineExceededError):
        session.run(tf.image.decode_gif(data), options=tf.RunOptions(timeout_in_ms=20))


def test_height_and_width_may_be_two_arguments_as_before_1_0():
    image = np.arange(12.0).reshape(2, 2, 3)
    nearest = tf.image.ResizeMethod.NEAREST_NEIGHBOR
    for old, new in [((4, 6), ([4, 6],)), ((4, 6, nearest), ([4, 6], nearest))]:
        values = tf.Session().run([tf.image.resize_images(image, *size) for size in (old, new)])
        np.testing.assert_array_equal(*values)
