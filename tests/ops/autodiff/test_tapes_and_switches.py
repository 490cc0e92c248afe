"""Functions around graphs that came last: tapes, switch_case, creators, conversions, specs."""

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


@pytest.fixture
def session(graph):
    with tf.Session() as own:
        yield own


def test_switch_case_runs_one_function_and_gradients_flow_through_it(session):
    x, index = tf.constant(3.0), tf.placeholder(tf.int32, [])
    y = tf.switch_case(index, {0: lambda: x * x, 1: lambda: x + 1.0, 2: lambda: tf.constant(7.0)})
    slope = tf.gradients(y, x)[0]
    found = [session.run([y, slope], {index: i}) for i in (0, 1, 2, 5)]
    assert found == [[9, 6], [4, 1], [7, 0], [7, 0]]


@pytest.mark.parametrize(
    ("functions", "error", "said"),
    [({1: tf.no_op}, ValueError, r"contiguous range of \[0 to 1\) but found \{1\}"),
     ({0: 3}, TypeError, "fn for key 0 must be callable"),
     ({}, ValueError, "at least one item"), (3, TypeError, "list, tuple, or dict")],
)  # fmt: skip
def test_switch_case_refuses(functions, error, said):
    with pytest.raises(error, match=said):
        tf.switch_case(tf.constant(1), functions)


def test_creators_see_what_variables_are_made_of():
    def renamed(next_creator, **told):
        return next_creator(**{**told, "name": f"{told['name']}_x"})

    with tf.variable_creator_scope(renamed):
        names = [tf.Variable(1.0, name="a").name, tf.get_variable("b", [2]).name]
    assert names == ["a_x:0", "b_x:0"]
    assert tf.Variable(1.0, name="c").name == "c:0"


def test_a_tape_follows_only_what_it_has_noted(session):
    x, v = tf.constant(3.0), tf.get_variable("v", initializer=2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v
        with tape.stop_recording():
            unseen = y * x
    session.run(v.initializer)
    assert session.run(tape.gradient(y, [x, v])) == [12.0, 9.0]
    assert tape.gradient(unseen, x) is None
    assert tape.gradient(y, tf.constant(1.0)) is None
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None  # nobody watches x
    with pytest.raises(RuntimeError, match="once on non-persistent"):
        tape.gradient(y, x)


def test_jacobians_have_a_row_for_each_element(session):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = tf.reduce_sum(y, 1)
    found = session.run([tape.batch_jacobian(y, x), tape.jacobian(z, x)])
    np.testing.assert_array_equal(found[0], [[[2, 0], [0, 4]], [[6, 0], [0, 8]]])
    np.testing.assert_array_equal(found[1], [[[2, 4], [0, 0]], [[0, 0], [6, 8]]])


def test_a_sparse_tensor_goes_through_functions_of_which_0_is_0(session):
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, -4.0], [2, 2])
    for function in (tf.abs, tf.negative, tf.sign, tf.square, tf.tanh, tf.erf):
        made = function(sparse)
        assert isinstance(made, tf.SparseTensor)
        assert made.values.name.endswith("_1:0")  # as TensorFlow names it
        dense = session.run(function(sparse.values))
        np.testing.assert_array_equal(session.run(made).values, dense)


def test_searchsorted_takes_what_is_empty(session):
    assert session.run(tf.searchsorted(tf.zeros([0]), [1.0, 2.0])).tolist() == [0, 0]
    assert (
        session.run(tf.searchsorted(tf.zeros([2, 0]), tf.zeros([2, 3]))).tolist() == [[0] * 3] * 2
    )
    assert session.run(tf.searchsorted([1.0, 2.0], tf.zeros([0]))).tolist() == []


def test_shapes_that_do_not_fit_are_told_at_once_or_when_they_run(session):
    x = tf.placeholder_with_default(tf.zeros([2, 3]), None)
    session.run(tf.debugging.assert_shapes({x: ("rows", "columns"), tf.zeros([3]): ("columns",)}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension"):
        session.run(tf.debugging.assert_shapes({x: ("rows", 5)}))
    with pytest.raises(ValueError, match="dimension 1 must have size 3"):
        tf.debugging.assert_shapes([(tf.zeros([3, 2]), ("n", "n"))])


@pytest.mark.parametrize(
    ("spec", "value", "fits"),
    [("tf.SparseTensorSpec([2, None])", "tf.SparseTensor([[0, 0]], [1.0], [2, 3])", True),
     ("tf.SparseTensorSpec([3])", "tf.SparseTensor([[0, 0]], [1.0], [2, 3])", False),
     ("tf.SparseTensorSpec([2, 3])", "tf.constant(1.0)", False),
     ("tf.RaggedTensorSpec([2, None], tf.int32)",
      "tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])", True),
     ("tf.TensorSpec([None])", "tf.constant([1.0])", True)],
)  # fmt: skip
def test_specs_say_what_fits(spec, value, fits):
    assert eval(spec).is_compatible_with(eval(value)) is fits


def test_ragged_tensors_are_stacked(session):
    rows = [tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]),
            tf.RaggedTensor.from_row_lengths([4, 5], [1, 1])]  # fmt: skip
    assert session.run(tf.ragged.stack(rows)).to_list() == [[[1, 2], [3]], [[4], [5]]]
    assert session.run(tf.ragged.stack(rows, 1)).to_list() == [[[1, 2], [4]], [[3], [5]]]
    parts = tf.ragged.stack_dynamic_partitions(rows[0], [1, 0], 2)
    assert session.run(parts).to_list() == [[[3]], [[1, 2]]]


def test_sessions_without_a_config_take_what_tf_config_says():
    with pytest.raises(ValueError, match="Unrecognized device: 3"):
        tf.config.experimental.set_visible_devices(3)
    with tf.device("/gpu:0"):
        x = tf.constant(1.0) + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError), tf.Session() as session:
        session.run(x)
    tf.config.set_soft_device_placement(True)
    try:
        with tf.Session() as session:
            assert session.run(x) == 2
    finally:
        tf.config.set_soft_device_placement(False)
