"""Element types: TensorFlow's names and numbers, every spelling of them, references, limits."""

import pickle

import ml_dtypes
import numpy as np
import pytest

from tfdist.base import dtypes
from tfdist.base.dtypes import as_dtype

# DataType of TensorFlow's protocol
NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13,
    "bfloat16": 14, "qint16": 15, "quint16": 16, "uint16": 17, "complex128": 18, "float16": 19,
    "resource": 20, "variant": 21, "uint32": 22, "uint64": 23,
}  # fmt: skip


@pytest.mark.parametrize(("name", "number"), NUMBERS.items(), ids=NUMBERS)
def test_a_type_is_found_by_name_number_and_itself(name, number):
    dtype = as_dtype(name)
    assert (dtype.name, dtype.as_datatype_enum, int(dtype)) == (name, number, number)
    assert as_dtype(number) is dtype
    assert as_dtype(dtype) is dtype


def test_every_type_has_a_number():
    assert {dtype.name: dtype.as_datatype_enum for dtype in dtypes.ALL} == NUMBERS


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        pytest.param("float", "float32", id="float is single precision by name"),
        pytest.param("double", "float64", id="double is float64"),
        pytest.param("half", "float16", id="half is float16"),
        pytest.param(float, "float32", id="Python's float is single precision"),
        pytest.param(int, "int32", id="Python's int has 32 bits"),
        pytest.param(bool, "bool", id="Python's bool"),
        pytest.param(str, "string", id="str holds strings"),
        pytest.param(bytes, "string", id="bytes holds strings"),
        pytest.param(object, "string", id="object arrays hold strings"),
        pytest.param(np.float64, "float64", id="a NumPy scalar type"),
        pytest.param(np.dtype("int16"), "int16", id="a NumPy dtype"),
        pytest.param(np.dtype("S3"), "string", id="fixed-length bytes are strings"),
        pytest.param(np.dtype("U3"), "string", id="fixed-length text is a string"),
        pytest.param(ml_dtypes.bfloat16, "bfloat16", id="bfloat16 comes from ml_dtypes"),
        pytest.param(np.dtype(">f4").newbyteorder("="), "float32", id="a native dtype made anew"),
        pytest.param(np.intc, "int32", id="C's int, whatever NumPy calls it"),
        pytest.param("float32_ref", "float32_ref", id="a reference by name"),
        pytest.param(101, "float32_ref", id="a reference by number"),
    ],
)
def test_as_dtype_reads(spelling, name):
    assert as_dtype(spelling).name == name


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param("nope", id="no such name"),
        pytest.param(99, id="no such number"),
        pytest.param(199, id="a reference to no such number"),
        pytest.param([1], id="a list"),
        pytest.param(None, id="nothing at all"),
        pytest.param("datetime64", id="a type that NumPy knows and tensors do not"),
    ],
)
def test_as_dtype_refuses(junk):
    with pytest.raises(TypeError, match="Cannot convert value"):
        as_dtype(junk)


def test_a_refusal_names_what_there_is():
    with pytest.raises(TypeError, match=r"'nope'.*float32, float64, int32"):
        as_dtype("nope")


def test_a_reference_is_another_type_with_the_same_elements():
    ref = dtypes.float32.as_ref
    assert (ref.name, int(ref), ref.as_numpy_dtype) == ("float32_ref", 101, np.float32)
    assert ref.is_ref
    assert not dtypes.float32.is_ref
    assert ref.as_ref is ref
    assert ref.base_dtype is dtypes.float32
    assert ref != dtypes.float32


def test_a_value_stands_for_a_reference_but_not_the_other_way_round():
    ref = dtypes.float32.as_ref
    assert dtypes.float32.is_compatible_with(ref)
    assert not ref.is_compatible_with(dtypes.float32)
    assert not dtypes.float32.is_compatible_with(dtypes.float64)


def test_types_equal_whatever_names_them():
    assert dtypes.float32 == np.float32
    assert dtypes.float32 == "float32"
    assert dtypes.float32 == 1
    assert dtypes.float32 != dtypes.int32
    assert dtypes.float32 != "junk"
    assert dtypes.float32 != None  # noqa: E711  # the operator itself is tested


def test_a_type_prints_as_in_tensorflow():
    assert repr(dtypes.float32) == "tf.float32"
    assert str(dtypes.float32) == "<dtype: 'float32'>"
    assert str(dtypes.float32.as_ref) == "<dtype: 'float32_ref'>"


@pytest.mark.parametrize(
    ("name", "least", "greatest"),
    [
        ("int8", -128, 127),
        ("uint16", 0, 65535),
        ("int64", -(2**63), 2**63 - 1),
        ("uint64", 0, 2**64 - 1),
        ("float32", -3.4028235e38, 3.4028235e38),
        ("float16", -65504.0, 65504.0),
        ("bfloat16", -3.3895314e38, 3.3895314e38),
    ],
)
def test_limits(name, least, greatest):
    dtype = as_dtype(name)
    assert float(dtype.min) == pytest.approx(least, rel=1e-6)
    assert float(dtype.max) == pytest.approx(greatest, rel=1e-6)


@pytest.mark.parametrize("name", ["bool", "string", "complex64", "resource"])
def test_types_without_order_have_no_limits(name):
    with pytest.raises(TypeError, match=name):
        as_dtype(name).min  # noqa: B018  # the property raises


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("is_floating", {"float16", "bfloat16", "float32", "float64"}),
        ("is_integer", {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}),
        ("is_unsigned", {"uint8", "uint16", "uint32", "uint64"}),
        ("is_complex", {"complex64", "complex128"}),
        ("is_bool", {"bool"}),
        ("is_quantized", {"qint8", "quint8", "qint16", "quint16", "qint32"}),
        ("is_numpy_compatible", set(NUMBERS) - {"resource", "variant"}),
    ],
)
def test_kinds(question, yes):
    assert {dtype.name for dtype in dtypes.ALL if getattr(dtype, question)} == yes
    refs = {dtype.name for dtype in dtypes.ALL if getattr(dtype.as_ref, question)}
    assert refs == yes


def test_sizes_in_bytes():
    assert [as_dtype(n).size for n in ("float64", "bool", "bfloat16", "complex64")] == [8, 1, 2, 8]


def test_the_real_part_of_a_complex_type():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.int32.real_dtype is dtypes.int32


@pytest.mark.parametrize("dtype", [*dtypes.ALL, dtypes.int32.as_ref], ids=str)
def test_a_type_stays_itself_through_pickle(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
