"""Work that several threads share: each element once, and whatever happens all are done."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tfdist as tf
from tfdist.runtime.resources.shared_work import share


@pytest.mark.parametrize("size", [0, 1, 1_000_001, 3_000_000, 7_654_321])
def test_each_element_is_worked_on_once(size):
    done = np.zeros(size, np.int8)

    def work(start, end):
        done[start:end] += 1

    share(work, size)
    assert done.min(initial=1) == done.max(initial=1) == 1


@pytest.mark.parametrize("wrong", [0, 2_999_999], ids=["in the first part", "in the last"])
def test_an_error_comes_when_all_are_done(wrong):
    done = np.zeros(3_000_000, bool)

    def work(start, end):
        done[start:end] = True
        if start <= wrong < end:
            raise ValueError("wrong")

    before = threading.active_count()
    with pytest.raises(ValueError, match="wrong"):
        share(work, len(done))
    assert threading.active_count() == before
    assert done.all()


def test_elements_may_be_many_numbers():
    copy, rows = np.zeros([7, 300_000]), np.ones([7, 300_000])
    share(lambda start, end: np.copyto(copy[start:end], rows[start:end]), len(rows), rows[0].size)
    assert copy.all()


def test_a_large_step_is_like_many_small_ones():
    """No warning where numbers get too large, and what is nearly zero is zero on any thread."""
    size = 2_000_000
    with tf.Graph().as_default():
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        large, small = [tf.Variable(tf.fill([size], each)) for each in (-3e38, 1.5e-38)]
        gradients = [(tf.fill([size], 3e38), large), (tf.fill([size], 1e-38), small)]
        train = optimizer.apply_gradients(gradients)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            assert set(session.run(large)) == {-np.inf}
            assert len(set(session.run(small))) == 1
