"""Examples in bytes: whatever they look like, they give what protobuf makes of them."""

import random

import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.formats.examples import Dense, Sparse, Telling, dense_batch, feature_maps, sparse_batch
from tfdist.formats.sequence_examples import Sequences
from tfdist.protos import pb


def example(**features):
    message = pb.Example()
    kinds = {bytes: "bytes_list", float: "float_list", int: "int64_list"}
    for name, given in features.items():
        getattr(message.features.feature[name], kinds[type(given[0])]).value.extend(given)
    return message.SerializeToString()


def integers(serialized, key="n"):
    maps = feature_maps(serialized, Telling())
    _, values, shape = sparse_batch(maps, Sparse(key, dtypes.int64), Telling())
    return values.tolist(), shape.tolist()


def test_many_examples_of_all_sizes():
    chance = random.Random(0)
    rows = [[chance.randrange(2**62) for _ in range(chance.randrange(1, 40))] for _ in range(300)]
    serialized = [example(n=row, more=[b"x" * chance.randrange(300)]) for row in rows]
    values, shape = integers(serialized)
    assert values == [number for row in rows for number in row]
    assert shape == [300, max(map(len, rows))]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(b"", id="nothing in it"),
        pytest.param(b"\x0a\x00", id="an empty map"),
        pytest.param(b"\x7a\x03abc", id="a field that is not known"),
        pytest.param(b"\x7a\x03abc" + example(n=[7]), id="such a field before the map"),
        pytest.param(example(n=[1]) + example(n=[8]), id="two maps, of which the later counts"),
    ],
)
def test_odd_examples_among_others(odd):
    wanted = list(pb.Example.FromString(odd).features.feature["n"].int64_list.value)
    for serialized in ([odd], [example(n=[5]), odd, example(n=[6])]):
        others = [5, 6] if len(serialized) > 1 else []
        assert integers(serialized)[0] == others[:1] + wanted + others[1:]


@pytest.mark.parametrize("cut", range(1, 9))
def test_an_example_that_was_cut_off_does_not_take_from_the_next(cut):
    good = example(n=[5])
    telling = Telling([b"one", b"two", b"three"])
    with pytest.raises(InvalidArgumentError, match="Name: two, Could not parse example input"):
        feature_maps([good, good[:-cut], good], telling)


def test_a_sequence_that_was_cut_off():
    with pytest.raises(InvalidArgumentError, match="Could not parse sequence example input"):
        Sequences([b"\x0a\x05zz"], [])


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        (dtypes.float32, [[1.0, 2.0], [3.0, 4.0]]),
        (dtypes.int64, [[1, 2], [3, 4]]),
        (dtypes.int64, [[1, 200], [-3, 2**50]]),
        (dtypes.string, [[b"a", b"bc"], [b"", b"d"]]),
    ],
)
def test_dense_features(dtype, given):
    maps = feature_maps([example(x=row) for row in given], Telling())
    found = dense_batch(maps, Dense("x", dtype, (1, 2), None), Telling())
    assert found.tolist() == [[row] for row in given]
    assert found.dtype == np.dtype(dtype.as_numpy_dtype)


def test_a_default_for_some():
    maps = feature_maps([example(x=[1.0]), example(y=[1.0])], Telling())
    feature = Dense("x", dtypes.float32, (), np.array([9.0], np.float32))
    assert dense_batch(maps, feature, Telling()).tolist() == [1.0, 9.0]
