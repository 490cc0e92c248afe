"""TensorShape and Dimension behave as in TensorFlow 1.15."""

import numpy as np
import pytest

from tfdist.base.tensor_shape import Dimension, TensorShape, as_shape

UNKNOWN = Dimension(None)


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        pytest.param([5, None], "(5, ?)", id="a question mark for what is not known"),
        pytest.param([5], "(5,)", id="a comma behind a single dimension"),
        pytest.param([None], "(?,)", id="a single unknown dimension"),
        pytest.param([], "()", id="a scalar"),
        pytest.param(None, "<unknown>", id="an unknown rank"),
    ],
)
def test_a_shape_prints_as_in_tensorflow(dims, text):
    assert str(TensorShape(dims)) == text


def test_a_shape_shows_its_dimensions():
    assert repr(TensorShape([5, None])) == "TensorShape([Dimension(5), Dimension(None)])"
    assert repr(TensorShape(None)) == "TensorShape(None)"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(None, None, id="None is an unknown rank"),
        pytest.param(5, (5,), id="a number is one dimension"),
        pytest.param([2, None], (2, None), id="a list"),
        pytest.param((2, 3), (2, 3), id="a tuple"),
        pytest.param([Dimension(2), UNKNOWN], (2, None), id="dimensions"),
        pytest.param(TensorShape([2]), (2,), id="a shape"),
        pytest.param(np.array([2, 3]), (2, 3), id="an array"),
        pytest.param([np.int64(4)], (4,), id="NumPy's integers"),
        pytest.param((d for d in (1, 2)), (1, 2), id="a generator"),
    ],
)
def test_as_shape_reads(given, expected):
    assert as_shape(given) == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        pytest.param([2, -1], ValueError, id="a negative dimension in a list"),
        pytest.param((2, -1), ValueError, id="a negative dimension in a tuple"),
        pytest.param([2.5], ValueError, id="half a dimension"),
        pytest.param("3", TypeError, id="a string"),
        pytest.param(["x"], ValueError, id="a list of strings"),
    ],
)
def test_as_shape_refuses(given, error):
    with pytest.raises(error):
        as_shape(given)


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        pytest.param(lambda: UNKNOWN == 3, None, id="unknown equals three: nobody knows"),
        pytest.param(lambda: Dimension(3) == UNKNOWN, None, id="three equals unknown: the same"),
        pytest.param(lambda: UNKNOWN == Dimension(None), None, id="two unknowns: nobody knows"),
        pytest.param(lambda: UNKNOWN != 3, None, id="unknown differs from three: nobody knows"),
        pytest.param(lambda: UNKNOWN < 3, None, id="unknown is less: nobody knows"),
        pytest.param(lambda: Dimension(3) >= None, None, id="None is an unknown dimension"),
        pytest.param(lambda: Dimension(3) == 3, True, id="three is three"),
        pytest.param(lambda: Dimension(3) != 4, True, id="three is not four"),
        pytest.param(lambda: Dimension(3) < 4, True, id="three is less than four"),
        pytest.param(lambda: Dimension(3) <= 2, False, id="three is not two or less"),
        pytest.param(lambda: Dimension(3) > 2, True, id="three is more than two"),
        pytest.param(lambda: Dimension(3) >= 4, False, id="three is not four or more"),
        pytest.param(lambda: Dimension(3) == "x", False, id="a dimension is no string"),
    ],
)
def test_dimensions_compare(comparison, expected):
    assert comparison() is expected


@pytest.mark.parametrize(
    ("sum_", "expected"),
    [
        pytest.param(lambda: Dimension(3) + 4, 7, id="plus"),
        pytest.param(lambda: 4 + Dimension(3), 7, id="plus from the left"),
        pytest.param(lambda: Dimension(7) - 2, 5, id="minus"),
        pytest.param(lambda: 4 - Dimension(3), 1, id="minus from the left"),
        pytest.param(lambda: Dimension(7) * 2, 14, id="times"),
        pytest.param(lambda: 2 * Dimension(7), 14, id="times from the left"),
        pytest.param(lambda: Dimension(7) // 2, 3, id="divided, rounded down"),
        pytest.param(lambda: 7 // Dimension(2), 3, id="divided from the left"),
        pytest.param(lambda: Dimension(7) % 4, 3, id="remainder"),
        pytest.param(lambda: Dimension(7) + None, None, id="plus unknown is unknown"),
        pytest.param(lambda: UNKNOWN * 2, None, id="unknown times two is unknown"),
    ],
)
def test_dimensions_calculate(sum_, expected):
    result = sum_()
    assert isinstance(result, Dimension)
    assert result.value == expected


def test_a_dimension_works_as_an_index():
    assert [10, 20, 30][Dimension(1)] == 20
    assert list(range(Dimension(2))) == [0, 1]
    assert int(Dimension(4)) == 4


def test_a_dimension_prints():
    assert (str(UNKNOWN), repr(UNKNOWN)) == ("?", "Dimension(None)")
    assert (str(Dimension(3)), repr(Dimension(3))) == ("3", "Dimension(3)")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(-1, id="negative"),
        pytest.param(2.5, id="a fraction"),
        pytest.param("x", id="a word"),
    ],
)
def test_no_dimension(value):
    with pytest.raises(ValueError, match=r"-1|2\.5|x"):
        Dimension(value)


def test_dimensions_merge():
    assert Dimension(3).merge_with(None).value == 3
    assert UNKNOWN.merge_with(4).value == 4
    assert Dimension(3).is_compatible_with(None)
    assert not Dimension(3).is_compatible_with(4)
    with pytest.raises(ValueError, match="3 and 4"):
        Dimension(3).merge_with(4)


def test_what_is_known_of_a_shape():
    shape = TensorShape([2, None])
    assert (shape.ndims, shape.rank, len(shape)) == (2, 2, 2)
    assert shape.as_list() == [2, None]
    assert [dim.value for dim in shape.dims] == [2, None]
    assert [dim.value for dim in shape] == [2, None]
    assert not shape.is_fully_defined()
    assert shape.num_elements() is None
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape([]).is_fully_defined()


def test_what_is_not_known_of_an_unknown_rank():
    shape = TensorShape(None)
    assert (shape.ndims, shape.dims, shape.num_elements()) == (None, None, None)
    assert not shape.is_fully_defined()
    for ask in (len, list, TensorShape.as_list):
        with pytest.raises(ValueError, match="unknown"):
            ask(shape)


def test_a_shape_is_true_if_its_rank_is_known():
    assert TensorShape([])
    assert not TensorShape(None)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param(1, Dimension(2), id="one dimension"),
        pytest.param(-1, Dimension(3), id="counted from the end"),
        pytest.param(slice(1, None), TensorShape([2, 3]), id="a slice is a shape"),
        pytest.param(slice(0, 0), TensorShape([]), id="an empty slice is a scalar's shape"),
    ],
)
def test_parts_of_a_shape(key, expected):
    part = TensorShape([1, 2, 3])[key]
    assert type(part) is type(expected)
    assert part == expected


def test_parts_of_an_unknown_shape():
    shape = TensorShape(None)
    assert shape[1].value is None
    assert shape[1:].as_tuple() is None
    assert shape[1:3].as_tuple() == (None, None)


def test_shapes_equal_what_spells_them():
    assert TensorShape([2, 3]) == [2, 3]
    assert TensorShape([2, 3]) == (2, 3)
    assert TensorShape([2]) != TensorShape([3])
    assert TensorShape([]) != TensorShape(None)
    assert TensorShape(None) == TensorShape(None)


def test_shapes_merge():
    assert TensorShape([2, None]).merge_with([None, 3]).as_list() == [2, 3]
    assert TensorShape(None).merge_with([2]).as_list() == [2]
    with pytest.raises(ValueError, match=r"\(2, \?\) and \(3, 3\)"):
        TensorShape([2, None]).merge_with([3, 3])


def test_shapes_concatenate():
    assert TensorShape([2]).concatenate([3, None]).as_list() == [2, 3, None]
    assert TensorShape([2]).concatenate(3).as_list() == [2, 3]
    assert TensorShape([2]).concatenate(None).ndims is None


@pytest.mark.parametrize(
    ("assertion", "fits"),
    [
        pytest.param(lambda s: s.with_rank(2), True, id="with_rank, the right one"),
        pytest.param(lambda s: s.with_rank(1), False, id="with_rank, the wrong one"),
        pytest.param(lambda s: s.with_rank_at_least(2), True, id="with_rank_at_least, as many"),
        pytest.param(lambda s: s.with_rank_at_least(3), False, id="with_rank_at_least, more"),
        pytest.param(lambda s: s.with_rank_at_most(2), True, id="with_rank_at_most, as many"),
        pytest.param(lambda s: s.with_rank_at_most(1), False, id="with_rank_at_most, fewer"),
        pytest.param(lambda s: s.assert_has_rank(1), False, id="assert_has_rank"),
        pytest.param(lambda s: s.assert_same_rank([1]), False, id="assert_same_rank"),
        pytest.param(lambda s: s.assert_is_compatible_with([2, 9]), True, id="compatible"),
        pytest.param(lambda s: s.assert_is_compatible_with([3, 9]), False, id="not compatible"),
        pytest.param(lambda s: s.assert_is_fully_defined(), False, id="not fully defined"),
    ],
)
def test_assertions_on_a_shape(assertion, fits):
    if fits:
        assertion(TensorShape([2, None]))
    else:
        with pytest.raises(ValueError, match=r"\(2, \?\)"):
            assertion(TensorShape([2, None]))


def test_a_rank_can_be_given_to_an_unknown_shape():
    assert TensorShape(None).with_rank(2).as_list() == [None, None]
