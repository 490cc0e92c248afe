"""What stands on a socket between two tfdist processes: there and back, and hostile bytes."""

import random

import numpy as np
import pytest

from tfdist.base.room import ROOM
from tfdist.errors import DataLossError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import Kind, Parser, Place
from tfdist.wire.common.calls import size

REQUEST = frames.header(Kind.REQUEST, 7, 5, method=3) + b"hello"
ANSWER = frames.header(Kind.ANSWER, 2**63, 2) + b"ok"
CANCEL = frames.header(Kind.CANCEL, 9)


def parsed(data):
    """Return the frames in `data`, bodies as bytes."""
    return [(*frame[:4], bytes(frame.body)) for frame in Parser().feed(data)]


def test_frames_come_back_as_they_were():
    assert parsed(REQUEST + ANSWER + CANCEL) == [
        (Kind.REQUEST, 0, 3, 7, b"hello"),
        (Kind.ANSWER, 0, 0, 2**63, b"ok"),
        (Kind.CANCEL, 0, 0, 9, b""),
    ]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 19, 20, 21, 26, 200])
def test_frames_come_back_however_they_are_cut(step):
    data, parser = REQUEST + CANCEL + ANSWER + REQUEST, Parser()
    found = [
        (frame.kind, bytes(frame.body))
        for at in range(0, len(data), step)
        for frame in parser.feed(data[at : at + step])
    ]
    kinds = [Kind.REQUEST, Kind.CANCEL, Kind.ANSWER, Kind.REQUEST]
    assert found == list(zip(kinds, [b"hello", b"", b"ok", b"hello"], strict=True))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="a browser"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="gRPC"),
        pytest.param(bytes(40), id="zeros"),
        pytest.param(b"\x01" + REQUEST[1:], id="another version"),
        pytest.param(frames.header(99, 1), id="a kind that does not exist"),
        pytest.param(frames.header(0, 1), id="kind zero"),
    ],
)
def test_what_is_no_frame_is_an_error(data):
    with pytest.raises(DataLossError):
        Parser().feed(data)


def test_a_frame_that_claims_too_much_is_an_error_before_it_has_come():
    with pytest.raises(DataLossError, match="4294967295 bytes"):
        Parser().feed(frames.header(Kind.ANSWER, 1, 2**32 - 1))


def test_frames_of_another_version_are_told_apart():
    with pytest.raises(DataLossError, match="another version of tfdist"):
        Parser().feed(b"\x01" + REQUEST[1:])


def test_random_bytes_give_frames_or_that_error():
    chance = random.Random(4)
    for _ in range(2000):
        data = bytearray(REQUEST + ANSWER)
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            Parser().feed(bytes(data))
        except DataLossError:
            pass


def messages(buffers):
    """Return the messages that frames amount to, when they come one after the other."""
    parser = Parser()
    return [frame for buffer in buffers for frame in parser.feed(bytes(buffer))]


def parts_of(*arguments, **options):
    """Return the buffers of a long message's frames."""
    return [buffer for frame in frames.in_parts(*arguments, **options) for buffer in frame]


@pytest.mark.parametrize("length", [1, frames.PART - 1, frames.PART, frames.PART + 1, 10**6])
def test_a_long_message_comes_back_from_its_parts(length):
    content = random.Random(length).randbytes(length)
    [frame] = messages(parts_of(Kind.REQUEST, 5, [b"<", b"", content], method=2))
    assert (frame.kind, frame.number, frame.method) == (Kind.REQUEST, 5, 2)
    assert frame.body == b"<" + content


def test_parts_are_the_memory_of_the_pieces():
    array = np.arange(300_000.0).reshape(3, -1)
    parts = [frame[-1] for frame in frames.in_parts(Kind.ANSWER, 1, [memoryview(array)])]
    shared = [np.shares_memory(np.frombuffer(part, np.uint8), array) for part in parts]
    assert len(shared) > 3
    assert all(shared)
    assert size(parts) == array.nbytes


def test_parts_of_two_messages_may_come_in_turns():
    contents = {1: b"a" * 600_000, 2: b"b" * 600_000}
    whole = [map(b"".join, frames.in_parts(Kind.ANSWER, n, [contents[n]])) for n in contents]
    in_turns = [frame for turn in zip(*whole, strict=True) for frame in turn]
    assert {frame.number: frame.body for frame in messages(in_turns)} == contents


def test_a_message_has_memory_of_its_own_that_may_be_written():
    [frame] = messages([REQUEST])
    frame.body[0] = ord("j")
    assert bytes(frame.body) == b"jello"


def test_what_carries_no_message_comes_in_one_part():
    with pytest.raises(DataLossError, match="in one part"):
        messages([frames.header(Kind.CANCEL, 1, flags=frames.MORE)])


@pytest.mark.parametrize("step", [1, 7, 19, 20, 21, 33, 5000, 300_000])
def test_long_messages_and_short_ones_come_back_however_they_are_cut(step):
    content = random.Random(step).randbytes(frames.PART * 2 + 9)
    first, *rest = [b"".join(frame) for frame in frames.in_parts(Kind.ANSWER, 4, [content])]
    data = REQUEST + first + CANCEL + b"".join(rest) + ANSWER
    step = max(step, len(data) // 5000)
    found = messages(data[at : at + step] for at in range(0, len(data), step))
    assert [frame.kind for frame in found] == [*map(int, (2, 5, 3, 3))]
    assert bytes(found[2].body) == content


def test_parts_can_be_received_where_they_belong():
    """As a connection does: into the room for a part, and no further than its header before."""
    array = np.arange(200_000.0)
    data = memoryview(b"".join(parts_of(Kind.ANSWER, 4, [b"abc", memoryview(array)])) + CANCEL)
    parser, at, found, copied = Parser(), 0, [], 0
    while at < len(data):
        room = parser.room
        if room is None:
            count = min(parser.read_size(100), len(data) - at)
            found += parser.feed(bytes(data[at : at + count]))
            copied += count
        else:
            count = min(len(room), len(data) - at, 70_000)
            room[:count] = data[at : at + count]
            found += parser.filled(count)
        at += count
    assert copied < 400
    received = np.frombuffer(found[0].body[3:])
    np.testing.assert_array_equal(received, array)
    assert received.ctypes.data % 64 == 0
    assert found[1].kind == Kind.CANCEL


LONG = parts_of(Kind.REQUEST, 4, [bytes(frames.PART + 10)])
HALF = b"".join(LONG[:4])
WRONG = [
    pytest.param(b"".join(LONG[2:4]), id="parts without a length"),
    pytest.param(HALF + HALF, id="a length twice"),
    pytest.param(HALF + frames.header(Kind.REQUEST, 4, 11, flags=frames.LAST), id="too long"),
    pytest.param(
        HALF + frames.header(Kind.REQUEST, 4, 5, flags=frames.LAST) + b"short", id="too short"
    ),
    pytest.param(HALF + frames.header(Kind.REQUEST, 4, 0, flags=frames.MORE), id="an empty part"),
    pytest.param(frames.header(Kind.LENGTH, 4, 3, Kind.ANSWER) + b"abc", id="no length"),
    pytest.param(LONG[0][:4] + b"\5\0\0\0" + LONG[0][8:] + LONG[1], id="a length of no message"),
    pytest.param(LONG[0] + bytes([255] * 12), id="more than there can be"),
    pytest.param(LONG[0] + bytes(12), id="nothing"),
    pytest.param(frames.header(Kind.ANSWER, 4, flags=frames.DROPPED), id="a flag of this side"),
]


@pytest.mark.parametrize("data", WRONG)
def test_a_long_message_that_is_not_as_it_says_is_an_error(data):
    with pytest.raises(DataLossError):
        Parser().feed(data)


def test_very_many_long_messages_at_once_are_an_error():
    starts = (b"".join(next(frames.in_parts(Kind.ANSWER, n, [b"x" * 9]))[:2]) for n in range(300))
    with pytest.raises(DataLossError, match="256"):
        Parser().feed(b"".join(starts))


def test_a_request_that_is_cancelled_in_the_middle_is_dropped():
    [frame] = messages([HALF, frames.header(Kind.CANCEL, 4)])
    assert frame.kind == Kind.CANCEL
    parser = Parser()
    parser.feed(HALF + frames.header(Kind.CANCEL, 4))
    [again] = parser.feed(b"".join(LONG))
    assert len(again.body) == frames.PART + 10


def test_a_message_without_room_is_dropped_and_what_follows_is_not(monkeypatch):
    monkeypatch.setattr(ROOM, "bytes", 1000)
    dropped, after = messages([*LONG, REQUEST])
    assert (dropped.flags, dropped.number, dropped.method) == (frames.DROPPED, 4, 0)
    assert frames.dropped_length(dropped.body) == frames.PART + 10
    assert after.body == b"hello"


def test_a_place_comes_back():
    data = frames.placed_frame(Kind.ANSWER, Place(1, 2**40, 3), 4)
    [frame] = Parser().feed(data)
    assert frame.flags == frames.PLACED
    assert frames.place_of(frame.body) == Place(1, 2**40, 3)


def test_a_place_of_another_size_is_an_error():
    with pytest.raises(DataLossError, match="takes 24 bytes, not 23"):
        frames.place_of(memoryview(bytes(23)))


def test_a_path_comes_back():
    [frame] = Parser().feed(frames.path_frame(3, "/tfdist.Inspection/Größe"))
    assert (frame.kind, frame.method) == (Kind.METHOD, 3)
    assert frames.path_of(frame.body) == "/tfdist.Inspection/Größe"


@pytest.mark.parametrize("path", [b"\xff\xfe", b"/" * 1025], ids=["no text", "too long"])
def test_a_path_that_is_none_is_an_error(path):
    with pytest.raises(DataLossError):
        frames.path_of(memoryview(path))


STATUS = (5, "no größe", {"type.googleapis.com/x": b"\x00\x01", "y": b""})


def test_a_status_comes_back():
    message = memoryview(b"".join(frames.status_pieces(*STATUS)))
    assert frames.status_of(message) == STATUS


def test_a_status_that_is_cut_off_is_an_error():
    message = memoryview(b"".join(frames.status_pieces(*STATUS)))
    for end in range(len(message)):
        with pytest.raises(DataLossError):
            frames.status_of(message[:end])
