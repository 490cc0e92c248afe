"""Caches in files: a later run reads them, and what is not whole is not there."""

import os

import numpy as np
import pytest

import tfdist as tf

D = tf.data.Dataset


@pytest.fixture
def name(tmp_path):
    return str(tmp_path / "kept")


def counted(name, calls, count=4):
    """Return a pipeline with a cache that notes what it computes."""

    def call(x):
        calls.append(int(x))
        return x * 10

    return D.range(count).map(lambda x: tf.py_func(call, [x], tf.int64)).cache(name)


def elements(pipeline, most=100):
    """Return the elements that a new session finds, at most so many."""
    element = pipeline.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        for _ in range(most):
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
    return [np.asarray(each).tolist() for each in found]


def test_a_second_run_reads_what_the_first_one_kept(name):
    calls = []
    assert elements(counted(name, calls)) == [0, 10, 20, 30]
    assert elements(counted(name, calls, 9)) == [0, 10, 20, 30]
    assert calls == [0, 1, 2, 3]
    assert sorted(os.listdir(os.path.dirname(name))) == ["kept.data-00000-of-00001", "kept.index"]


def test_epochs_after_the_first_one_read(name):
    calls = []
    assert elements(counted(name, calls, 2).repeat(3)) == [0, 10] * 3
    assert calls == [0, 1]


def test_what_is_not_whole_is_not_used(name):
    calls = []
    assert elements(counted(name, calls), most=2) == [0, 10]
    assert os.listdir(os.path.dirname(name)) == []
    assert elements(counted(name, calls)) == [0, 10, 20, 30]
    assert calls == [0, 1, 0, 1, 2, 3]


def test_two_cannot_write_one_cache(name):
    iterators = [counted(name, []).make_initializable_iterator() for _ in range(2)]
    first, second = [iterator.get_next() for iterator in iterators]
    with tf.Session() as session:
        session.run([iterator.initializer for iterator in iterators])
        assert session.run(first) == 0
        for _ in range(2):
            with pytest.raises(tf.errors.AlreadyExistsError) as raised:
                session.run(second)
            text = f"cache lockfile already exists ('{name}_0.lockfile')"
            assert text in raised.value.message
        assert [int(session.run(first)) for _ in range(3)] == [10, 20, 30]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(first)
        assert session.run(second) == 0


def test_an_element_that_fails_is_left_out(name):
    pipeline = D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1 / x, "odd"))
    kept = pipeline.cache(name).apply(tf.data.experimental.ignore_errors())
    for _ in range(2):
        assert elements(kept) == [1.0, 0.5]


VALUES = {
    "text": np.array([b"a", b"", b"\xff"], object),
    "nothing": np.zeros((0, 2), np.float32),
    "complex": np.complex64(1 + 2j),
    "half": np.float16([0.5, 2]),
    "truth": np.bool_(True),
}


def test_elements_of_all_types_come_back(name):
    iterator = D.from_tensors(VALUES).cache(name).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            found = session.run(element)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
            for key, value in VALUES.items():
                np.testing.assert_array_equal(found[key], value)
                assert np.asarray(found[key]).dtype == np.asarray(value).dtype


def fails(pipeline, error):
    """Return the message of the error that ends a pipeline."""
    with pytest.raises(error) as raised:
        elements(pipeline)
    return raised.value.message


def test_a_cache_of_other_types_is_refused(name):
    elements(D.range(2).cache(name))
    message = fails(D.from_tensors("a").cache(name), tf.errors.InvalidArgumentError)
    assert "holds elements of the types ['int64']" in message


def test_damage_is_told(name):
    elements(D.range(4).cache(name))
    with open(f"{name}.data-00000-of-00001", "r+b") as file:
        file.truncate(os.path.getsize(file.name) - 3)
    fails(D.range(4).cache(name), tf.errors.DataLossError)


def test_a_cache_of_tensorflow_is_told(name):
    with open(f"{name}.index", "wb") as file:
        file.write(b"\x00\x01\x02")
    assert "no cache of tfdist" in fails(D.range(4).cache(name), tf.errors.DataLossError)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    fails(D.range(4).cache(str(tmp_path / "no" / "such")), tf.errors.NotFoundError)
