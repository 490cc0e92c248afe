"""Nested structures: what is taken apart and put together, in which order, and what is refused.

The answers are those of `tf.nest` in TensorFlow 1.15.5, and so are the errors' classes and the
parts of their messages that say what differs.
"""

import re
from collections import OrderedDict, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

from tfdist.base import nest

Pair = namedtuple("Pair", "a b")
SamePair = namedtuple("Pair", "a b")
OtherFields = namedtuple("Pair", "a c")
OtherName = namedtuple("OtherName", "a b")


class Row(list):
    pass


class Triple(tuple):
    pass


class Table(dict):
    pass


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        pytest.param(1, [1], id="a leaf alone"),
        pytest.param(None, [None], id="None is a leaf"),
        pytest.param("ab", ["ab"], id="a string is a leaf"),
        pytest.param({1}, [{1}], id="a set is a leaf"),
        pytest.param([], [], id="an empty list has none"),
        pytest.param([(), {}, [[]]], [], id="nor has what holds empty ones only"),
        pytest.param([None, [None, 1]], [None, None, 1], id="None within"),
        pytest.param([1, (2, [3]), 4], [1, 2, 3, 4], id="lists and tuples in their order"),
        pytest.param({"b": 1, "a": {"d": 2, "c": 3}}, [3, 2, 1], id="dicts by their sorted keys"),
        pytest.param(OrderedDict([("b", 1), ("a", 2)]), [2, 1], id="ordered ones too"),
        pytest.param({2: "x", 1: "y"}, ["y", "x"], id="keys that are numbers"),
        pytest.param(defaultdict(int, b=1, a=2), [2, 1], id="dicts with defaults"),
        pytest.param(Pair(2, [1, (3,)]), [2, 1, 3], id="named tuples by their fields"),
        pytest.param(Row([1, Row([2])]), [1, 2], id="classes made of lists"),
    ],
)
def test_flatten(structure, leaves):
    assert nest.flatten(structure) == leaves


def test_an_array_is_a_leaf():
    array = np.arange(3)
    assert nest.flatten([array])[0] is array
    assert not nest.is_nested(array)


PACKED = [
    pytest.param(1, ["x"], "x", id="a leaf"),
    pytest.param(None, ["x"], "x", id="None"),
    pytest.param([], [], [], id="an empty list"),
    pytest.param(((), {}), [], ((), {}), id="empty within"),
    pytest.param([1, (2, {"a": 3})], ["x", "y", "z"], ["x", ("y", {"a": "z"})], id="nested"),
    pytest.param({"b": 1, "a": 2}, ["x", "y"], {"b": "y", "a": "x"}, id="a dict"),
    pytest.param(Pair(1, [2]), ["x", "y"], Pair("x", ["y"]), id="a named tuple"),
    pytest.param(Row([1]), ["x"], Row(["x"]), id="a class made of a list"),
    pytest.param(Triple([1]), ["x"], Triple(["x"]), id="a class made of a tuple"),
    pytest.param(Table(a=1), ["x"], Table(a="x"), id="a class made of a dict"),
    pytest.param(
        OrderedDict([("b", 1), ("a", 2)]), ["x", "y"], OrderedDict([("b", "y"), ("a", "x")]),
        id="an ordered dict",
    ),
    pytest.param(
        defaultdict(int, a=1), ["x"], defaultdict(int, a="x"), id="a dict with a default"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("structure", "leaves", "packed"), PACKED)
def test_pack(structure, leaves, packed):
    found = nest.pack_as(structure, leaves)
    assert found == packed
    assert type(found) is type(packed)
    assert nest.pack_as(structure, nest.flatten(found)) == packed


def test_packing_keeps_the_order_of_keys_and_the_default():
    assert list(nest.pack_as({"b": 1, "a": 2}, [10, 20])) == ["b", "a"]
    assert nest.pack_as(defaultdict(list, a=1), [10])["new"] == []


@pytest.mark.parametrize(
    ("structure", "leaves"), [(1, []), (1, [1, 2]), ([1, 2], [1]), ([1, [2]], [1, 2, 3])]
)
def test_packing_takes_as_many_leaves_as_there_are(structure, leaves):
    wanted = len(nest.flatten(structure))
    with pytest.raises(ValueError, match=f"has {wanted} leaves, but {len(leaves)} are given"):
        nest.pack_as(structure, leaves)


@pytest.mark.parametrize(
    ("structure", "mapped"),
    [
        (1, "1"), ([], []), (None, "None"), ([1, (2, {"a": 3})], ["1", ("2", {"a": "3"})]),
        (Pair(1, {}), Pair("1", {})),
    ],
)  # fmt: skip
def test_map(structure, mapped):
    assert nest.map_leaves(str, structure) == mapped


def test_what_a_function_returns_may_be_nested_itself():
    assert nest.map_leaves(lambda leaf: [leaf], (1, 2)) == ([1], [2])


def test_keys_that_do_not_sort_are_refused():
    with pytest.raises(TypeError, match=r"must sort, got \[2, 'a'\]"):
        nest.flatten({2: "x", "a": "y"})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(1, None, id="leaves of any kind"),
        pytest.param([1], [None], id="None for another leaf"),
        pytest.param([], [], id="nothing"),
        pytest.param({"a": 1, "b": 2}, {"b": 3, "a": 4}, id="keys in another order"),
        pytest.param({"a": 1}, OrderedDict(a=1), id="dicts of two classes"),
        pytest.param({"a": 1}, defaultdict(int, a=1), id="a dict with a default"),
        pytest.param({"a": 1}, MappingProxyType({"a": 1}), id="any mapping"),
        pytest.param([1], Row([1]), id="lists of two classes"),
        pytest.param(Pair(1, 2), SamePair(1, 2), id="named tuples of one name and fields"),
        pytest.param([Pair(1, {"a": ()})], [Pair(2, {"a": ()})], id="nested"),
    ],
)
def test_what_has_the_same_structure(first, second):
    nest.check_same(first, second)
    nest.check_same(second, first)


DIFFERENT = [
    ([], (), TypeError, "the same sequence type: list and tuple"),
    ([], {}, TypeError, "the same sequence type: list and dict"),
    ([1, (2,)], [1, [2]], TypeError, "the same sequence type: tuple and list"),
    ({"a": (1,)}, {"a": [1]}, TypeError, "the same sequence type: tuple and list"),
    (Pair(1, 2), (1, 2), TypeError, "the same sequence type: Pair and tuple"),
    ((1, 2), Pair(1, 2), TypeError, "the same sequence type: tuple and Pair"),
    (Pair(1, 2), OtherName(1, 2), TypeError, "the same sequence type: Pair and OtherName"),
    (Pair(1, 2), OtherFields(1, 2), TypeError, "the same sequence type: Pair and Pair"),
    (Pair(1, 2), {"a": 1, "b": 2}, TypeError, "the same sequence type: Pair and dict"),
    ((1,), Triple((1,)), TypeError, "the same sequence type: tuple and Triple"),
    ([(1,), 2], [[1]], TypeError, "the same sequence type: tuple and list"),
    ([], 1, ValueError, "[] is a sequence, while 1 is not"),
    (1, [], ValueError, "[] is a sequence, while 1 is not"),
    ("ab", ["a", "b"], ValueError, "[., .] is a sequence, while 'ab' is not"),
    ([1], [[]], ValueError, "[] is a sequence, while 1 is not"),
    ([1, (2, 3)], [1, 2], ValueError, "(., .) is a sequence, while 2 is not"),
    ([[1], 2, 3], [1, 2], ValueError, "[.] is a sequence, while 1 is not"),
    (Pair(1, 2), Pair(1, (2,)), ValueError, "(.,) is a sequence, while 2 is not"),
    ([1, 2], [1], ValueError, "the same number of elements: [., .] and [.]"),
    ([1, (2, 3)], [1, (2,)], ValueError, "the same number of elements: (., .) and (.,)"),
    ([[1, 2], (1,)], [[1], [1]], ValueError, "the same number of elements: [., .] and [.]"),
    ({"a": 1}, {"b": 1}, ValueError, "the same set of keys: ['a'] and ['b']"),
    ({"a": 1, "b": 1}, {"a": 1}, ValueError, "the same set of keys: ['a', 'b'] and ['a']"),
    ({"a": (1,), "b": 2}, {"a": [1]}, ValueError, "the same set of keys: ['a', 'b'] and ['a']"),
]


@pytest.mark.parametrize(("first", "second", "kind", "words"), DIFFERENT)
def test_what_differs_is_told(first, second, kind, words):
    with pytest.raises(kind) as raised:
        nest.check_same(first, second)
    assert type(raised.value) is kind
    message = str(raised.value)
    assert message.startswith("The two structures don't have the same nested structure: ")
    assert f"{nest.show(first)} and {nest.show(second)}; " in message
    assert message.endswith(words)


@pytest.mark.parametrize(
    ("structure", "shown"),
    [
        (1, "."), ([], "[]"), ((), "()"), ({}, "{}"), ((1,), "(.,)"), ([1, (2, 3)], "[., (., .)]"),
        ({"b": 1, "a": [2]}, "{'a': [.], 'b': .}"), (Pair(1, (2,)), "Pair(a=., b=(.,))"),
    ],
)  # fmt: skip
def test_the_form_is_shown(structure, shown):
    assert nest.show(structure) == shown


def test_check_same_without_types_takes_all_sequences_for_one_kind():
    nest.check_same([1, (2, 3)], (1, Pair(2, 3)), check_types=False)
    with pytest.raises(TypeError, match="the same sequence type: list and dict"):
        nest.check_same([1], {"a": 1}, check_types=False)
    with pytest.raises(ValueError, match="the same number of elements"):
        nest.check_same([1, 2], (1,), check_types=False)


def test_who_calls_says_what_is_nested():
    def is_tuple(value):
        return isinstance(value, tuple)

    structure = (1, [2, 3], Pair({"a": 4}, ()))
    assert nest.flatten(structure, is_tuple) == [1, [2, 3], {"a": 4}]
    assert nest.map_leaves(str, structure, is_tuple) == ("1", "[2, 3]", Pair("{'a': 4}", ()))
    assert nest.show(structure, is_tuple) == "(., ., Pair(a=., b=()))"
    nest.check_same((1, [2, 3]), (1, {"a": 4}), is_tuple)
    with pytest.raises(ValueError, match=re.escape("(., .) and (., (.,)); ")):
        nest.check_same((1, [2]), (1, (2,)), is_tuple)
