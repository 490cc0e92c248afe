"""In which order stores give elements, and that rows of arrays are cut and joined as lists are."""

import random

import numpy as np
import pytest

from tfdist.base.shuffling import words_of
from tfdist.runtime.resources.queue_rows import Pool, Rows
from tfdist.runtime.resources.queue_stores import Fifo, Heap, Shuffle, joined


def plain(rows):
    """Return the elements of rows as lists."""
    return [[np.asarray(each).tolist() for each in element] for element in rows]


def some(first, count):
    """Return `count` elements as one batch: a number and a pair each."""
    numbers = np.arange(first, first + count, dtype=np.int32)
    return Rows.many([numbers, np.stack([numbers, -numbers], 1)])


def element(number):
    return [number, [number, -number]]


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_cut_and_joined_as_lists_are(seed):
    dice = random.Random(seed)
    rows, model, number = Rows([], 0), [], 0
    for _ in range(60):
        match dice.choice(["one", "many", "cut"]):
            case "one":
                more = Rows.one([np.int32(number), np.array([number, -number], np.int32)])
            case "many":
                more = some(number, dice.randrange(1, 5))
            case "cut":
                ends = sorted(dice.choices(range(len(model) + 1), k=2))
                more, rows = Rows([], 0), rows[slice(*ends)]
                model = model[slice(*ends)]
        rows += more
        model += [element(number + i) for i in range(len(more))]
        number += len(more)
        assert len(rows) == len(model)
        assert plain(rows) == model
        if model:
            numbers, pairs = rows.stacked()
            assert numbers.tolist() == [each for each, _ in model]
            assert pairs.tolist() == [each for _, each in model]
            assert (numbers.dtype, pairs.dtype) == (np.int32, np.int32)


def test_rows_of_one_array_leave_without_a_copy():
    array = np.arange(12.0).reshape(6, 2)
    [part] = Rows.many([array])[2:5].stacked()
    assert np.shares_memory(part, array)
    assert part.tolist() == array[2:5].tolist()


def test_what_is_joined_leaves_the_batches_as_they_were():
    one, other = some(0, 2), some(5, 1)
    assert plain(joined([one, other])) == [element(n) for n in (0, 1, 5)]
    assert [len(one), len(other)] == [2, 1]
    assert joined([]) == []


def test_elements_are_padded_to_the_largest():
    rows = Rows.one([np.ones([2, 1], np.int32), np.array([b"a"], object), np.int64(7)])
    rows += Rows.many(
        [np.ones([1, 1, 3], np.int32), np.array([[b"b", b"c"]], object), np.array([8])]
    )
    numbers, words, bare = rows.padded([(None, None), (None,), ()])
    assert numbers.tolist() == [[[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0]]]
    assert words.tolist() == [[b"a", b""], [b"b", b"c"]]
    assert bare.tolist() == [7, 8]


STORES = {
    "fifo": Fifo,
    "shuffle": lambda: Shuffle(words_of(5, 0)),
    "pool": lambda: Pool(words_of(5, 0), [np.int32, np.int32], [(), (2,)]),
    "heap": lambda: Heap(lambda batch: int(plain(batch)[0][0])),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("seed", range(10))
def test_every_element_leaves_once(kind, seed):
    dice, store, inside, number = random.Random(seed), STORES[kind](), [], 0
    taken = Rows([], 0)
    for _ in range(200):
        match dice.choice(["add", "add", "take", "back"]):
            case "add":
                count = dice.randrange(1, 6)
                store.add(some(number, count))
                inside += [element(number + i) for i in range(count)]
                number += count
            case "take" if inside:
                taken = store.take(dice.randrange(1, len(inside) + 1))
                for each in plain(taken):
                    inside.remove(each)
            case "back" if len(taken):
                store.give_back(taken)
                inside += plain(taken)
                taken = Rows([], 0)
        assert len(store) == len(inside)
        assert sorted(plain(store)) == sorted(inside)


def test_first_in_first_out_and_back_to_the_front():
    store = Fifo()
    for first in (0, 3, 6):
        store.add(some(first, 3))
    taken = store.take(4)
    assert [each for each, _ in plain(taken)] == [0, 1, 2, 3]
    store.give_back(taken[2:])
    assert [each for each, _ in plain(store.take(4))] == [2, 3, 4, 5]


def test_of_equal_priorities_the_first_comes_first():
    store = Heap(lambda batch: batch[0][0])
    store.add([(3, "a"), (1, "b"), (2, "c"), (1, "d"), (3, "e")])
    taken = store.take(2)
    assert taken == [(1, "b"), (1, "d")]
    store.add([(1, "f")])
    store.give_back(taken)
    assert [word for _, word in store.take(6)] == list("bdfcae")


def order(kind, *seeds):
    """Return the numbers that a store gives, one or some at a time, while others come in."""
    words = words_of(*seeds)
    store = Shuffle(words) if kind == "shuffle" else Pool(words, [np.int32] * 2, [(), (2,)])
    found = []
    for first, counts in ((0, (1, 150, 3)), (250, (1, 7, 64, 65, 1, 66)), (500, (300, 92))):
        store.add(some(first, 250))
        found += [each for n in counts for each, _ in plain(store.take(n))]
    return found


def test_an_order_is_repeated_for_a_seed_only():
    assert order("pool", 1, 2) == order("pool", 1, 2) != order("pool", 2, 1)
    assert order("pool", 0, 0) != order("pool", 0, 0)
    assert order("pool", 1, 2) != sorted(order("pool", 1, 2)) == list(range(750))


def test_a_pool_gives_the_order_of_a_list():
    assert order("pool", 1, 2) == order("shuffle", 1, 2)


@pytest.mark.parametrize("kind", ["shuffle", "pool"])
def test_every_element_has_the_same_chance(kind):
    counts = np.zeros(8)
    store = STORES[kind]()
    for _ in range(1000):
        store.add(some(0, 8))
        counts[[each for each, _ in plain(store.take(3))]] += 1
        store.take(5)
    assert abs(counts - 375).max() < 75, "five standard deviations"


def test_a_pool_keeps_no_string_that_has_left():
    store = Pool(words_of(1, 0), [object], [()])
    store.add(Rows.many([np.array([b"a", b"b"], object)]))
    store.take(2)
    assert not any(store._arrays[0])


def test_a_pool_gives_rows_of_strings_as_they_were():
    pool = Pool(words_of(1, 0), [np.dtype(object)], [(2,)])
    words = np.array([b"a", b"b"], object)
    pool.add(Rows.one([words]))
    assert plain(pool.take(1)) == [[[b"a", b"b"]]]
