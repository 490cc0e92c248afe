"""Shared memory: what is written there is read elsewhere, and used again when nobody refers to it.

Sender and receiver are one process here; `test_local_faults` has two.
"""

import gc
import os
import resource
import tempfile
from contextlib import contextmanager

import numpy as np
import pytest

from tfdist.errors import DataLossError
from tfdist.wire.codec.frames import Place
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.shared_memory import Mapping, Segment, SegmentPool, open_mapping

pytestmark = pytest.mark.skipif(not shared_memory.IS_AVAILABLE, reason="this system has no memfd")

ME = os.geteuid()
MEGABYTE = 1 << 20


@pytest.fixture
def segment():
    segment = Segment(4 * MEGABYTE, ME)
    yield segment
    segment.close()


@pytest.fixture
def pool():
    pool = SegmentPool(most=8 * MEGABYTE)
    yield pool
    pool.prune()


class Released(list):
    """What the releases of messages said."""

    def __call__(self, is_spoiled):
        self.append(is_spoiled)


def ignored(is_spoiled):
    """Take no notice of a release."""


def received(segment, place, released=ignored):
    """Return a message as its receiver sees it."""
    return open_mapping(segment.descriptor).message(place, released)


MESSAGES = [
    pytest.param([b"x"], id="one byte"),
    pytest.param([b"", b"head", b"", memoryview(np.arange(1000.0)), b"tail"], id="several kinds"),
    pytest.param([memoryview(np.arange(6.0).reshape(2, 3)), b"x"], id="a matrix"),
    pytest.param([memoryview(np.empty((0, 3))), b"x"], id="nothing in a matrix"),
    pytest.param([b"ab"] * 2000, id="very many"),
    pytest.param([b"abc", os.urandom(3 * MEGABYTE)], id="3 MB"),
]


@pytest.mark.parametrize("pieces", MESSAGES)
def test_a_message_is_read_as_it_was_written(segment, pieces):
    for _ in range(2):  # fresh memory, and memory that was written before
        assert received(segment, segment.fill(pieces)) == b"".join(pieces)


def test_a_message_that_is_longer_than_the_one_before(segment):
    segment.fill([b"x" * 1000])
    assert received(segment, segment.fill([b"y" * 3000])) == b"y" * 3000
    assert received(segment, segment.fill([b"z" * 2000])) == b"z" * 2000


def test_two_threads_copy_what_is_very_long():
    segment, content = Segment(64 * MEGABYTE, ME), np.arange(3_000_001.0)
    for _ in range(2):
        view = received(segment, segment.fill([b"head", memoryview(content)]))
        np.testing.assert_array_equal(np.frombuffer(view[4:], float), content)
    segment.close()


@pytest.mark.parametrize("before", [0, 1, 37, 64, 1000])
def test_the_largest_piece_is_aligned(segment, before):
    place = segment.fill([b"h" * before, memoryview(np.zeros(5000)), b"t" * 99])
    array = np.frombuffer(received(segment, place)[before:-99], float)
    assert array.ctypes.data % 64 == 0


def test_arrays_over_a_message_may_be_written(segment):
    view = received(segment, segment.fill([memoryview(np.zeros(1000))]))
    array = np.frombuffer(view, float)
    array += 1
    assert array.sum() == 1000


HOLDERS = [
    pytest.param(lambda view: view, id="the message"),
    pytest.param(lambda view: view[8:16], id="a part"),
    pytest.param(lambda view: view[8:].cast("d"), id="a cast"),
    pytest.param(lambda view: np.frombuffer(view, float), id="an array"),
    pytest.param(lambda view: np.frombuffer(view[8:80], float), id="an array of a part"),
    pytest.param(lambda view: np.asarray(view), id="an array made otherwise"),
    pytest.param(lambda view: np.frombuffer(view, float).reshape(10, -1)[2:, ::3], id="a slice"),
    pytest.param(lambda view: np.frombuffer(view, float).view(np.int64).T, id="another type"),
    pytest.param(lambda view: memoryview(np.frombuffer(view, float)), id="an array's memory"),
    pytest.param(lambda view: iter(np.frombuffer(view, float)), id="an iterator"),
]


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_message_is_released_when_nothing_refers_to_it(segment, hold):
    released = Released()
    view = received(segment, segment.fill([memoryview(np.zeros(1000))]), released)
    held = hold(view)
    del view
    assert released == []
    del held
    assert released == [False]


def test_a_message_in_a_cycle_is_released_with_it(segment):
    released = Released()
    cycle = [received(segment, segment.fill([b"x"]), released)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert released == [False]


def test_two_messages_of_one_segment_are_released_on_their_own(segment):
    first, second = Released(), Released()
    place = segment.fill([b"abcd"])
    one = received(segment, place._replace(length=2), first)
    other = received(segment, place._replace(offset=place.offset + 2, length=2), second)
    assert (bytes(one), bytes(other)) == (b"ab", b"cd")
    del one
    assert (first, second) == ([False], [])
    del other
    assert second == [False]


def test_an_array_outlives_its_segment():
    segment = Segment(MEGABYTE, ME)
    array = np.frombuffer(received(segment, segment.fill([memoryview(np.arange(9.0))])), float)
    segment.close()
    del segment
    gc.collect()
    assert array.tolist() == list(range(9))


def test_who_keeps_very_many_messages_gets_copies():
    segment, kept, released = Segment(MEGABYTE, ME), [], Released()
    for index in range(100):
        kept.append(received(segment, segment.fill([bytes([index]) * 9]), released))
    assert 60 < len(released) < 100
    assert [bytes(each) for each in kept[-60:]] == [bytes([n]) * 9 for n in range(40, 100)]
    kept[-1][0] = 1  # writable, too
    segment.close()


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(Place(1, 0, 0), id="nothing"),
        pytest.param(Place(1, 4 * MEGABYTE, 1), id="behind the end"),
        pytest.param(Place(1, 4 * MEGABYTE - 5, 6), id="over the end"),
        pytest.param(Place(1, 2**64 - 1, 2), id="far away"),
        pytest.param(Place(1, 0, 2**63), id="very long"),
    ],
)
def test_a_place_outside_of_the_segment_is_an_error(segment, place):
    with pytest.raises(DataLossError, match="outside"):
        received(segment, place)


def unsealed():
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, MEGABYTE)
    return descriptor


def plain_file():
    with tempfile.TemporaryFile() as file:
        file.truncate(MEGABYTE)
        return os.dup(file.fileno())


def empty():
    segment = Segment(0, ME)
    return os.dup(segment.descriptor)


@pytest.mark.parametrize("make", [unsealed, plain_file, empty, lambda: os.pipe()[0]])
def test_memory_that_could_be_cut_off_is_not_touched(make):
    descriptor = make()
    try:
        with pytest.raises(DataLossError, match="is not used"):
            Mapping(descriptor)
    finally:
        os.close(descriptor)


def test_a_segment_cannot_be_cut_off(segment):
    with pytest.raises(PermissionError):
        os.ftruncate(segment.descriptor, 0)


def test_a_segment_is_used_again(pool):
    first = pool.take(MEGABYTE, ME)
    first.fill([bytes(MEGABYTE)])
    assert pool.take(MEGABYTE, ME) is not first  # it is lent
    pool.give(first)
    assert pool.has(MEGABYTE, ME)
    assert pool.take(MEGABYTE - 999, ME) is first
    assert not pool.has(MEGABYTE, ME)


def test_a_segment_is_not_used_again_for_another_user(pool):
    first = pool.take(MEGABYTE, ME)
    pool.give(first)
    assert pool.take(MEGABYTE, ME + 1) is not first
    assert pool.take(MEGABYTE, ME) is first


def test_a_segment_that_is_much_too_large_is_not_taken(pool):
    large = pool.take(64 * MEGABYTE, ME)
    pool.give(large)
    assert pool.take(MEGABYTE, ME) is not large
    assert pool.take(40 * MEGABYTE, ME) is large


def test_idle_segments_are_bounded_and_the_oldest_go_first(pool):
    taken, told = [pool.take(3 * MEGABYTE, ME) for _ in range(4)], []
    for segment in taken:
        segment.fill([bytes(3 * MEGABYTE)])
        segment.known_to["a connection"] = told.append
    for segment in taken:
        pool.give(segment)
    assert told == [taken[0].number, taken[1].number]
    assert pool.idle_bytes == 6 * MEGABYTE
    for segment in taken:
        segment.known_to.clear()


def test_segments_that_nobody_knows_are_closed(pool):
    segment = pool.take(MEGABYTE, ME)
    segment.known_to["a connection"] = list().append
    pool.give(segment)
    pool.prune()
    assert pool.has(MEGABYTE, ME)
    segment.known_to.clear()
    pool.prune()
    assert not pool.has(MEGABYTE, ME)


def test_a_segment_that_is_forgotten_closes_its_file():
    before = len(os.listdir("/proc/self/fd"))
    segment = Segment(MEGABYTE, ME)
    segment.fill([b"x"])
    segment.fill([b"x"])  # maps it
    assert len(os.listdir("/proc/self/fd")) == before + 2
    del segment
    assert len(os.listdir("/proc/self/fd")) == before


@contextmanager
def no_descriptors():
    """Leave this process without a descriptor for another file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_there_is_no_segment_without_a_descriptor(pool):
    with no_descriptors():
        assert pool.take(MEGABYTE, ME) is None
    assert pool.take(MEGABYTE, ME) is not None


def test_the_number_of_segments_is_bounded(pool):
    taken = [pool.take(1, ME) for _ in range(200)]
    assert None in taken
    del taken
    assert pool.take(1, ME) is not None
