"""Words come the same however many are taken at a time; exchanges are as if made one by one."""

import itertools

import numpy as np
import pytest

from tfdist.base import philox
from tfdist.base.shuffling import AnyWords, Words, exchange, one_by_one, words_of

STREAM = philox.of_seeds(3, -7)


@pytest.mark.parametrize("counts", [[1] * 40, [3, 0, 14, 1], [5000, 1], [1, 20_000, 7, 0, 4096]])
def test_words_are_those_of_the_stream(counts):
    wanted = philox.words(STREAM, sum(counts))
    words = Words(STREAM)
    assert np.concatenate([words.take(count) for count in counts]).tolist() == wanted.tolist()
    one_at_a_time = Words(STREAM)
    mixed = [[one_at_a_time.one()] if n == 1 else one_at_a_time.take(n).tolist() for n in counts]
    assert list(itertools.chain(*mixed)) == wanted.tolist()
    assert list(itertools.islice(one_by_one(Words(STREAM)), len(wanted))) == wanted.tolist()


def test_without_seeds_nobody_can_tell_the_words():
    one, other = words_of(0, 0), words_of(0, 0)
    assert isinstance(one, AnyWords)
    assert one.take(4).tolist() != other.take(4).tolist()
    assert one.one() != other.one()
    assert not isinstance(words_of(0, 1), AnyWords)


def places_far_and_near(count, size, rng):
    """Return for each turn a place that is not before it: anywhere, among few, or close by."""
    turns = np.arange(count)
    yield turns + rng.integers(0, size - turns)
    yield np.maximum(
        turns, rng.integers(0, size, 1 + count // 9)[rng.integers(0, 1 + count // 9, count)]
    )
    yield np.minimum(turns + rng.integers(0, 3, count), size - 1)
    yield turns


@pytest.mark.parametrize(("count", "size"), [(0, 3), (1, 1), (7, 7), (64, 90), (65, 65),
                                             (300, 301), (300, 5000), (2000, 2000)])  # fmt: skip
def test_exchanges_are_as_if_made_one_by_one(count, size):
    rng = np.random.default_rng(5)
    for others in places_far_and_near(count, size, rng):
        given = rng.permutation(size)
        wanted = given.tolist()
        for place, other in enumerate(others.tolist()):
            wanted[place], wanted[other] = wanted[other], wanted[place]
        forwards, backwards = given.copy(), given[::-1].copy()
        exchange(forwards, others)
        exchange(backwards[::-1], others)
        assert forwards.tolist() == wanted
        assert backwards[::-1].tolist() == wanted
