"""Arrays as TensorProtos and back, for every type; what does not hold together is told."""

import ml_dtypes
import numpy as np
import pytest

import tfdist as tf
from tfdist.base import dtypes

VALUES = {"bool": [True, False], "string": [b"a", b"\xff\x00"], "complex64": [1 + 2j, -1j]}
DTYPES = [dtype for dtype in dtypes.ALL if dtype.is_numpy_compatible]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_comes_back(dtype):
    values = np.array(VALUES.get(dtype.name, [1, 2]), dtype.as_numpy_dtype)
    back = tf.make_ndarray(tf.make_tensor_proto(values))
    assert back.dtype == values.dtype
    assert back.tolist() == values.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 2)], ids=str)
def test_every_shape_comes_back(shape):
    back = tf.make_ndarray(tf.make_tensor_proto(np.ones(shape, np.float32)))
    assert back.shape == shape


FIELDS = [
    ("float_val", 1, [1.5, 2.5]), ("double_val", 2, [1.5, 2.5]), ("int_val", 3, [1, -2]),
    ("int_val", 4, [1, 255]), ("int64_val", 9, [1, 2**40]), ("bool_val", 10, [True, False]),
    ("string_val", 7, [b"a", b"b"]), ("uint32_val", 22, [1, 2**31]), ("uint64_val", 23, [1, 2**63]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "number", "values"), FIELDS)
def test_typed_fields_are_read(field, number, values):
    proto = tf.TensorProto(dtype=number, tensor_shape=tf.TensorShape([2]).as_proto())
    getattr(proto, field).extend(values)
    assert tf.make_ndarray(proto).tolist() == values


def test_halves_keep_their_bits():
    proto = tf.TensorProto(dtype=19, tensor_shape=tf.TensorShape([1]).as_proto())
    proto.half_val.append(int(np.float16(1.5).view(np.uint16)))
    assert tf.make_ndarray(proto).tolist() == [1.5]
    proto.dtype = 14
    proto.half_val[0] = int(np.array(2.5, ml_dtypes.bfloat16).view(np.uint16))
    assert tf.make_ndarray(proto).astype(float).tolist() == [2.5]


def test_complex_numbers_are_pairs():
    proto = tf.TensorProto(dtype=8, tensor_shape=tf.TensorShape([2]).as_proto())
    proto.scomplex_val.extend([1.0, 2.0, 3.0, 4.0])
    assert tf.make_ndarray(proto).tolist() == [1 + 2j, 3 + 4j]


def test_the_last_value_is_repeated_and_none_is_zero():
    shape = tf.TensorShape([4]).as_proto()
    proto = tf.TensorProto(dtype=3, tensor_shape=shape, int_val=[1, 7])
    assert tf.make_ndarray(proto).tolist() == [1, 7, 7, 7]
    assert tf.make_ndarray(tf.TensorProto(dtype=3, tensor_shape=shape)).tolist() == [0] * 4
    assert tf.make_ndarray(tf.TensorProto(dtype=7, tensor_shape=shape)).tolist() == [b""] * 4


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        pytest.param(
            {"dtype": 3, "int_val": [1, 2, 3]}, "2 elements, got 3", id="more than the shape holds"
        ),
        pytest.param(
            {"dtype": 3, "tensor_content": b"\0" * 4}, "2 elements, got 1", id="too few bytes"
        ),
        pytest.param(
            {"dtype": 7, "tensor_content": b"\0"}, "lengths of 2 strings", id="too few strings"
        ),
        pytest.param(
            {"dtype": 7, "tensor_content": b"\1\1a"}, "do not make the 3", id="too few letters"
        ),
    ],
)
def test_what_does_not_hold_together(proto, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.make_ndarray(tf.TensorProto(tensor_shape=tf.TensorShape([2]).as_proto(), **proto))


@pytest.mark.parametrize(
    "texts", [[b"ab", b"c"], [b"", b""], [b"x" * 127, b"y" * 128], [b"z" * 70_000, b""]], ids=len
)
def test_strings_come_in_tensor_content(texts):
    lengths = {b"ab": b"\x02", b"c": b"\x01", b"": b"\x00", b"x" * 127: b"\x7f"}
    lengths |= {b"y" * 128: b"\x80\x01", b"z" * 70_000: b"\xf0\xa2\x04"}
    proto = tf.TensorProto(dtype=7, tensor_shape=tf.TensorShape([2]).as_proto())
    proto.tensor_content = b"".join([*(lengths[text] for text in texts), *texts])
    assert tf.make_ndarray(proto).tolist() == texts


def test_a_bool_is_true_whatever_its_byte():
    proto = tf.TensorProto(dtype=10, tensor_shape=tf.TensorShape([3]).as_proto())
    proto.tensor_content = b"\x00\x01\xff"
    assert tf.make_ndarray(proto).tobytes() == b"\x00\x01\x01"


def test_one_value_does_not_become_terabytes():
    proto = tf.TensorProto(dtype=3, tensor_shape=tf.TensorShape([2**40]).as_proto(), int_val=[1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot stand for 1099511627776"):
        tf.make_ndarray(proto)


def test_a_shape_must_be_full():
    proto = tf.TensorProto(dtype=3, tensor_shape=tf.TensorShape([None]).as_proto())
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be full"):
        tf.make_ndarray(proto)


def test_bytes_that_are_no_whole_number_of_elements():
    shape = tf.TensorShape([2]).as_proto()
    proto = tf.TensorProto(dtype=3, tensor_shape=shape, tensor_content=b"\0" * 7)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.make_ndarray(proto)


@pytest.mark.parametrize("dims", [None, [], [2, None], [0]], ids=str)
def test_shapes_come_back(dims):
    shape = tf.TensorShape(dims)
    assert tf.TensorShape(shape.as_proto()) == shape
