"""Tensors and TensorProtos that the tests of `tensors` and `codec` share."""

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.protos import pb

DTYPES = [dtype for dtype in dtypes.ALL if dtype.is_numpy_compatible]
PLAIN = [
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.int8, dtypes.int16,
    dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool_, dtypes.complex64,
    dtypes.complex128,
]  # fmt: skip


def array_of(dtype, shape):
    """Return an array of random elements, the same ones for the same arguments."""
    random = np.random.default_rng([dtype.as_datatype_enum, *shape])
    if dtype is dtypes.string:
        array = np.empty(shape, object)
        array.flat = [random.bytes(random.integers(0, 200)) for _ in range(array.size)]
        return array
    if dtype is dtypes.bool_:
        return random.integers(0, 2, shape).astype(bool)
    raw = random.integers(0, 100, shape)
    return np.asarray(raw).astype(dtype.as_numpy_dtype)


def value(proto):
    """Return the elements of a TensorProto, as lists."""
    return make_ndarray(proto).tolist()


def assert_same(got, expected):
    """Fail unless `got` is the array `expected`, or its element if that has rank 0."""
    if expected.ndim == 0:
        expected = expected[()]
        assert type(got) is type(expected)
    assert np.shape(got) == np.shape(expected)
    assert getattr(got, "dtype", None) == getattr(expected, "dtype", None)
    assert np.array_equal(got, expected)


def tensor(dtype=1, dims=(), content=None, **fields):
    """Return a TensorProto's bytes, with any dtype and shape whatsoever."""
    proto = pb.TensorProto(dtype=dtype, **fields)
    for dim in dims:
        proto.tensor_shape.dim.add(size=dim)
    if content is not None:
        proto.tensor_content = content
    return proto.SerializeToString()


MALFORMED = {
    "a byte too few": (tensor(1, [2], b"1234567"), "has 7 bytes of content instead of 8"),
    "a byte too many": (tensor(1, [2], b"123456789"), "has 9 bytes of content instead of 8"),
    "content of no elements": (tensor(1, [0], b"1234"), "has 4 bytes of content instead of 0"),
    "a scalar of two": (tensor(1, [], b"12345678"), "has 8 bytes of content instead of 4"),
    "a negative dimension": (tensor(1, [-1], b"1234"), "dimension of size -1"),
    "negative dimensions": (tensor(1, [-2, -2], b"1234" * 4), "dimension of size -2"),
    "four terabytes": (tensor(1, [2**40], b"1234"), "has 4 bytes of content instead of 4398"),
    "four terabytes by repetition": (tensor(1, [2**40], float_val=[1.0]), "claims 1099511627776"),
    "four terabytes of zeros": (tensor(1, [2**40]), "claims 1099511627776 elements"),
    "more than a word": (tensor(1, [2**40, 2**40], b"1234"), "instead of"),
    "no memory, but absurd": (tensor(1, [0, 2**62, 2**62]), "no array can have the shape"),
    "a hundred dimensions": (tensor(1, [1] * 100, b"1234"), "no array can have the shape"),
    "a thousand dimensions": (tensor(1, [1] * 1000, b"1234"), "1000 dimensions"),
    "unknown rank": (b"\x08\x01\x12\x02\x18\x01\x22\x041234", "unknown rank"),
    "no type": (tensor(0, [1], b"1234"), "type DT_INVALID cannot be received"),
    "nothing at all": (b"", "type DT_INVALID cannot be received"),
    "a type that is not here": (tensor(24, [1], b"1"), "type DT_FLOAT8_E5M2 cannot be received"),
    "a reference": (tensor(101, [1], b"1234"), "type DT_FLOAT_REF cannot be received"),
    "a type that nobody has": (tensor(5000, [1], b"1"), "type number 5000 cannot be received"),
    "a resource": (tensor(20, [1], b"\x00"), "type DT_RESOURCE cannot be received"),
    "typed resources": (
        tensor(20, [], resource_handle_val=[pb.ResourceHandleProto()]),
        "type DT_RESOURCE cannot be received",
    ),
    "more values than elements": (tensor(1, [1], float_val=[1.0, 2.0]), "has 1 elements, got 2"),
    "lengths without end": (tensor(7, [1], b"\x80" * 1_000), "the lengths of 1 strings"),
    "fewer lengths than strings": (tensor(7, [3], b"\x00\x00"), "the lengths of 3 strings"),
    "terabytes of strings": (tensor(7, [2**40], b"\x00\x00"), "the lengths of 1099511627776"),
    "one string of terabytes": (tensor(7, [1], b"\xff\xff\xff\xff\xff\x3fab"), "do not make"),
    "strings and more": (tensor(7, [1], b"\x01ab"), "do not make the 3 bytes"),
    "a length beyond the end": (b"\x08\x01\x22\x7f1234", "ends within a field"),
    "a number without end": (b"\x08" + b"\x80" * 11, "more than ten bytes"),
    "a number cut off": (b"\x08\x80", "ends within a field"),
    "a tag cut off": (b"\x08\x01\x80", "ends within a field"),
    "a fixed value cut off": (b"\x08\x01\x2d12", "ends within a field"),
    "a group": (b"\x0b\x0c", "kind 3"),
    "a dimension beyond its shape": (b"\x08\x01\x12\x02\x12\x7f", "ends within a field"),
}
