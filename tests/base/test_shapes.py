"""Plain shapes: how the rules of ops combine them."""

import numpy as np
import pytest

from tfdist.base import shapes
from tfdist.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param((2, 3), (2, 3), (2, 3), id="equal shapes stay"),
        pytest.param((2, 3), (3,), (2, 3), id="the shorter is filled up in front"),
        pytest.param((), (4, 5), (4, 5), id="a scalar goes with everything"),
        pytest.param((2, 1), (1, 3), (2, 3), id="ones stretch, on both sides"),
        pytest.param((0,), (1,), (0,), id="a one stretches to nothing, too"),
        pytest.param((None,), (3,), (3,), id="unknown against three must become three"),
        pytest.param((None,), (1,), (None,), id="unknown against one stays unknown"),
        pytest.param((None,), (None,), (None,), id="two unknowns stay unknown"),
        pytest.param((2, None), (None, 5), (2, 5), id="each side knows one dimension"),
        pytest.param(None, (2,), None, id="an unknown rank stays unknown"),
        pytest.param(None, None, None, id="two unknown ranks"),
    ],
)
def test_broadcast(one, other, expected):
    assert shapes.broadcast(one, other) == expected
    assert shapes.broadcast(other, one) == expected


def test_broadcast_says_what_does_not_fit():
    with pytest.raises(InvalidArgumentError, match="Dimensions must be equal, but are 3 and 4"):
        shapes.broadcast((2, 3), (4,))


def test_broadcast_agrees_with_numpy_on_known_shapes():
    every = [(), (1,), (3,), (2, 1), (2, 3), (4, 1, 3), (0, 3)]
    for one in every:
        for other in every:
            try:
                expected = np.broadcast_shapes(one, other)
            except ValueError:
                with pytest.raises(InvalidArgumentError):
                    shapes.broadcast(one, other)
            else:
                assert shapes.broadcast(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param((2, None), (None, 3), (2, 3), id="each side knows something"),
        pytest.param(None, (2, 3), (2, 3), id="an unknown rank takes the other"),
        pytest.param(None, None, None, id="nothing is known"),
        pytest.param((), (), (), id="scalars"),
        pytest.param((None,), (None,), (None,), id="an unknown dimension stays"),
        pytest.param((2,), (3,), "error", id="two and three contradict each other"),
        pytest.param((2,), (2, 1), "error", id="ranks contradict each other"),
        pytest.param((1,), (3,), "error", id="a one does not stretch here"),
    ],
)
def test_merge(one, other, expected):
    for first, second in ((one, other), (other, one)):
        if expected == "error":
            assert not shapes.compatible(first, second)
            with pytest.raises(InvalidArgumentError, match=r"left and right: .* must be equal"):
                shapes.merge(first, second, "left and right")
        else:
            assert shapes.compatible(first, second)
            assert shapes.merge(first, second) == expected


def test_merge_dim():
    assert shapes.merge_dim(None, 3) == 3
    assert shapes.merge_dim(3, None) == 3
    assert shapes.merge_dim(0, 0) == 0
    with pytest.raises(
        InvalidArgumentError, match="columns: Dimensions must be equal, but are 2 and 3"
    ):
        shapes.merge_dim(2, 3, "columns")


@pytest.mark.parametrize(
    ("shape", "least", "most", "fits"),
    [
        pytest.param((1, 2), 2, None, True, id="exactly as asked for"),
        pytest.param((1,), 2, None, False, id="too few"),
        pytest.param((1, 2, 3), 1, 2, False, id="more than the most"),
        pytest.param((1, 2), 1, 2, True, id="at the upper end"),
        pytest.param(None, 2, None, True, id="an unknown rank may fit"),
    ],
)
def test_require_rank(shape, least, most, fits):
    if fits:
        shapes.require_rank(shape, "x", least, most)
    else:
        with pytest.raises(InvalidArgumentError, match=r"x: Shape must be .*rank . but is rank ."):
            shapes.require_rank(shape, "x", least, most)


def test_an_axis_counts_from_either_end():
    assert [shapes.axis_of(axis, 3) for axis in (0, 2, -1, -3)] == [0, 2, 2, 0]
    for axis in (3, -4):
        with pytest.raises(InvalidArgumentError, match=rf"axis = {axis} not in \[-3, 3\)"):
            shapes.axis_of(axis, 3)


def test_the_number_of_elements():
    assert shapes.num_elements((2, 3)) == 6
    assert shapes.num_elements(()) == 1
    assert shapes.num_elements((0, 5)) == 0
    assert shapes.num_elements((2, None)) is None
    assert shapes.num_elements(None) is None


def test_the_shape_that_a_vector_spells():
    assert shapes.from_constant([2, -1]) == (2, None)
    assert shapes.from_constant(np.array([], int)) == ()
    assert shapes.from_constant(None) is None
