"""Convolution, pooling and normalization of images beside plain loops, in all formats and types."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.evaluate import evaluate
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.ops.array.constants import constant, placeholder
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.nn import functions as nn

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(2, 7, 6, 3))
FILTERS = RNG.normal(size=(3, 2, 3, 9))  # nine channels: the way back is a product, too


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def looped(x, filters, strides, around, dilations):
    """Return the convolution, sum by sum."""
    x = np.pad(x, [(0, 0), *around, (0, 0)])
    rows, columns = filters.shape[:2]
    reach = [(size - 1) * step + 1 for size, step in zip((rows, columns), dilations, strict=True)]
    counts = [(x.shape[1 + axis] - reach[axis]) // strides[axis] + 1 for axis in (0, 1)]
    out = np.zeros((len(x), *counts, filters.shape[-1]))
    for i, j in np.ndindex(*counts):
        for a, b in np.ndindex(rows, columns):
            pixel = x[:, i * strides[0] + a * dilations[0], j * strides[1] + b * dilations[1]]
            out[:, i, j] += pixel @ filters[a, b]
    return out


@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (3, 4)])
@pytest.mark.parametrize("dilations", [(1, 1), (2, 3)])
@pytest.mark.parametrize("around", [((0, 0), (0, 0)), ((1, 2), (0, 3)), ((4, 0), (1, 1))])
def test_convolution_and_its_gradients_are_those_of_the_loop(strides, dilations, around):
    x, filters = constant(IMAGES), constant(FILTERS)
    padding = [(0, 0), *around, (0, 0)]
    y = nn.conv2d(x, filters, strides, padding, dilations=dilations)
    wanted = looped(IMAGES, FILTERS, strides, around, dilations)
    np.testing.assert_allclose(evaluate(y), wanted, atol=1e-12)
    weights = RNG.normal(size=wanted.shape)
    for one, other in zip(evaluate(gradients(y, [x, filters], weights)), (0, 1), strict=True):
        # both are linear: the gradient's product with a change is the change of the sum
        change = RNG.normal(size=one.shape)
        moved = (change, FILTERS) if other == 0 else (IMAGES, change)
        effect = (looped(*moved, strides, around, dilations) * weights).sum()
        np.testing.assert_allclose((one * change).sum(), effect)


CALLS = {
    "conv2d": lambda x, layout: nn.conv2d(x, FILTERS, 2, "SAME", data_format=layout),
    "depthwise": lambda x, layout: nn.depthwise_conv2d_native(
        x, FILTERS[..., :2], [1] * 4, "VALID", data_format=layout
    ),
    "max_pool": lambda x, layout: nn.max_pool(x, 3, 2, "SAME", data_format=layout),
    "avg_pool": lambda x, layout: nn.avg_pool(x, 3, 2, "SAME", data_format=layout),
    "fused_batch_norm": lambda x, layout: raw.FusedBatchNormV3(
        raw.Cast(x, DstT="float32"), *np.ones([2, 3], "f"), *np.zeros([2, 0], "f"),
        data_format=layout,
    )[0],
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_channels_in_front_give_the_same(call):
    last, first = constant(IMAGES), constant(np.moveaxis(IMAGES, -1, 1))
    y, other = call(last, "NHWC"), call(first, "NCHW")
    assert [y.shape[i] for i in (0, 3, 1, 2)] == list(other.shape)
    np.testing.assert_allclose(np.moveaxis(evaluate(y), -1, 1), evaluate(other), atol=1e-6)
    (one,), (two,) = gradients(y, last), gradients(other, first)
    np.testing.assert_allclose(np.moveaxis(evaluate(one), -1, 1), evaluate(two), atol=1e-5)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_empty_batch_has_an_empty_result(call):
    x = placeholder("float64", [None, 7, 6, 3])
    y = call(x, "NHWC")
    both = evaluate([y, gradients(y, x)[0]], {x: IMAGES[:0]})
    assert both[0].shape == (0, *y.shape.as_list()[1:])
    assert both[1].shape == (0, 7, 6, 3)


def test_halves_are_summed_as_floats():
    """4096 ones: a sum in halves would stall at 2048."""
    ones = np.ones([1, 64, 64, 1], np.float16)
    assert evaluate(nn.conv2d(ones, ones[0, ..., None], 1, "VALID")).item() == 4096
    assert evaluate(nn.avg_pool(ones, 64, 1, "VALID")).item() == 1


def test_of_equal_maxima_the_first_gets_the_gradient():
    x = constant(np.zeros([1, 3, 3, 1], np.float32))
    y = nn.max_pool(x, 2, 1, "VALID")
    found = evaluate(gradients(y, x)[0])[0, :, :, 0]
    assert found.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_an_infinite_gradient_stays_where_it_belongs():
    x = constant(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2, 1))
    y = nn.max_pool(x, 2, 2, "VALID")
    assert evaluate(gradients(y, x, np.full([1, 1, 1, 1], np.inf, "f"))[0]).ravel().tolist() == [
        0,
        0,
        0,
        np.inf,
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.conv2d(IMAGES, FILTERS, 0, "SAME"), "Stride must be > 0"),
        (lambda: nn.conv2d(IMAGES[0], FILTERS, 1, "SAME"), "rank 4"),
        (
            lambda: nn.conv2d(IMAGES, FILTERS, 1, [[1, 0]] * 4),
            "padding in the batch or depth dimensions",
        ),
        (lambda: nn.pool(IMAGES, [2, 2], "MIN", "SAME"), "MAX or AVG"),
        (lambda: nn.fused_batch_norm(IMAGES, [1.0], [1.0], [1.0], [1.0]), "must be None"),
    ],
)
def test_what_does_not_fit_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.conv2d(IMAGES, FILTERS, [1, 1, 1, 2], "SAME"), "in the batch and depth"),
        (lambda: nn.max_pool(IMAGES, [2, 2, 2, 1], 1, "SAME"), "on the batch dimension"),
    ],
)
def test_what_no_kernel_takes_is_told_when_it_runs(call, words):
    with pytest.raises((InvalidArgumentError, UnimplementedError), match=words):
        evaluate(call())


def test_shapes_that_are_known_late_are_checked_as_well():
    d_y = placeholder("float64", None)
    d_x = nn.conv2d_backprop_input([2, 7, 6, 3], FILTERS, d_y, 1, "SAME")
    with pytest.raises(InvalidArgumentError, match="doesn't match computed"):
        evaluate(d_x, {d_y: np.zeros([2, 6, 6, 9])})
