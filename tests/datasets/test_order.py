"""Shuffling, caching, random numbers: what is repeatable, and what differs from epoch to epoch."""

import itertools

import numpy as np
import pytest

import tfdist as tf
from tfdist.base.shuffling import words_of

D = tf.data.Dataset


def elements(pipeline, times=1):
    """Return the elements of each initialization of one iterator of a pipeline."""
    iterator = pipeline.make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        for _ in range(times):
            session.run(iterator.initializer)
            found.append([])
            while True:
                try:
                    found[-1].append(np.asarray(session.run(element)).tolist())
                except tf.errors.OutOfRangeError:
                    break
    return found if times > 1 else found[0]


def slices(pipeline):
    """Return the same pipeline, whose elements are not told by positions any more."""
    return pipeline.map(lambda x: x)


SOURCES = {"rows": lambda n: D.range(n), "elements": lambda n: slices(D.range(n))}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]


@pytest.mark.parametrize("size", [1, 3, 50, 1000])
def test_a_shuffle_is_a_permutation_within_its_buffer(source, size):
    order = elements(source(700).shuffle(size, seed=4))
    assert sorted(order) == list(range(700))
    assert all(value < place + size for place, value in enumerate(order))
    assert (order == list(range(700))) == (size == 1)


def one_by_one(numbers, size, words):
    """Return numbers in the order that words tell, as found by experiments with TensorFlow 1.15."""
    coming, buffer, order = iter(numbers), [], []
    while True:
        buffer += itertools.islice(coming, size - len(buffer))
        if not buffer:
            return order
        place = words.one() % len(buffer)
        buffer[0], buffer[place] = buffer[place], buffer[0]
        order.append(buffer.pop(0))


@pytest.mark.parametrize(("count", "size"), [(30, 30), (30, 31), (31, 30), (900, 20), (9000, 4100)])
def test_long_orders_are_as_if_drawn_one_by_one(source, count, size):
    tf.set_random_seed(8)
    words = words_of(8, 4)
    wanted = one_by_one(range(count), size, words)
    same = source(count).shuffle(size, seed=4, reshuffle_each_iteration=False)
    assert elements(same) == wanted
    twice = source(count).shuffle(size, seed=4).repeat(2)
    assert elements(twice) == wanted + one_by_one(range(count), size, words)


def test_the_first_element_comes_as_soon_as_the_buffer_is_full(source):
    def counted(x):
        asked.append(int(x))
        return x

    asked = []
    pipeline = source(20).map(lambda x: tf.py_func(counted, [x], tf.int64)).shuffle(5, seed=4)
    following = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(following)
    assert len(asked) == 5


def test_a_seed_makes_the_order_repeatable(source):
    first, second = elements(source(50).shuffle(20, seed=4), times=2)
    assert first == second
    assert first != elements(source(50).shuffle(20, seed=5))
    assert elements(source(50).shuffle(20)) != elements(source(50).shuffle(20))


def test_epochs_differ_if_they_should(source):
    anew = elements(source(50).shuffle(50, seed=4).repeat(2))
    assert sorted(anew[:50]) == sorted(anew[50:])
    assert anew[:50] != anew[50:]
    same = elements(source(50).shuffle(50, seed=4, reshuffle_each_iteration=False).repeat(2))
    assert same[:50] == same[50:]
    kept = elements(source(50).shuffle(50, seed=4).cache().repeat(2))
    assert kept[:50] == kept[50:]


STAGES = {
    "take": lambda d: d.take(7),
    "skip": lambda d: d.skip(3),
    "shard": lambda d: d.shard(3, 1),
    "repeat": lambda d: d.repeat(2),
    "cache": lambda d: d.cache(),
    "long batches": lambda d: d.batch(7).unbatch(),
}


@pytest.mark.parametrize(
    "names", [*itertools.product(STAGES, STAGES), ("skip", "repeat", "shard", "take")]
)
def test_positions_and_elements_go_the_same_ways(names):
    """What moves positions gives what moves elements gives, also cut into batches."""
    by_rows, by_elements = D.range(10), slices(D.range(10))
    for name in names:
        by_rows, by_elements = STAGES[name](by_rows), STAGES[name](by_elements)
    for drops in (False, True):
        found, wanted = by_rows.batch(4, drops), by_elements.batch(4, drops)
        assert elements(found) == elements(wanted)
    assert elements(by_rows) == elements(by_elements)


def test_a_cache_keeps_what_was_computed():
    calls = []

    def counted(x):
        calls.append(x)
        return x * 2

    pipeline = D.range(3).map(lambda x: tf.py_func(counted, [x], tf.int64))
    assert elements(pipeline.cache().repeat(3)) == [0, 2, 4] * 3
    assert len(calls) == 3


def test_a_cache_leaves_out_what_fails():
    pipeline = D.range(5).map(lambda x: 6 // (x - 2)).cache().repeat(2)
    element = pipeline.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [session.run(element) for _ in range(2)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(element)
        found += [session.run(element) for _ in range(6)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    assert found == [-3, -6, 6, 3] * 2


def test_random_numbers_begin_anew_with_the_iterator():
    """As in TensorFlow: within one iterator they go on from epoch to epoch."""
    pipeline = D.range(2).map(lambda x: tf.random_uniform([], seed=5)).repeat(2)
    first, second = elements(pipeline, times=2)
    assert first == second
    assert len(set(first)) == 4


def test_a_generator_begins_anew_in_each_epoch_and_is_ended():
    ended = []

    def generator():
        try:
            yield from (1, 2, 3)
        finally:
            ended.append(True)

    pipeline = D.from_generator(generator, tf.int64, [])
    assert elements(pipeline.repeat(2)) == [1, 2, 3] * 2
    assert len(ended) == 2
    assert elements(pipeline.take(2)) == [1, 2]
    assert len(ended) == 3


def test_errors_are_passed_over():
    pipeline = D.range(4).map(lambda x: 6 // x).apply(tf.data.experimental.ignore_errors())
    assert elements(pipeline) == [6, 3, 2]


def test_a_function_that_ends_the_sequence():
    def ending(x):
        if x == 2:
            raise StopIteration
        return x

    assert elements(D.range(5).map(lambda x: tf.py_func(ending, [x], tf.int64))) == [0, 1]


def test_buckets_of_similar_length():
    lengths = [1, 5, 2, 7, 3, 6]
    pipeline = D.from_tensor_slices(np.int64(lengths)).map(lambda n: tf.range(n))
    stage = tf.data.experimental.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [4], [3, 2], drop_remainder=True
    )
    assert [np.shape(each) for each in elements(pipeline.apply(stage))] == [(2, 7), (3, 3)]


@pytest.mark.parametrize("initial", [None, [0.9, 0.1]])
def test_classes_come_as_often_as_wanted(initial):
    source = D.from_tensor_slices(np.int32([0] * 900 + [1] * 100)).shuffle(1000, seed=2).repeat()
    stage = tf.data.experimental.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=3)
    classes = elements(source.apply(stage).map(lambda kind, element: kind).take(1500))
    assert 0.4 < np.mean(classes) < 0.6


@pytest.mark.parametrize(
    ("initial", "classes"),
    [
        (None, "01011010110001110111010110111001110011010111011010"),
        ([0.25, 0.75], "01011010100010110101110011101000110111011101110111"),
    ],
)
def test_resampled_elements_are_those_of_tensorflow(initial, classes):
    """These are the classes that 1.15.5 gave."""
    source = D.range(40).map(lambda x: tf.cast(x % 4 > 0, tf.int32))
    stage = tf.data.experimental.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=7)
    pairs = source.apply(stage).map(lambda kind, element: 10 * kind + element)
    assert "".join(str(pair // 10) for pair in elements(pairs)) == classes
    assert all(pair in (0, 11) for pair in elements(pairs))
