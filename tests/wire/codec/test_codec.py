"""Messages with tensors cross as protobuf would write them, without a copy if they are large.

protobuf's own parser is the reference: it reads what the codec wrote, and the codec reads what it
wrote. Whatever else comes in is refused with one class of error.
"""

import re

import ml_dtypes
import numpy as np
import pytest

from tests.wire.codec.tensor_cases import DTYPES, MALFORMED, array_of, assert_same
from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.graph import tensor_proto
from tfdist.protos import pb
from tfdist.wire.codec import codec


def received(array):
    """Return a message with one tensor."""
    return b"".join(codec.bare_message_pieces(pb.RecvTensorResponse(), 1, [array]))


# memory


def address(memory):
    return np.frombuffer(memory, np.uint8).ctypes.data


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, ml_dtypes.bfloat16, np.complex128])
def test_a_large_array_is_sent_from_its_own_memory(dtype):
    array = np.ones((100, 100), dtype)
    head, content = codec.bare_message_pieces(pb.RecvTensorResponse(), 1, [array])
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


def test_an_array_can_be_written_to_if_the_message_can():
    data = bytearray(received(np.ones(1_000)))
    _, [got] = codec.split_bare_message(pb.RecvTensorResponse, memoryview(data), 1)
    got[:] = 7.0
    _, [again] = codec.split_bare_message(pb.RecvTensorResponse, memoryview(data), 1)
    assert again[0] == 7.0


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


def test_a_name_may_come_after_its_tensor():
    tensor = b"\x08\x04" + b"\x12\x04\x12\x02\x08\x02" + b"\x22\x02\x05\x06"
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
    data = received(np.arange(4))
    padded = data + b"\x18\x00" * (-len(data) % 8 // 2)
    view = memoryview(padded).cast("i" if len(padded) % 4 == 0 else "h")
    _, [got] = codec.split_bare_message(pb.RecvTensorResponse, view, 1)
    assert got.tolist() == [0, 1, 2, 3]


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
