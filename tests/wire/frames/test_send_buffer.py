"""Send buffers: what is written arrives whole and in order, whoever writes and however much."""

import array
import os
import select
import socket

import pytest

from tests.runtime.blocking import Call
from tests.wire.transports import PATIENCE
from tfdist.errors import UnavailableError
from tfdist.wire.common.loop import LOOP
from tfdist.wire.common.security import Peer
from tfdist.wire.frames.send_buffer import SendBuffer
from tfdist.wire.frames.shared_memory_leases import RELEASES
from tfdist.wire.frames.streams import UnixStream

LONG = os.urandom(3 << 20)  # bytes; more than a socket takes


@pytest.fixture
def ends():
    """Give an send_buffer and the socket at which it comes out."""
    LOOP.hold()
    here, there = socket.socketpair()
    there.settimeout(PATIENCE)
    send_buffer = SendBuffer(UnixStream(here, Peer(4711, os.geteuid())))
    with here, there:
        yield send_buffer, there
        on_loop(send_buffer.close)
        on_loop(lambda: LOOP._loop.remove_writer(here))
    LOOP.release()


def on_loop(function):
    """Return what a function returns on the loop."""

    async def called():
        return function()

    return LOOP.run(called())


def read(there, length):
    """Return so many bytes."""
    found = bytearray()
    while len(found) < length:
        data = there.recv(length - len(found))
        assert data, f"it ended after {len(found)} bytes"
        found += data
    return bytes(found)


def is_empty(there):
    """Return whether nothing has come out."""
    return not select.select([there], [], [], 0)[0]


def test_nobody_waits_for_who_does_not_read(ends):
    send_buffer, there = ends
    for frame in (b"<", LONG, b"-", LONG, b">"):
        send_buffer.write(frame)
    assert read(there, 2 * len(LONG) + 3) == b"<" + LONG + b"-" + LONG + b">"


def test_frames_of_many_threads_stay_whole(ends):
    send_buffer, there = ends
    frames = [bytes([number]) * 100_000 for number in range(8)]
    calls = [Call(send_buffer.write, frame) for frame in frames]
    arrived = read(there, 800_000)
    assert sorted(arrived[at : at + 100_000] for at in range(0, 800_000, 100_000)) == frames
    assert [call.result() for call in calls] == [None] * 8


@pytest.mark.parametrize("write", ["write", "write_later"])
def test_what_was_noted_leaves_with_what_is_written_next(ends, write):
    send_buffer, there = ends
    send_buffer.note(b"no")
    send_buffer.note(b"te")
    assert is_empty(there)
    getattr(send_buffer, write)([b" and frame"] if write == "write_later" else b" and frame")
    assert read(there, 14) == b"note and frame"
    send_buffer.write_notes()
    assert is_empty(there)


def test_notes_leave_by_themselves_where_nothing_else_is_written(ends):
    send_buffer, there = ends
    for _ in range(3):
        send_buffer.note(b"note")
        RELEASES.hold()
        RELEASES.note(send_buffer)
        assert read(there, 4) == b"note"
        RELEASES.release()


def test_notes_made_while_no_thread_sent_them_leave_when_there_is_one(ends):
    send_buffer, there = ends
    send_buffer.note(b"note")
    RELEASES.note(send_buffer)
    RELEASES.hold()
    assert read(there, 4) == b"note"
    send_buffer.note(b"more")
    RELEASES.note(send_buffer)
    assert read(there, 4) == b"more"
    RELEASES.release()


def test_descriptors_go_beside_their_buffer(ends):
    send_buffer, there = ends
    with open(os.devnull) as file:
        send_buffer.write_later([LONG])
        send_buffer.write_later([b"with it", b" and after"], [file.fileno()])
        assert read(there, len(LONG)) == LONG
        data, [(level, kind, passed)], _, _ = there.recvmsg(100, socket.CMSG_SPACE(16))
    assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
    assert data + read(there, 17 - len(data)) == b"with it and after"
    [descriptor] = array.array("i", passed)
    os.close(descriptor)


def test_what_is_in_no_hurry_leaves_before_the_next_frame_or_soon(ends):
    send_buffer, there = ends
    send_buffer.write_with_next(b"one ")
    send_buffer.write_with_next(b"two ")
    send_buffer.write(b"three ")
    send_buffer.write_with_next(b"four")
    assert read(there, 18) == b"one two three four"


def test_what_the_loop_writes_can_be_held_back(ends):
    send_buffer, there = ends

    def write():
        send_buffer.hold()
        send_buffer.write(b"one ")
        send_buffer.write(b"two")
        was_empty = is_empty(there)
        send_buffer.flush()
        return was_empty, there.recv(100)

    assert on_loop(write) == (True, b"one two")


def test_other_threads_need_not_wait_for_what_is_held_back(ends):
    send_buffer, there = ends
    on_loop(lambda: (send_buffer.hold(), send_buffer.write(b"one ")))
    send_buffer.write(b"two")
    assert there.recv(100) == b"one two"


def test_very_much_is_not_held_back(ends):
    send_buffer, there = ends

    def write():
        send_buffer.hold()
        for _ in range(1000):
            send_buffer.write(b"frame")
        return is_empty(there)

    assert not on_loop(write)
    on_loop(send_buffer.flush)
    assert read(there, 5000) == b"frame" * 1000


def test_whoever_writes_learns_that_the_other_side_is_gone(ends):
    send_buffer, there = ends
    there.close()
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"process 4711 .* closed the connection"):
            send_buffer.write(b"frame")


@pytest.mark.parametrize("end", [SendBuffer.shut, SendBuffer.close, SendBuffer.abandon])
def test_after_the_end_nothing_is_written(ends, end):
    send_buffer, there = ends
    send_buffer.write_with_next(b"held back")
    end(send_buffer)
    for write in (
        send_buffer.write,
        send_buffer.write_with_next,
        lambda frame: send_buffer.write_later([frame]),
    ):
        with pytest.raises(UnavailableError):
            write(b"frame")
    send_buffer.flush()
    if end is not SendBuffer.abandon:  # then it is the parent's, and stays open
        assert there.recv(1) == b""
    assert is_empty(there) is (end is SendBuffer.abandon)
