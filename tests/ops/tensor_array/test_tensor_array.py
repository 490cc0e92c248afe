"""TensorArray: beside real TensorFlow, its gradients, and what holds an array together.

Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's
Python, it is asked; elsewhere what 1.15.5 said is read from `expected_tensor_arrays_1_15.json`.
"""

import gc
import json
import os
import threading
import weakref
from functools import cache

import numpy as np
import pytest

import tfdist as tf
from tests.ops.differential import calls
from tests.ops.tensor_array.tensor_array_calls import (
    ERRORS,
    EXPECTED,
    MORE_HERE,
    NODES,
    VALUES,
    outcome,
    real,
)
from tests.ops.test_differential import compare_elements
from tfdist.base import dtypes, shapes
from tfdist.graph.op_def import raw
from tfdist.ops.tensor_array.element_array import ElementArray
from tfdist.ops.tensor_array.tensor_array import with_flow

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")
F = "float32"
X = [[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


# beside real TensorFlow


@cache
def wanted():
    if REAL:
        return real(REAL)
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


def compare_values(found, expected):
    """Assert that types, shapes and values agree; returns the pairs of outputs."""
    assert "outputs" in found, found
    pairs = list(zip(found["outputs"], expected["outputs"], strict=True))
    for ours, theirs in pairs:
        assert (ours[0], ours[2:3]) == (theirs[0], theirs[2:3])
        if len(theirs) > 3:
            compare_elements(ours[0], ours[3], theirs[3])
    return pairs


@pytest.mark.parametrize("source", calls(NODES))
def test_a_call_makes_the_nodes_of_tensorflow(source):
    found = outcome(tf, source, "")
    assert found.get("nodes") == wanted()[source]["nodes"]
    for ours, theirs in compare_values(found, wanted()[source]):
        ours_, theirs_ = (None if each is None else tuple(each) for each in (ours[1], theirs[1]))
        assert shapes.merge(ours_, theirs_) == ours_, "less is known than there"


@pytest.mark.parametrize("source", calls(VALUES))
def test_a_call_has_the_values_of_tensorflow(source):
    compare_values(outcome(tf, source, ""), wanted()[source])


@pytest.mark.parametrize("row", calls(ERRORS))
def test_a_call_fails_as_in_tensorflow(row):
    phrase, _, source = row.partition(" | ")
    assert wanted()[source]["phrase"], "the phrase is not in TensorFlow's message"
    assert outcome(tf, source, phrase) == wanted()[source]


@pytest.mark.parametrize("source", MORE_HERE)
def test_a_call_fails_in_tensorflow_only(source):
    assert "run_error" in wanted()[source]
    [output] = outcome(tf, source, "")["outputs"]
    assert str(output[2]) == MORE_HERE[source]


# gradients


def through_unstack(x):
    return tf.TensorArray(F, 3).unstack(x).stack()


def through_one_read(x):
    return tf.TensorArray(F, 3).unstack(x).read(1)


def through_writes(x):
    array = tf.TensorArray(F, 3).write(0, x[0] * x[1]).write(2, x[2]).write(1, tf.sin(x[2]))
    return array.gather([2, 0, 1])


def through_several_reads(x):
    array = tf.TensorArray(F, 3, clear_after_read=False).unstack(x)
    return array.read(0) * array.read(0) + array.read(2) * tf.exp(array.stack())


def through_scatter_and_gather(x):
    return tf.TensorArray(F, 4).scatter([3, 0, 2], x).gather([2, 3])


def through_split_and_concat(x):
    return tf.TensorArray(F, 3, infer_shape=False).split(x, [2, 0, 1]).concat()


def through_split_and_read(x):
    return tf.TensorArray(F, 2, infer_shape=False).split(x, [1, 2]).read(1)


def through_two_arrays(x):
    first = tf.TensorArray(F, 3).unstack(x)
    return tf.TensorArray(F, 1, dynamic_size=True).write(4, first.read(2)).read(4)


def through_growing(x):
    array = tf.TensorArray(F, 0, dynamic_size=True).write(0, x[0]).write(1, x[1] * x[0])
    return array.stack()


@pytest.mark.parametrize("function", [
    through_unstack, through_one_read, through_writes, through_several_reads,
    through_scatter_and_gather, through_split_and_concat, through_split_and_read,
    through_two_arrays, through_growing,
])  # fmt: skip
def test_a_gradient_agrees_with_differences(function, session):
    x = tf.placeholder(F, [3, 2])
    y = function(x)
    weights = np.random.default_rng(0).normal(size=session.run(y, {x: X}).shape)
    found = session.run(tf.gradients(y, x, weights.astype(np.float32))[0], {x: X})
    wanted = np.zeros((3, 2))
    for place in np.ndindex(3, 2):
        step = np.zeros((3, 2))
        step[place] = 1e-2
        ends = [session.run(y, {x: X + sign * step}).astype(float) for sign in (1, -1)]
        wanted[place] = np.sum(weights * (ends[0] - ends[1])) / 2e-2
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)


def test_two_computations_of_gradients_do_not_mix(session):
    x = tf.constant([1.0, 2.0])
    y = tf.TensorArray(F, 2).unstack(x).stack()
    with tf.name_scope("outer"):
        three = [tf.gradients(y, x)[0], tf.gradients(y, x)[0], tf.gradients(y, x, name="mine")[0]]
    assert [each.tolist() for each in session.run(three)] == [[1.0, 1.0]] * 3


def test_a_gradient_of_a_gradient(session):
    x = tf.constant([1.0, 2.0])
    array = tf.TensorArray(F, 2, clear_after_read=False).unstack(x)
    y = array.read(0) ** 3.0 * array.read(1) + array.read(1) ** 2.0
    [first] = tf.gradients(y, x)
    second = tf.gradients(first[0], x)[0], tf.gradients(first[1], x)[0]
    assert session.run(first).tolist() == [6.0, 5.0]
    assert [row.tolist() for row in session.run(second)] == [[12.0, 3.0], [3.0, 2.0]]


def test_rows_of_a_gather_become_whole_elements(session):
    x = tf.constant(X)
    rows = tf.gather(tf.TensorArray(F, 1).write(0, x).read(0), [2, 2, 0])
    assert session.run(tf.gradients(rows, x)[0]).tolist() == [[1, 1], [0, 0], [2, 2]]


# the object


def test_a_flow_can_be_carried_by_others(session):
    array = tf.TensorArray(F, 2, element_shape=[2], dynamic_size=True).write(0, [1.0, 2.0])
    again = with_flow(array, tf.identity(array.flow))
    assert (again.handle, again.dtype, again.dynamic_size) == (array.handle, tf.float32, True)
    assert again.flow is not array.flow
    assert session.run(again.write(1, [3.0, 4.0]).stack()).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_what_is_known_of_shapes_is_shared_by_all_of_one_handle():
    first = tf.TensorArray(F, 2)
    assert first.element_shape == tf.TensorShape(None)
    first.write(0, [1.0, 2.0])
    assert first.element_shape.as_list() == first.identity().read(1).shape.as_list() == [2]
    assert "TensorArray" in repr(first)
    assert "(2,)" in repr(first)


def test_it_is_neither_a_tensor_nor_fetched(session):
    with pytest.raises(TypeError, match="TensorArray"):
        tf.convert_to_tensor(tf.TensorArray(F, 2))
    with pytest.raises(TypeError, match="TensorArray"):
        session.run(tf.TensorArray(F, 2))


def test_names_of_the_first_releases(session):
    assert session.run(tf.TensorArray(F, 2).unpack([1.0, 2.0]).pack()).tolist() == [1.0, 2.0]


def test_each_step_has_its_own_array(session):
    x = tf.placeholder(F, [2])
    y = tf.TensorArray(F, 2).unstack(x).stack()
    for value in ([1.0, 2.0], [3.0, 4.0]):
        assert session.run(y, {x: value}).tolist() == value


def test_an_array_follows_its_first_value():
    with tf.device("/cpu:1"):
        value = tf.constant(1.0)
    array = tf.TensorArray(F, 2, name="array").write(0, value)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        where = {node.name: node.device[-5:] for node in session.placement(array.read(0))}
        assert where["array"] == where["TensorArrayReadV3"] == "CPU:1"
        assert session.run(array.read(0)) == 1.0


def test_a_traced_step_shows_its_nodes(session):
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session.run(
        tf.TensorArray(F, 2, name="array").unstack([1.0, 2.0]).stack(), None, options, metadata
    )
    names = {
        node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats
    }
    assert {"array", "TensorArrayStack/TensorArrayGatherV3"} <= names


def test_a_graph_with_an_array_can_be_stored(session):
    tf.TensorArray(F, 2, element_shape=[None], name="a").write(1, [1.0, 2.0]).stack("stack")
    stored = tf.get_default_graph().as_graph_def()
    [stack] = tf.import_graph_def(stored, return_elements=["stack/stack:0"], name="")
    with tf.Graph().as_default():
        [stack] = tf.import_graph_def(stored, return_elements=["stack/stack:0"], name="")
        with tf.Session() as other:
            assert other.run(stack).tolist() == [[0.0, 0.0], [1.0, 2.0]]


# old graphs


@pytest.mark.parametrize("version", ["", "V2"])
def test_the_older_ops_do_the_same(version, session):
    def op(name, *inputs, **attrs):
        return getattr(raw, f"TensorArray{name}{version}")(*inputs, **attrs)

    array = op("", 3, dtype=F)
    flow = op("Write", array, 0, 1.0, 0.0)
    flow = op("Scatter", array, [2, 1], [2.0, 3.0], flow)
    slopes = op("Grad", array, flow, source="s")
    values = op("Gather", array, [1, 2], flow, dtype=F), op("Size", array, flow)
    assert [np.asarray(each).tolist() for each in session.run(values)] == [[3.0, 2.0], 3]
    assert session.run(
        [op("Read", array, 0, flow, dtype=F), op("Read", slopes, 0, flow, dtype=F)]
    ) == [1.0, 0.0]
    lengths = tf.constant([2, 0, 1], tf.int64)
    joined, counts = op("Concat", array, op("Split", array, [1.0, 2.0, 3.0], lengths, 0.0), dtype=F)
    assert [each.tolist() for each in session.run([joined, counts])] == [[1.0, 2.0, 3.0], [2, 0, 1]]
    session.run(op("Close", array))


def test_the_oldest_ops_pack_and_unpack(session):
    array = raw.TensorArray(2, dtype=F)
    packed = raw.TensorArrayPack(array, raw.TensorArrayUnpack(array, [1.0, 2.0], 0.0), dtype=F)
    assert session.run(packed).tolist() == [1.0, 2.0]


# elements


def elements(**arguments):
    return ElementArray("array", dtypes.float32, 3, **arguments)


def test_elements_die_with_the_last_reference():
    array = elements()
    value = np.ones(3, np.float32)
    array.write(0, value)
    slopes = array.gradient("one")
    slopes.gradient("two").write(0, value)
    alive = weakref.ref(value)
    gc.disable()
    try:
        del array, slopes, value
        assert alive() is None, "a circle of references keeps it"
    finally:
        gc.enable()


def test_an_element_is_given_up_when_it_is_read():
    array = elements()
    value = np.ones(3, np.float32)
    alive = weakref.ref(value)
    array.write(0, value)
    del value
    array.read(0)
    assert alive() is None


def test_the_gradient_of_one_read_is_not_that_of_another():
    slopes = elements(clears=False).gradient("s")
    first, second = np.ones(2, np.float32), np.full(2, 2, np.float32)
    slopes.write(0, first)
    slopes.write(0, second)
    assert slopes.read(0).tolist() == [3.0, 3.0]
    assert (first.tolist(), second.tolist()) == ([1.0, 1.0], [2.0, 2.0])


def test_what_several_threads_write_adds_up():
    slopes = elements(identical=True).gradient("s")
    one = np.ones(2000, np.float32)

    def write():
        for index in (0, 1, 2) * 200:
            slopes.write(index, one)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [slopes.read(index)[0] for index in range(3)] == [800.0] * 3


def test_an_array_grows_to_its_last_element():
    array = elements(grows=True)
    for index in (1, 7, 4):
        array.write(index, np.float32(index))
    assert array.size == 8
    array.read(7)
    assert array.size == 8
    array.close()
    assert array.size == 8
