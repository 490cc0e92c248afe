"""tf.test's `TestCase`, as a program's tests use it, and the check of gradients."""

from __future__ import annotations

import os
import random
import sys
import unittest

import numpy as np
import pytest

import tfdist as tf


class Case(tf.test.TestCase):
    """A test whose assertions are called from outside."""

    __test__ = False

    def runTest(self):
        """Do nothing."""


@pytest.fixture
def case():
    tests = Case()
    tests.setUp()
    yield tests
    tests.tearDown()


def test_each_test_begins_with_an_empty_graph_and_the_same_seeds(case):
    drawn = random.random(), np.random.rand()  # noqa: NPY002
    assert drawn == (0.3499765785632496, 0.18463433217903202), "as on TensorFlow 1.15.5"
    assert tf.get_default_graph().get_operations() == []
    assert tf.get_default_graph().seed == 87654321


def test_sessions(case):
    with case.session() as session:
        assert tf.get_default_session() is session
        assert tf.constant(1.0).device == "/device:CPU:0"
        assert case.evaluate([tf.constant(1), {"a": tf.constant(2)}]) == [1, {"a": 2}]
    with case.session(use_gpu=True):
        assert tf.constant(1.0).device == ""
    with case.cached_session() as one, case.test_session() as other:
        assert one is other
    with case.test_session(graph=tf.Graph()) as other:
        assert one is not other
        assert tf.get_default_graph() is other.graph
    with (
        pytest.raises(ValueError, match="is different than the one"),
        case.cached_session(graph=tf.Graph()),
    ):
        pass


def op_error(wanted, error=None):
    def check(case):
        with case.assertRaisesOpError(wanted):
            raise error or tf.errors.InvalidArgumentError(None, tf.constant(1, name="n").op, "bad")

    return check


NODE = tf.NodeDef(name="a", op="B")
X = np.float32([1, 2])
NAN = [1.0, np.nan]

# What passes on TensorFlow 1.15.5.
PASSES = {
    "equal": lambda c: c.assertAllEqual([1, 2], [1, 2]),
    "NaN is equal to itself": lambda c: c.assertAllEqual(NAN, NAN),
    "a tensor is evaluated": lambda c: c.assertAllEqual(tf.constant([1]), [1]),
    "strings are bytes": lambda c: c.assertAllEqual(tf.constant(["a"]), [b"a"]),
    "not equal": lambda c: c.assertNotAllEqual([1, 2], [1, 3]),
    "close": lambda c: c.assertAllClose([1.0, 2.0], [1.0, 2.000001]),
    "nested and close": lambda c: c.assertAllClose(
        [tf.constant(1.0), {"a": [2.0, [3.0]]}], [1.0, {"a": [2.0, [3.0]]}]),
    "arrays of different lengths": lambda c: c.assertAllClose(
        [np.zeros(2), np.zeros(3)], [np.zeros(2), np.zeros(3)]),
    "not close": lambda c: c.assertNotAllClose([1.0], [1.1]),
    "close for 16 bits": lambda c: c.assertAllCloseAccordingToType(np.float16([1]), [1.0005]),
    "near": lambda c: c.assertNear(1.0, 1.05, 0.1),
    "arrays near": lambda c: c.assertArrayNear([1.0, 2.0], [1.0, 2.1], 0.2),
    "their distance": lambda c: c.assertNDArrayNear(X, X + 0.1, 0.2),
    "an error's text": op_error("ba"),
    "an error's node": op_error("^Caused by: n|n$"),
    "an error's predicate": op_error(lambda error: error.message == "bad"),
    "a message and its text": lambda c: c.assertProtoEquals('name: "a" op: "B"', NODE),
    "shapes": lambda c: c.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3])),
    "types": lambda c: c.assertDTypeEqual(X, np.float32),
    "devices": lambda c: c.assertDeviceEqual("/cpu:0", "/device:CPU:0"),
    "greater": lambda c: c.assertAllGreater([2, 3], 1),
    "less or equal": lambda c: c.assertAllLessEqual([2, 3], 3),
    "in range": lambda c: c.assertAllInRange([2, 3], 2, 3),
    "in set": lambda c: c.assertAllInSet([2, 3], [2, 3, 4]),
    "between": lambda c: c.assertBetween(2, 1, 3),
    "items": lambda c: c.assertItemsEqual([1, 2], [2, 1]),
}  # fmt: skip

# What fails there, and words of the message.
FAILS = {
    "equal": (lambda c: c.assertAllEqual([1, 2, 3], [1, 5, 3]), "not equal where"),
    "shape": (lambda c: c.assertAllEqual([1, 2], [1]), "Shape mismatch"),
    "strings": (lambda c: c.assertAllEqual(tf.constant(["a"]), ["a"]), "not equal lhs"),
    "not equal": (lambda c: c.assertNotAllEqual([1], [1]), "equal at all elements"),
    "close": (lambda c: c.assertAllClose({"a": [1.0, {"b": 2.0}]}, {"a": [1.0, {"b": 2.1}]}),
              r"a\[a\]\[1\]\[b\] is different from b"),
    "keys": (lambda c: c.assertAllClose({"a": 1.0}, {"b": 1.0}), "mismatched keys"),
    "close for 32 bits": (
        lambda c: c.assertAllCloseAccordingToType(X, X + np.float32(5e-4)), "not close dif"),
    "near": (lambda c: c.assertNear(1.0, 1.2, 0.1, "text"), r"1.000000 != 1.200000 .* \(text\)"),
    "another error": (op_error("bad", ValueError("bad")), "Exception of type"),
    "another text": (op_error("other"), "Exception of type"),
    "a message": (lambda c: c.assertProtoEquals('name: "b"', NODE), r'- name: "b"'),
    "another message": (lambda c: c.assertProtoEquals(3, NODE), "Can't compare protos"),
    "shapes": (lambda c: c.assertShapeEqual(np.zeros([2, 3]), tf.zeros([3, 2])), "differ"),
    "greater": (lambda c: c.assertAllGreater([2, 3], 2), "not greater than"),
    "open range": (
        lambda c: c.assertAllInRange([2, 3], 2, 3, open_lower_bound=True), r"range \(2, 3\]"),
    "range of NaN": (lambda c: c.assertAllInRange(NAN, 0, 3), "are NaN"),
    "in set": (lambda c: c.assertAllInSet([2, 3], [2]), "not in the set"),
}  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_an_assertion_passes(case, name):
    PASSES[name](case)


@pytest.mark.parametrize("name", FAILS)
def test_an_assertion_fails(case, name):
    check, words = FAILS[name]
    with pytest.raises(AssertionError, match=words):
        check(case)


def test_threads_are_joined_and_their_errors_told(case):
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: division by zero"):
        thread.join()


def test_folders_and_what_is_written_to_a_stream(case, capfd):
    folder = case.get_temp_dir()
    assert folder == case.get_temp_dir()
    assert os.path.dirname(folder) == tf.test.get_temp_dir()
    with case.captureWritesToStream(sys.__stderr__) as captured:
        os.write(2, b"hello")
    assert captured.contents() == "hello"


def test_gradients_beside_steps(case):
    x, z = tf.constant([1.0, 2.0]), tf.constant([2 + 1j])
    y = x * x
    with case.session():
        by_rule, by_steps = tf.test.compute_gradient(x, [2], y, [2], X, delta=0.5)
        np.testing.assert_array_equal(by_rule, [[2, 0], [0, 4]])
        np.testing.assert_allclose(by_steps, by_rule, rtol=1e-6)
        assert len(tf.test.compute_gradient([x, x], [[2], [2]], y, [2])) == 2
        assert tf.test.compute_gradient_error(z, [1], z * z, [1]) < 1e-6
        wrong = tf.stop_gradient(x) * x
        assert tf.test.compute_gradient_error(x, [2], wrong, [2], X) > 0.9
    with pytest.raises(tf.errors.FailedPreconditionError, match="default session"):
        tf.test.compute_gradient_error(x, [2], y, [2])


def test_a_programs_tests_run():
    class SumTest(tf.test.TestCase):
        def test_sum(self):
            with self.session():
                self.assertAllClose(tf.constant([1.0, 2.0]) + 1.0, [2.0, 3.0])

        def test_failure(self):
            with self.cached_session():
                self.assertAllEqual(tf.constant(1), 2)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(SumTest).run(result)
    assert (len(result.failures), len(result.skipped), result.errors) == (1, 1, [])
    assert result.skipped[0][1] == "Not a test."  # test_session, as on TensorFlow
