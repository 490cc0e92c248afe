"""What a client feeds and fetches, as it stands in messages."""

import numpy as np
import pytest

import tfdist as tf
from tests.wire.calls_at import node, tensor
from tests.wire.codec.tensor_cases import PLAIN, value
from tests.wire.graph_cases import ONE, identity, placeholder, variable
from tfdist.base import dtypes
from tfdist.base.dtypes import float32, string
from tfdist.protos import pb

TYPED = {
    "half_val": (dtypes.float16, [0x3C00, 0x4000], [1.0, 2.0]),
    "float_val": (dtypes.float32, [1.0, 2.0], [1.0, 2.0]),
    "double_val": (dtypes.float64, [1.0, 2.0], [1.0, 2.0]),
    "int_val": (dtypes.int32, [1, -2], [1, -2]),
    "int64_val": (dtypes.int64, [1, -(2**60)], [1, -(2**60)]),
    "bool_val": (dtypes.bool_, [True, False], [True, False]),
    "string_val": (dtypes.string, [b"a", b"\xff\0"], [b"a", b"\xff\0"]),
    "scomplex_val": (dtypes.complex64, [1.0, 2.0, 3.0, 4.0], [1 + 2j, 3 + 4j]),
    "uint32_val": (dtypes.uint32, [1, 2**32 - 1], [1, 2**32 - 1]),
    "uint64_val": (dtypes.uint64, [1, 2**64 - 1], [1, 2**64 - 1]),
}


def echo(asker, dtype, proto):
    """Return what a server gives back for a tensor that is fed."""
    handle = asker.session(placeholder("x", dtype), identity("y", "x", dtype))
    return asker.run(handle, feed={"x:0": proto}, fetch=["y:0"])["y:0"]


@pytest.mark.parametrize("dtype", PLAIN, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (1, 2, 3)], ids=str)
def test_numbers_come_back_as_they_went_in(asker, dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.as_numpy_dtype)
    proto = pb.TensorProto(dtype=dtype.as_datatype_enum, tensor_content=array.tobytes())
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    back = echo(asker, dtype, proto)
    assert (back.dtype, back.tensor_content) == (proto.dtype, proto.tensor_content)
    assert [each.size for each in back.tensor_shape.dim] == list(shape)


@pytest.mark.parametrize("field", TYPED)
def test_typed_values_come_back_as_content(asker, field):
    dtype, given, expected = TYPED[field]
    proto = pb.TensorProto(dtype=dtype.as_datatype_enum, **{field: given})
    proto.tensor_shape.dim.add(size=2)
    back = echo(asker, dtype, proto)
    assert back.tensor_content
    assert not getattr(back, field)
    assert value(back) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param([7.0], [7.0, 7.0, 7.0], id="one value for all"),
        pytest.param([1.0, 2.0], [1.0, 2.0, 2.0], id="the last one again"),
        pytest.param([], [0.0, 0.0, 0.0], id="none at all"),
    ],
)
def test_missing_values_repeat_the_last(asker, given, expected):
    proto = pb.TensorProto(dtype=1, float_val=given)
    proto.tensor_shape.dim.add(size=3)
    assert value(echo(asker, float32, proto)) == expected


def test_a_scalar_may_have_no_shape_and_an_empty_one(asker):
    bare = pb.TensorProto(dtype=1, float_val=[2.0])
    empty = pb.TensorProto(dtype=1, float_val=[2.0], tensor_shape=pb.TensorShapeProto())
    assert value(echo(asker, float32, bare)) == value(echo(asker, float32, empty)) == 2.0


@pytest.mark.parametrize(
    ("content", "count", "expected"),
    [
        pytest.param(b"\x02\x01abc", 2, [b"ab", b"c"], id="lengths, then all bytes"),
        pytest.param(b"\x00\x00", 2, [b"", b""], id="empty ones"),
        pytest.param(b"\x80\x01" + b"x" * 128, 1, [b"x" * 128], id="a length of two bytes"),
        pytest.param(b"", 0, [], id="none"),
    ],
)
def test_strings_have_their_lengths_first(asker, content, count, expected):
    proto = pb.TensorProto(dtype=7, tensor_content=content)
    proto.tensor_shape.dim.add(size=count)
    back = echo(asker, string, proto)
    assert (back.tensor_content, value(back)) == (content, expected)


def test_a_fed_edge_is_replaced_and_its_node_runs_if_it_is_a_target(asker):
    nodes = [variable("v"), ONE, node("set", "Assign", "v", "one", T=float32),
             identity("y", "set"), identity("z", "y")]  # fmt: skip
    handle = asker.session(*nodes)
    feed = {"y:0": tensor(5.0)}
    assert value(asker.run(handle, feed=feed, fetch=["z:0"])["z:0"]) == 5.0
    with pytest.raises(tf.errors.FailedPreconditionError):
        asker.run(handle, fetch=["v:0"])
    assert value(asker.run(handle, feed=feed, fetch=["z:0"], target=["y"])["z:0"]) == 5.0
    assert value(asker.run(handle, fetch=["v:0"])["v:0"]) == 1.0


def test_what_a_variable_was_fed_is_its_own(asker):
    """What a message brought is not written to when the variable grows in place."""
    n = 200_000
    v = node("v", "VariableV2", dtype=float32, shape=(n,))
    nodes = [v, placeholder("x"), node("set", "Assign", "v", "x", T=float32),
             node("add", "AssignAdd", "v", "x", T=float32)]  # fmt: skip
    handle = asker.session(*nodes)
    feed = {"x:0": tensor(np.ones(n, np.float32))}
    asker.run(handle, feed=feed, target=["set"])
    before = asker.run(handle, fetch=["v:0"])["v:0"]
    after = asker.run(handle, feed=feed, fetch=["add:0"])["add:0"]
    assert {*value(before)} == {1.0}
    assert {*value(after)} == {2.0}
