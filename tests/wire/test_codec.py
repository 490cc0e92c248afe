"""Tensors cross in messages as protobuf would write them, without a copy if they are large.

protobuf's own parser and `make_ndarray` are the reference: they read what the codec wrote, and
the codec reads what they wrote. Whatever else comes in is refused with one class of error.
"""

import re

import ml_dtypes
import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.graph import tensor_proto
from tfdist.protos import pb
from tfdist.wire import calls, codec

DTYPES = [dtype for dtype in dtypes.ALL if dtype.is_numpy_compatible]
SHAPES = [(), (0,), (1,), (3, 0, 2), (2, 3), (1, 1, 1, 4), (200,), (70, 41), (5, 2, 300)]


def array_of(dtype, shape):
    """Return an array of random elements, the same ones for the same arguments."""
    random = np.random.default_rng([dtype.as_datatype_enum, *shape])
    if dtype is dtypes.string:
        array = np.empty(shape, object)
        array.flat = [random.bytes(random.integers(0, 200)) for _ in range(array.size)]
        return array
    if dtype is dtypes.bool_:
        return random.integers(0, 2, shape).astype(bool)
    raw = random.integers(0, 100, shape)
    return np.asarray(raw).astype(dtype.as_numpy_dtype)


def written(array):
    return memoryview(bytes(calls.joined(codec.tensor_pieces(array))))


def assert_same(got, expected):
    """Fail unless `got` is the array `expected`, or its element if that has rank 0."""
    if expected.ndim == 0:
        expected = expected[()]
        assert type(got) is type(expected)
    assert np.shape(got) == np.shape(expected)
    assert getattr(got, "dtype", None) == getattr(expected, "dtype", None)
    assert np.array_equal(got, expected)


every_type = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)


# one tensor


@every_type
def test_a_tensor_comes_back(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        assert_same(codec.tensor_of(written(array)), array)


@every_type
def test_protobuf_reads_what_is_written(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        proto = pb.TensorProto.FromString(bytes(written(array)))
        assert proto.HasField("tensor_shape") == (array.ndim > 0)
        assert [dim.size for dim in proto.tensor_shape.dim] == list(array.shape)
        assert proto.dtype == dtype.as_datatype_enum
        assert not proto.string_val
        assert np.array_equal(tensor_proto.make_ndarray(proto), array)


@every_type
def test_what_protobuf_wrote_is_read(dtype):
    for array in [array_of(dtype, shape) for shape in SHAPES]:
        proto = tensor_proto.make_tensor_proto(array)
        assert_same(codec.tensor_of(memoryview(proto.SerializeToString())), array)


@pytest.mark.parametrize(
    "scalar",
    [np.float32(1.5), np.bool_(True), np.int64(-(2**40)), np.complex64(1j), ml_dtypes.bfloat16(2)],
    ids=lambda scalar: type(scalar).__name__,
)
def test_a_numpy_scalar_comes_back_as_one(scalar):
    got = codec.tensor_of(written(scalar))
    assert type(got) is type(scalar)
    assert got == scalar


@pytest.mark.parametrize("text", [b"", b"abc", b"\xff" * 127, b"\0" * 128, bytes(100_000)], ids=len)
def test_a_string_comes_back_as_bytes(text):
    assert codec.tensor_of(written(text)) == text
    assert codec.tensor_of(written(np.array(text, object))) == text


def test_strings_stand_as_lengths_and_then_bytes():
    proto = pb.TensorProto.FromString(bytes(written(np.array([b"ab", b"c"], object))))
    assert proto.tensor_content == b"\x02\x01abc"


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.arange(6.0).reshape(2, 3).T, id="transposed"),
        pytest.param(np.arange(20_000)[::-2], id="reversed, with gaps"),
        pytest.param(np.arange(6, dtype=">i4"), id="big-endian"),
        pytest.param(np.arange(6_000, dtype=">f8"), id="big-endian and large"),
        pytest.param(np.float64(3).astype(">f8"), id="big-endian scalar"),
        pytest.param(np.array([b"a", b"bc"]), id="NumPy's bytes of fixed length"),
        pytest.param(np.broadcast_to(np.float32(2), (50, 60)), id="one value everywhere"),
    ],
)
def test_unusual_memory_crosses(array):
    assert codec.tensor_of(written(array)).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([object()], object), "array of object cannot be sent"),
        (np.array(["a", b"b"], object), "array of str cannot be sent"),
        (np.array(["a"]), "<U1 cannot be sent"),
        (np.zeros(2, "M8[s]"), r"datetime64\[s\] cannot be sent"),
        (1.5, "float cannot be sent"),
    ],
    ids=["a handle", "a str", "a fixed str", "a date", "a Python number"],
)
def test_what_is_no_tensor_is_not_sent(value, text):
    with pytest.raises(InvalidArgumentError, match=text):
        codec.tensor_pieces(value)


# memory


def address(memory):
    return np.frombuffer(memory, np.uint8).ctypes.data


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, ml_dtypes.bfloat16, np.complex128])
def test_a_large_array_is_sent_from_its_own_memory(dtype):
    array = np.ones((100, 100), dtype)
    head, content = codec.tensor_pieces(array)
    assert len(head) < 60
    assert address(content) == array.ctypes.data
    assert len(content) == array.nbytes


@pytest.mark.parametrize("name", [f"x{'y' * length}:0" for length in range(20)], ids=len)
def test_a_large_array_is_received_in_the_messages_memory(name):
    array = np.arange(2_000, dtype=np.complex128)
    pieces = codec.message_pieces(pb.RunStepRequest(session_handle="s"), 2, [(name, array)])
    data = b"".join(pieces)
    _, [(_, got)] = codec.split_message(pb.RunStepRequest, memoryview(data), 2)
    assert got.flags.aligned
    assert np.shares_memory(got, np.frombuffer(data, np.uint8))
    assert got.tobytes() == array.tobytes()


def test_every_large_array_of_a_message_is_aligned_in_it():
    arrays = [np.full(600 + place, place, np.float64) for place in range(9)]
    pieces = codec.bare_message_pieces(pb.RunCallableRequest(handle=1), 3, [b"odd", *arrays])
    data = b"".join(pieces)
    _, [_, *got] = codec.split_bare_message(pb.RunCallableRequest, memoryview(data), 3)
    assert all(np.shares_memory(each, np.frombuffer(data, np.uint8)) for each in got)
    assert [each.tolist() for each in got] == [each.tolist() for each in arrays]


def test_content_that_is_not_aligned_is_copied():
    data = bytes(written(np.arange(1_000.0)))
    odd = memoryview(b"?" + data)[1:]
    got = codec.tensor_of(odd)
    assert got.flags.aligned
    assert got.tolist() == list(range(1_000))


def test_a_small_array_does_not_keep_the_message():
    data = bytearray(written(np.ones((3, 3))))
    got = codec.tensor_of(memoryview(data))
    data.clear()  # BufferError if anybody held its memory
    got[0, 0] = 2.0


def test_an_array_can_be_written_to_if_the_message_can():
    data = bytearray(written(np.ones(1_000)))
    got = codec.tensor_of(memoryview(data))
    got[:] = 7.0
    assert codec.tensor_of(memoryview(data))[0] == 7.0


def test_a_message_of_small_tensors_is_one_piece():
    tensors = [(f"x{place}:0", np.float32(place)) for place in range(9)]
    assert len(codec.message_pieces(pb.RunStepRequest(), 2, tensors)) == 1


# messages


TENSORS = [
    ("scalar:0", np.asarray(np.float32(1.5))),
    ("large:0", np.arange(5_000, dtype=np.int16)),
    ("", np.array([b"a", b"bc"], object)),
    ("bläh:0", np.zeros((0, 2), np.bool_)),
    ("large_strings:0", np.array([b"x" * 3_000, b"y" * 3_000], object)),
]
MESSAGES = [
    (pb.RunStepRequest(session_handle="h", fetch=["a:0"], request_id=-5), "feed", 2),
    (pb.RunStepResponse(status_code=3, status_error_message="no"), "tensor", 1),
    (pb.RunGraphRequest(step_id=2**60, recv_key=["k"]), "send", 3),
    (pb.RunGraphResponse(), "recv", 1),
]
kinds_of_message = pytest.mark.parametrize(
    ("message", "field", "number"), MESSAGES, ids=[type(each[0]).__name__ for each in MESSAGES]
)


@kinds_of_message
def test_protobuf_reads_a_message_with_tensors(message, field, number):
    data = b"".join(codec.message_pieces(message, number, TENSORS))
    parsed = type(message).FromString(data)
    named = getattr(parsed, field)
    assert [each.name for each in named] == [name for name, _ in TENSORS]
    for each, (_, array) in zip(named, TENSORS, strict=True):
        assert np.array_equal(tensor_proto.make_ndarray(each.tensor), array)
    parsed.ClearField(field)
    assert parsed == message


@kinds_of_message
def test_a_message_by_protobuf_is_split(message, field, number):
    full = type(message)()
    full.CopyFrom(message)
    for name, array in TENSORS:
        getattr(full, field).add(name=name, tensor=tensor_proto.make_tensor_proto(array))
    rest, tensors = codec.split_message(type(message), memoryview(full.SerializeToString()), number)
    assert rest == message
    assert [name for name, _ in tensors] == [name for name, _ in TENSORS]
    for (_, got), (_, array) in zip(tensors, TENSORS, strict=True):
        assert_same(got, array)


def test_fields_may_come_in_any_order():
    feed = b"".join(codec.message_pieces(pb.RunStepRequest(), 2, [("x:0", np.int32(7))]))
    parts = [pb.RunStepRequest(**{key: value}).SerializeToString() for key, value in [
        ("session_handle", "h"), ("request_id", 2**62), ("fetch", ["a:0"]), ("target", ["b"]),
    ]]  # fmt: skip
    for place in range(len(parts) + 1):
        data = b"".join([*parts[:place], feed, feed, *parts[place:]])
        message, feeds = codec.split_message(pb.RunStepRequest, memoryview(data), 2)
        assert feeds == [("x:0", 7), ("x:0", 7)]
        assert message == pb.RunStepRequest.FromString(b"".join(parts))


def test_fields_of_a_tensor_may_come_in_any_order():
    content, shape, dtype = b"\x22\x02\x05\x06", b"\x12\x04\x12\x02\x08\x02", b"\x08\x04"
    tensor = content + shape + dtype
    assert codec.tensor_of(memoryview(tensor)).tolist() == [5, 6]
    named = b"\x12" + bytes([len(tensor)]) + tensor + b"\x0a\x01x"
    data = memoryview(b"\x12" + bytes([len(named)]) + named)
    [(name, array)] = codec.split_message(pb.RunStepRequest, data, 2)[1]
    assert (name, array.tolist()) == ("x", [5, 6])


def test_unknown_fields_stay_in_the_rest_of_the_message():
    unknown = b"\xf8\x07\x05" + b"\xfd\x07abcd" + b"\xf9\x07abcdefgh" + b"\xfa\x07\x02hi"
    feed = b"".join(codec.message_pieces(pb.RunStepRequest(), 2, [("x:0", np.int32(7))]))
    message, feeds = codec.split_message(pb.RunStepRequest, memoryview(unknown + feed), 2)
    assert feeds == [("x:0", 7)]
    assert message.SerializeToString() == unknown


def test_bare_tensors_of_a_message():
    message = pb.RecvTensorResponse(send_start_micros=5, is_dead=True)
    data = b"".join(codec.bare_message_pieces(message, 1, [np.float32(2.5)]))
    assert tensor_proto.make_ndarray(pb.RecvTensorResponse.FromString(data).tensor) == 2.5
    rest, arrays = codec.split_bare_message(pb.RecvTensorResponse, memoryview(data), 1)
    assert (rest, arrays) == (message, [2.5])


def test_a_view_of_any_format_is_read():
    data = bytes(written(np.arange(4)))
    padded = data + b"\x18\x00" * (-len(data) % 8 // 2)
    view = memoryview(padded).cast("i" if len(padded) % 4 == 0 else "h")
    assert codec.tensor_of(view).tolist() == [0, 1, 2, 3]


# size


def test_a_message_within_the_limit_is_sent():
    codec.check_size([b"abc", memoryview(b"de")], "the step", limit=5)


def test_a_message_over_the_limit_names_its_largest_tensor():
    tensors = [("small:0", np.zeros(600)), ("big:0", np.zeros((70, 20))), ("c:0", np.zeros(700))]
    pieces = codec.message_pieces(pb.RunStepRequest(), 2, tensors)
    text = r"RunStep takes 2\d+ bytes.*can have 1000;.*big:0, float64\[70, 20\], of 11200 bytes"
    with pytest.raises(InvalidArgumentError, match=text):
        codec.check_size(pieces, "RunStep", limit=1_000)


def test_a_message_over_the_limit_without_tensors():
    with pytest.raises(InvalidArgumentError, match=r"the graph takes 9 bytes.*can have 8\."):
        codec.check_size([b"123456789"], "the graph", limit=8)


# what does not hold together


def tensor(dtype=1, dims=(), content=None, **fields):
    """Return a TensorProto's bytes, with any dtype and shape whatsoever."""
    proto = pb.TensorProto(dtype=dtype, **fields)
    for dim in dims:
        proto.tensor_shape.dim.add(size=dim)
    if content is not None:
        proto.tensor_content = content
    return proto.SerializeToString()


MALFORMED = {
    "a byte too few": (tensor(1, [2], b"1234567"), "has 7 bytes of content instead of 8"),
    "a byte too many": (tensor(1, [2], b"123456789"), "has 9 bytes of content instead of 8"),
    "content of no elements": (tensor(1, [0], b"1234"), "has 4 bytes of content instead of 0"),
    "a scalar of two": (tensor(1, [], b"12345678"), "has 8 bytes of content instead of 4"),
    "a negative dimension": (tensor(1, [-1], b"1234"), "dimension of size -1"),
    "negative dimensions": (tensor(1, [-2, -2], b"1234" * 4), "dimension of size -2"),
    "four terabytes": (tensor(1, [2**40], b"1234"), "has 4 bytes of content instead of 4398"),
    "four terabytes by repetition": (tensor(1, [2**40], float_val=[1.0]), "claims 1099511627776"),
    "four terabytes of zeros": (tensor(1, [2**40]), "claims 1099511627776 elements"),
    "more than a word": (tensor(1, [2**40, 2**40], b"1234"), "instead of"),
    "no memory, but absurd": (tensor(1, [0, 2**62, 2**62]), "no array can have the shape"),
    "a hundred dimensions": (tensor(1, [1] * 100, b"1234"), "no array can have the shape"),
    "a thousand dimensions": (tensor(1, [1] * 1000, b"1234"), "1000 dimensions"),
    "unknown rank": (b"\x08\x01\x12\x02\x18\x01\x22\x041234", "unknown rank"),
    "no type": (tensor(0, [1], b"1234"), "type DT_INVALID cannot be received"),
    "nothing at all": (b"", "type DT_INVALID cannot be received"),
    "a type that is not here": (tensor(11, [1], b"1"), "type DT_QINT8 cannot be received"),
    "a reference": (tensor(101, [1], b"1234"), "type DT_FLOAT_REF cannot be received"),
    "a type that nobody has": (tensor(5000, [1], b"1"), "type number 5000 cannot be received"),
    "a resource": (tensor(20, [1], b"\x00"), "type DT_RESOURCE cannot be received"),
    "typed resources": (
        tensor(20, [], resource_handle_val=[pb.ResourceHandleProto()]),
        "type DT_RESOURCE cannot be received",
    ),
    "more values than elements": (tensor(1, [1], float_val=[1.0, 2.0]), "has 1 elements, got 2"),
    "lengths without end": (tensor(7, [1], b"\x80" * 1_000), "the lengths of 1 strings"),
    "fewer lengths than strings": (tensor(7, [3], b"\x00\x00"), "the lengths of 3 strings"),
    "terabytes of strings": (tensor(7, [2**40], b"\x00\x00"), "the lengths of 1099511627776"),
    "one string of terabytes": (tensor(7, [1], b"\xff\xff\xff\xff\xff\x3fab"), "do not make"),
    "strings and more": (tensor(7, [1], b"\x01ab"), "do not make the 3 bytes"),
    "a length beyond the end": (b"\x08\x01\x22\x7f1234", "ends within a field"),
    "a number without end": (b"\x08" + b"\x80" * 11, "more than ten bytes"),
    "a number cut off": (b"\x08\x80", "ends within a field"),
    "a tag cut off": (b"\x08\x01\x80", "ends within a field"),
    "a fixed value cut off": (b"\x08\x01\x2d12", "ends within a field"),
    "a group": (b"\x0b\x0c", "kind 3"),
    "a dimension beyond its shape": (b"\x08\x01\x12\x02\x12\x7f", "ends within a field"),
}


@pytest.mark.parametrize(("data", "text"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_tensor_is_refused(data, text):
    with pytest.raises(InvalidArgumentError, match=re.escape(text)):
        codec.tensor_of(memoryview(data))


@pytest.mark.parametrize(("data", "text"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_tensor_is_named(data, text):
    named = b"\x0a\x01x\x12" + bytes([len(data) % 128 | 128, len(data) // 128]) + data
    outer = b"\x12" + bytes([len(named) % 128 | 128, len(named) // 128]) + named
    with pytest.raises(InvalidArgumentError, match="tensor 'x': .*" + re.escape(text)):
        codec.split_message(pb.RunStepRequest, memoryview(outer), 2)


def test_an_array_that_cannot_cross_is_named():
    with pytest.raises(InvalidArgumentError, match=r"tensor 'x:0': .*cannot be sent"):
        codec.message_pieces(pb.RunStepRequest(), 2, [("x:0", np.array([None], object))])


@pytest.mark.parametrize(
    "data", [b"\x0a\x02\xff\xff", b"\x07", b"\x12", b"\x00\x00"],
    ids=["not UTF-8", "no such kind", "cut off", "field number 0"],
)  # fmt: skip
def test_a_malformed_message_is_refused(data):
    with pytest.raises(InvalidArgumentError, match="malformed"):
        codec.split_message(pb.RunStepRequest, memoryview(data), 2)
    with pytest.raises(InvalidArgumentError, match="malformed"):
        codec.parse_message(pb.RunStepRequest, memoryview(data))


def full_message():
    """Return a message with every kind of tensor, small enough to be cut at each byte."""
    message = pb.RunStepRequest(session_handle="h", fetch=["a:0"], request_id=2**60)
    message.options.timeout_in_ms = 5
    for dtype in DTYPES:
        array = array_of(dtypes.uint8, (2,)).astype(dtype.as_numpy_dtype)
        if dtype is not dtypes.string:
            message.feed.add(name=dtype.name, tensor=tensor_proto.make_tensor_proto(array))
    typed = pb.TensorProto(dtype=1, tensor_shape=message.feed[0].tensor.tensor_shape, float_val=[1])
    message.feed.add(name="typed", tensor=typed)
    strings = np.array([[b"ab", b""], [b"c" * 130, b"d"]], object)
    return b"".join(codec.message_pieces(message, 2, [("s", strings), ("t", np.int64(3))]))


def outcome(data):
    """Return what reading gives, which may be an InvalidArgumentError but nothing else."""
    try:
        return codec.split_message(pb.RunStepRequest, memoryview(data), 2)
    except InvalidArgumentError as error:
        return error


def test_a_message_that_is_cut_anywhere_is_read_or_refused():
    data = full_message()
    results = [outcome(data[:end]) for end in range(len(data) + 1)]
    assert type(results[-1]) is tuple
    assert sum(isinstance(each, InvalidArgumentError) for each in results) > len(data) // 2


def test_a_message_with_any_byte_changed_is_read_or_refused():
    data, random = full_message(), np.random.default_rng(1)
    for _ in range(3_000):
        changed = bytearray(data)
        changed[random.integers(len(data))] = random.integers(256)
        outcome(bytes(changed))


def test_random_bytes_are_read_or_refused():
    random = np.random.default_rng(2)
    for _ in range(3_000):
        data = random.bytes(random.integers(1, 40))
        outcome(data)
        outcome(b"\x12" + bytes([len(data)]) + data)
        outcome(b"\x12" + bytes([len(data) + 2]) + b"\x12" + bytes([len(data)]) + data)


def reference(data):
    """Return the tensors that protobuf and `make_ndarray` find, or an error as `outcome` does."""
    try:
        found = pb.parse(pb.RunStepRequest, data).feed
        return [(each.name, tensor_proto.make_ndarray(each.tensor)) for each in found]
    except (ValueError, TypeError, InvalidArgumentError) as error:
        return error


def test_what_is_read_is_what_protobuf_reads():
    data, random = full_message(), np.random.default_rng(3)
    read = 0
    for _ in range(2_000):
        changed = bytearray(data)
        changed[random.integers(len(data))] = random.integers(256)
        ours, theirs = outcome(bytes(changed)), reference(bytes(changed))
        if type(ours) is tuple and type(theirs) is list:
            read += 1
            for (name, got), (their_name, expected) in zip(ours[1], theirs, strict=True):
                assert name == their_name
                assert_same_bytes(got, expected)
    assert read > 200


def assert_same_bytes(got, expected):
    """Fail unless both are the same array; a NaN is the same as itself here."""
    assert np.shape(got) == expected.shape
    if expected.dtype == object:
        assert np.asarray(got, object).tolist() == expected.tolist()
    else:
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes()
