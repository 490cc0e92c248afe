"""Blocks of Philox are those of its paper, one by one, many at once, and as machine code."""

from __future__ import annotations

import numpy as np
import pytest

from tfdist.base.philox import Stream

ONES = (1 << 128) - 1
# Known answers that come with the authors' library Random123: counter, key, words.
KNOWN = [
    (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (ONES, ONES >> 64, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (0x0370734413198A2E85A308D3243F6A88, 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
STREAMS = [Stream(0, 0), Stream((1 << 64) - 30, 5), Stream(ONES - 20, ONES >> 64)]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN, ids=["zeros", "ones", "digits of pi"])
def test_a_block_is_the_one_that_its_authors_tell(counter, key, words):
    [block] = Stream(counter, key).blocks(1)
    assert [f"{word:08x}" for word in block] == words.split()


def one_by_one(stream, count):
    return np.concatenate([stream.skipped(place).blocks(1) for place in range(count)])


@pytest.mark.parametrize("stream", STREAMS, ids=["start", "half", "end"])
def test_many_blocks_at_once_are_those_one_by_one(stream):
    np.testing.assert_array_equal(stream.blocks(100), one_by_one(stream, 100))


@pytest.mark.parametrize("stream", STREAMS, ids=["start", "half", "end"])
def test_they_stay_what_they_are_when_many_were_asked_for(stream):
    for _ in range(30):  # enough for compiling them to be worth while
        stream.blocks(100_000)
    np.testing.assert_array_equal(stream.blocks(100), one_by_one(stream, 100))
    places = np.array([7, 3, 99, 3, 0, 1, 2, 4], np.uint64)
    np.testing.assert_array_equal(stream.blocks_at(places), one_by_one(stream, 100)[places])
