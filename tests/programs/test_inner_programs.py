"""Programs that look inside TensorFlow give the same here, or fail with the same class of error."""

import json
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

import tfdist
from tests.programs.inner_programs import PROGRAMS, outcome
from tfdist.programs.stand_in import install, uninstall

EXPECTED = json.loads((Path(__file__).parent / "expected_inner_1_15.json").read_text())


@pytest.fixture(autouse=True)
def installed():
    install()
    yield
    uninstall()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_tensorflow_gives(name):
    import tensorflow

    assert json.loads(json.dumps(outcome(tensorflow, name))) == EXPECTED[name]


def test_every_program_was_asked():
    assert list(EXPECTED) == list(PROGRAMS)
    assert sys.modules["tfdist"] is tfdist


# the spellings of versions before 1.0, which 1.15 has no more


def test_the_shape_of_a_sparse_tensor_has_two_names():
    value = tfdist.SparseTensorValue(indices=[[0, 1]], values=[1.0], shape=[2, 3])
    assert value == (value.indices, value.values, [2, 3])
    assert (value.shape, value._fields[2]) == ([2, 3], "dense_shape")
    tensor = tfdist.SparseTensor(indices=[[0, 1]], values=[1.0], shape=[2, 3])
    assert tensor.shape.as_list() == [2, 3]
    assert tfdist.string_ref.base_dtype is tfdist.string
    for shapes in ({}, {"shape": [1], "dense_shape": [1]}):
        with pytest.raises(TypeError, match="dense_shape"):
            tfdist.SparseTensorValue([[0, 1]], [1.0], **shapes)


# decorators and assertions of tests


def test_tests_run_as_their_decorators_say():
    from tensorflow.python.framework import test_util

    ran = []

    @test_util.for_all_test_methods(test_util.run_in_graph_and_eager_modes)
    class Case(test_util.TensorFlowTestCase):
        @test_util.run_deprecated_v1
        def test_value(self):
            ran.append(float(self.evaluate(tfdist.constant(2.0) * 3.0)))

        @test_util.skip_if(True)
        def test_nothing(self):
            ran.append("skipped")

        @test_util.run_gpu_only
        def test_card(self):
            ran.append("card")

        @test_util.disable_xla("no compiler")
        def test_nodes(self):
            with test_util.force_cpu(), tfdist.name_scope("n"):
                x = tfdist.constant([[[[1.0, 2.0]]]], name="x")
            test_util.assert_ops_in_graph({"n/x": "Const"}, x.graph)
            assert x.device == "/device:CPU:0"
            ran.append(test_util.NHWCToNCHW(x).shape.as_list())

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert (result.errors, result.failures) == ([], [])
    assert sorted(ran, key=str) == [6.0, [1, 2, 1, 1]]
    assert "Test requires GPU" in [reason for _, reason in result.skipped]


def test_an_attention_of_a_programs_own_finds_the_inner_names():
    import tensorflow as tf
    from tensorflow.contrib.seq2seq.python.ops import attention_wrapper, decoder, helper
    from tensorflow.python.ops import rnn

    class Own(attention_wrapper.BahdanauAttention):
        def __call__(self, query, state):
            score = tf.reduce_sum(tf.expand_dims(self.query_layer(query), 1) * self.keys, 2)
            alignments = self._probability_fn(score + state, state)
            return alignments, alignments + state

    memory = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    with tf.Graph().as_default():
        own = Own(4, tf.constant(memory), [3, 2])
        cell = attention_wrapper.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), own)
        alignments = cell(tf.ones([2, 2]), cell.zero_state(2, tf.float32))[1].alignments
        swapped = [each._transpose_batch_time(memory) for each in (decoder, rnn)]
        zeros = decoder._create_zero_outputs(3, tf.float32, 2)
        second = helper._unstack_ta(tf.constant(memory)).read(1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found, zeros, second, *swapped = session.run([alignments, zeros, second, *swapped])
    assert found.sum(1) == pytest.approx([1, 1])
    assert found[1, 2] == 0
    assert own._num_units == 4
    assert cell._attention_mechanisms == [own]
    assert zeros.tolist() == [[0.0] * 3] * 2
    np.testing.assert_array_equal(second, memory[1])
    for each in swapped:
        np.testing.assert_array_equal(each, memory.swapaxes(0, 1))
