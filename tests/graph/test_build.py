"""Making nodes: types that are settled, attributes that are checked, shapes that are inferred."""

import numpy as np
import pytest

import tfdist as tf
from tfdist.errors import NotFoundError
from tfdist.graph.convert import to_array
from tfdist.graph.op_def import raw


@pytest.mark.parametrize(
    ("value", "dtype", "name"),
    [
        pytest.param(1, None, "int32", id="a Python int"),
        pytest.param(1.5, None, "float32", id="a Python float"),
        pytest.param(True, None, "bool", id="a Python bool"),
        pytest.param("a", None, "string", id="text"),
        pytest.param(b"a", None, "string", id="bytes"),
        pytest.param(["a", b"\xff"], None, "string", id="text and bytes that are no text"),
        pytest.param([["a"], [b"\xff"]], tf.string, "string", id="the same, wanted as strings"),
        pytest.param(1 + 2j, None, "complex128", id="a Python complex"),
        pytest.param([1, 2.5], None, "float32", id="ints and floats"),
        pytest.param([], None, "float32", id="nothing"),
        pytest.param(2**40, None, "int64", id="an int that needs more than 32 bits"),
        pytest.param(np.float64(1), None, "float64", id="a NumPy scalar keeps its type"),
        pytest.param(np.arange(2), None, "int64", id="an array keeps its type"),
        pytest.param(1, tf.float64, "float64", id="an int where a float is wanted"),
        pytest.param(np.float64(1), "float32", "float32", id="a double where a float is wanted"),
        pytest.param(True, tf.bool, "bool", id="a bool as it is"),
        pytest.param(tf.TensorShape([1, 2]), None, "int32", id="a shape is a vector"),
    ],
)
def test_constants_have_a_type(value, dtype, name):
    assert tf.constant(value, dtype).dtype.name == name


def test_text_and_bytes_stand_side_by_side():
    for dtype in (None, tf.string):
        array = to_array(["\u00e9", b"\xff"], dtype)
        assert array.tolist() == ["\u00e9".encode(), b"\xff"]


@pytest.mark.parametrize(
    ("value", "dtype", "shape", "error"),
    [
        pytest.param(1.5, tf.int32, None, TypeError, id="a fraction is no integer"),
        pytest.param("a", tf.int32, None, TypeError, id="a word is no integer"),
        pytest.param(1, tf.string, None, TypeError, id="a number is no string"),
        pytest.param(1, tf.bool, None, TypeError, id="a number is no bool"),
        pytest.param([1, "a"], None, None, TypeError, id="numbers and words do not mix"),
        pytest.param([[1], [1, 2]], None, None, ValueError, id="ragged rows"),
        pytest.param(None, None, None, ValueError, id="nothing at all"),
        pytest.param({}, None, None, TypeError, id="a dict"),
        pytest.param([1, 2, 3], None, [2], ValueError, id="more values than places"),
        pytest.param([1, 2], None, [None], ValueError, id="an open shape"),
    ],
)
def test_what_is_no_constant(value, dtype, shape, error):
    with pytest.raises(error):
        tf.constant(value, dtype, shape)


def test_a_constant_is_filled_with_its_last_value():
    op = tf.constant([1, 2], shape=[2, 2]).op
    np.testing.assert_array_equal(op._attrs["value"], [[1, 2], [2, 2]])


def test_a_number_takes_the_type_of_the_tensor_beside_it():
    for x in (tf.constant(1.0, tf.float64), tf.constant(1, tf.int8)):
        assert (x + 2).dtype is (2 + x).dtype is x.dtype


@pytest.mark.parametrize(
    ("call", "text"),
    [
        pytest.param(
            lambda: tf.add(tf.constant(1), tf.constant(1.0)),
            r"'y' of 'Add' Op has type float32 that does not match type int32 of argument 'x'",
            id="two tensors of different types",
        ),
        pytest.param(lambda: tf.constant(1) + 1.5, "int32", id="a float beside an int tensor"),
        pytest.param(lambda: tf.add(tf.constant(1), "x"), "int32", id="a word beside it"),
        pytest.param(lambda: raw.Add(tf.constant(1)), r"takes inputs \(x, y\)", id="one too few"),
        pytest.param(lambda: raw.Pack(tf.constant(1)), "Expected list for 'values'", id="no list"),
        pytest.param(lambda: raw.Assign(tf.constant(1), 2), "mutable tensor", id="not a variable"),
        pytest.param(lambda: raw.Placeholder(), "'dtype'", id="an attribute is missing"),
        pytest.param(lambda: raw.NoOp(nope=1), "no attribute 'nope'", id="an unknown attribute"),
        pytest.param(
            lambda: raw.Add(True, False),
            "DataType bool not in list of allowed",
            id="no type of the op",
        ),
        pytest.param(lambda: raw.Pack([1], axis="0"), "'axis'", id="an attribute's type"),
    ],
)
def test_types_that_do_not_fit(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_a_number_that_is_too_small_for_an_attribute():
    with pytest.raises(ValueError, match="shorter than minimum length 1"):
        raw.Pack([], axis=0, T=tf.int32)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        pytest.param(lambda x: x + 1.0, [None, 3], id="a scalar broadcasts"),
        pytest.param(lambda x: x + tf.zeros([5, 1]), [5, 3], id="each side knows something"),
        pytest.param(lambda x: tf.matmul(x, tf.zeros([3, 4])), [None, 4], id="a product"),
        pytest.param(lambda x: tf.reduce_sum(x, 1), [None], id="a sum over an axis"),
        pytest.param(lambda x: tf.reduce_sum(x), [], id="a sum over all"),
        pytest.param(lambda x: tf.transpose(x), [3, None], id="a transposition"),
        pytest.param(lambda x: x[0], [3], id="a row"),
        pytest.param(lambda x: tf.shape(x), [2], id="the shape of a shape"),
        pytest.param(lambda x: tf.reshape(x, [-1]), [None], id="a reshape of unknown length"),
        pytest.param(lambda x: tf.reshape(x, [2, 6]), [2, 6], id="a reshape"),
        pytest.param(lambda x: tf.stack([x, x]), [2, None, 3], id="a stack"),
    ],
)
def test_shapes_are_inferred(build, shape):
    x = tf.placeholder(tf.float32, [None, 3])
    assert build(x).shape.as_list() == shape


@pytest.mark.parametrize(
    ("build", "text"),
    [
        pytest.param(lambda: tf.add(tf.constant([1, 2]), [1, 2, 3]), "2 and 3", id="a sum"),
        pytest.param(
            lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])), "3 and 2", id="a product"
        ),
        pytest.param(lambda: tf.reshape(tf.zeros([4]), [3]), "4", id="a reshape"),
    ],
)
def test_shapes_that_do_not_fit_are_told_at_once(build, text):
    with pytest.raises(ValueError, match=text):
        build()


def test_an_error_about_shapes_names_node_and_inputs():
    a, b = tf.zeros([2], name="a"), tf.zeros([3], name="b")
    with pytest.raises(
        ValueError, match=r"for 'total' \(op: 'Add'\) with input shapes: \[2\], \[3\]"
    ):
        tf.add(a, b, name="total")


def test_nothing_is_left_of_a_node_that_could_not_be_made(graph):
    a, b = tf.zeros([2], name="a"), tf.zeros([3], name="b")
    with pytest.raises(ValueError, match="broadcast"):
        tf.add(a, b, name="total")
    assert [op.name for op in graph.get_operations()] == ["a", "b"]
    assert a.consumers() == []


def test_a_node_goes_to_the_graph_of_its_inputs(graph):
    with tf.Graph().as_default() as other:
        there = tf.constant(1.0)
    assert (there + 1.0).graph is other
    assert graph.get_operations() == []


def test_inputs_of_two_graphs_are_refused():
    with tf.Graph().as_default():
        there = tf.constant(1)
    with pytest.raises(ValueError, match="must be from the same graph"):
        tf.add(there, tf.constant(1))


def test_any_op_can_be_made_by_name():
    assert raw.Identity(tf.constant(1)).op.type == "Identity"
    assert "Identity" in dir(raw)
    with pytest.raises(AttributeError, match="NoSuchOp"):
        raw.NoSuchOp(1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([tf.Dimension(2), 3], [2, 3], id="dimensions are numbers"),
        pytest.param(tf.Dimension(4), 4, id="a dimension is a number"),
        pytest.param(np.array(["a", "b"]), [b"a", b"b"], id="text becomes bytes"),
    ],
)
def test_values_that_become_tensors(value, expected):
    tensor = tf.convert_to_tensor(value)
    assert tensor.op._attrs["value"].tolist() == expected


@pytest.mark.parametrize("dtype", [tf.int32, tf.uint8, tf.float64, tf.complex64])
def test_bools_become_numbers_where_these_are_wanted(dtype):
    assert tf.constant([[True], [False]], dtype).op._attrs["value"].tolist() == [[1], [0]]


def test_numbers_become_no_bools():
    with pytest.raises(TypeError, match="Expected bool, got 1 of type 'int'"):
        tf.constant(1, tf.bool)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda t: tf.stack([t, True]), [3, 1]),
        (lambda t: tf.stack([[False, t], [1, 2]]), [[0, 3], [1, 2]]),
        (lambda t: tf.convert_to_tensor([True, t]), [1, 3]),
        (lambda t: tf.strided_slice(tf.range(9), [t], [t + 4]), [3, 4, 5, 6]),
        (lambda t: tf.strided_slice(tf.range(9), (1,), [8], [t]), [1, 4, 7]),
        (
            lambda t: tf.strided_slice(tf.reshape(tf.range(9), [3, 3]), [0, t - 1], [2, t]),
            [[2], [5]],
        ),
    ],
)
def test_lists_with_tensors(build, expected):
    with tf.Session() as session:
        assert session.run(build(tf.constant(3))).tolist() == expected


@pytest.mark.parametrize("make", [tf.zeros, tf.ones])
def test_a_shape_with_a_tensor_is_packed_under_that_name(make):
    filled = make([tf.constant(2), 3], name="filled")
    assert [each.name for each in filled.op.inputs] == ["filled/packed:0", "filled/Const:0"]
    assert filled.shape.as_list() == [2, 3]


def test_a_list_with_tensors_is_packed():
    packed = tf.convert_to_tensor([tf.constant(1.0), 2.0])
    assert (packed.op.type, packed.shape.as_list()) == ("Pack", [2])


def test_a_tensor_of_another_type_is_not_converted_in_silence():
    with pytest.raises(ValueError, match=r"float32.*tf\.cast"):
        tf.convert_to_tensor(tf.constant(1), tf.float32)


def test_an_unknown_op_in_a_record_is_told():
    from tfdist.graph.records import Node

    with pytest.raises(NotFoundError, match="NoSuchOp"):
        _ = Node("x", "NoSuchOp").op_def


def test_lists_may_hold_dimensions_beside_numbers():
    x = tf.ones([4, 2])
    assert tf.reshape(x, [-1, x.shape[1]]).shape == (4, 2)
    with pytest.raises(TypeError, match="not known"):
        tf.reshape(x, [-1, tf.Dimension(None)])
