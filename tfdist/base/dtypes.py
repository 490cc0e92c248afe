"""Element types: TensorFlow's names and numbers, with NumPy's types behind them.

Strings are object arrays of `bytes`; resources are object arrays of handles. Quantised types are
records of one integer, named as the type, so that an array tells which of both it is. A reference
type (number + 100) is the type of an output that hands over the variable itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

_REFERENCE = 100

# name, number in TensorFlow's DataType enum, NumPy type, kind
_TABLE: list[tuple[str, int, Any, str]] = [
    ("float32", 1, np.float32, "floating"),
    ("float64", 2, np.float64, "floating"),
    ("int32", 3, np.int32, "integer"),
    ("uint8", 4, np.uint8, "integer"),
    ("int16", 5, np.int16, "integer"),
    ("int8", 6, np.int8, "integer"),
    ("string", 7, np.object_, "other"),
    ("complex64", 8, np.complex64, "complex"),
    ("int64", 9, np.int64, "integer"),
    ("bool", 10, np.bool_, "bool"),
    ("qint8", 11, np.dtype([("qint8", np.int8)]), "quantized"),
    ("quint8", 12, np.dtype([("quint8", np.uint8)]), "quantized"),
    ("qint32", 13, np.dtype([("qint32", np.int32)]), "quantized"),
    ("bfloat16", 14, ml_dtypes.bfloat16, "floating"),
    ("qint16", 15, np.dtype([("qint16", np.int16)]), "quantized"),
    ("quint16", 16, np.dtype([("quint16", np.uint16)]), "quantized"),
    ("uint16", 17, np.uint16, "integer"),
    ("complex128", 18, np.complex128, "complex"),
    ("float16", 19, np.float16, "floating"),
    ("resource", 20, np.object_, "other"),
    ("variant", 21, np.object_, "other"),
    ("uint32", 22, np.uint32, "integer"),
    ("uint64", 23, np.uint64, "integer"),
]


class DType:
    """The type of a tensor's elements; one object per type, compared by identity or `==`.

    Attributes:
      name: TensorFlow's name, such as "float32" or "float32_ref".
      as_datatype_enum: int, the number in TensorFlow's DataType enum.
      as_numpy_dtype: the NumPy scalar type; `object` for strings, resources, variants.
      base_dtype: this type without reference.
    """

    __slots__ = ("_kind", "_ref", "as_datatype_enum", "as_numpy_dtype", "base_dtype", "name")

    def __init__(self, name: str, number: int, numpy_type: Any, kind: str) -> None:
        self.name = name
        self.as_datatype_enum = number
        self.as_numpy_dtype = numpy_type
        self.base_dtype = self
        self._kind = kind
        self._ref: DType | None = None

    @property
    def is_floating(self) -> bool:
        """Return whether this is a real, non-quantised floating point type."""
        return self._kind == "floating"

    @property
    def is_integer(self) -> bool:
        """Return whether this is an integer type; bool is none."""
        return self._kind == "integer"

    @property
    def is_complex(self) -> bool:
        """Return whether this is complex64 or complex128."""
        return self._kind == "complex"

    @property
    def is_bool(self) -> bool:
        """Return whether this is bool."""
        return self._kind == "bool"

    @property
    def is_numpy_compatible(self) -> bool:
        """Return whether NumPy can hold the elements; resources and variants are opaque."""
        return self.base_dtype.name not in ("resource", "variant")

    @property
    def is_unsigned(self) -> bool:
        """Return whether this is an unsigned integer type."""
        return self.is_integer and self.name.startswith("u")

    @property
    def is_ref(self) -> bool:
        """Return whether this type hands over a variable instead of its value."""
        return self.base_dtype is not self

    _is_ref_dtype = is_ref

    @property
    def as_ref(self) -> DType:
        """Return the reference type of this type."""
        if self.is_ref:
            return self
        if self._ref is None:
            number = self.as_datatype_enum + _REFERENCE
            self._ref = DType(f"{self.name}_ref", number, self.as_numpy_dtype, self._kind)
            self._ref.base_dtype = self
        return self._ref

    _as_ref = as_ref

    @property
    def real_dtype(self) -> DType:
        """Return the type of the real part: float32 for complex64, itself otherwise."""
        return {"complex64": float32, "complex128": float64}.get(self.base_dtype.name, self)

    @property
    def size(self) -> int:
        """Return the bytes of one element; 1 for strings, as TensorFlow says."""
        fixed = np.dtype(self.as_numpy_dtype)
        return 1 if fixed.hasobject else fixed.itemsize

    @property
    def min(self) -> Any:
        """Return the least value; TypeError for types that have none."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """Return the greatest value; TypeError for types that have none."""
        return self._limits().max

    @property
    def limits(self) -> tuple[Any, Any]:
        """Return the range of images' values: (0, 1) for floats, else up to the greatest."""
        return (0, 1) if self.is_floating else (0, self.max)

    @property
    def is_quantized(self) -> bool:
        """Return whether this is a quantised type: integers that stand for numbers of a range."""
        return self._kind == "quantized"

    def _limits(self) -> Any:
        if self.is_integer:
            return np.iinfo(self.as_numpy_dtype)
        if self.is_floating:
            return ml_dtypes.finfo(self.as_numpy_dtype)  # type: ignore[no-untyped-call]
        raise TypeError(f"{self.name} has no least and greatest value; numbers have")

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor of `other` can stand where this type is asked for."""
        other = as_dtype(other)
        return self is other or (not self.is_ref and self is other.base_dtype)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None:
            return False
        try:
            return as_dtype(other) is self  # type: ignore[arg-type]  # TypeError tells
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


_BY_KEY: dict[Any, DType] = {}
for _row in _TABLE:
    _dtype = DType(*_row)
    _BY_KEY[_dtype.name] = _BY_KEY[_dtype.as_datatype_enum] = _dtype
    if _dtype.as_numpy_dtype is not np.object_:
        _BY_KEY[_dtype.as_numpy_dtype] = _BY_KEY[np.dtype(_dtype.as_numpy_dtype)] = _dtype

float16, float32, float64 = _BY_KEY["float16"], _BY_KEY["float32"], _BY_KEY["float64"]
bfloat16 = _BY_KEY["bfloat16"]
int8, int16, int32, int64 = (_BY_KEY[f"int{bits}"] for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_BY_KEY[f"uint{bits}"] for bits in (8, 16, 32, 64))
complex64, complex128 = _BY_KEY["complex64"], _BY_KEY["complex128"]
qint8, qint16, qint32 = (_BY_KEY[f"qint{bits}"] for bits in (8, 16, 32))
quint8, quint16 = _BY_KEY["quint8"], _BY_KEY["quint16"]
bool_, string = _BY_KEY["bool"], _BY_KEY["string"]
resource, variant = _BY_KEY["resource"], _BY_KEY["variant"]

ALL = tuple(_BY_KEY[row[0]] for row in _TABLE)
QUANTIZED_DTYPES = frozenset(
    form for each in ALL if each.is_quantized for form in (each, each.as_ref)
)
TF_VALUE_DTYPES = frozenset(each for each in ALL if each.is_numpy_compatible)

# The reference types, `float32_ref` and so on.
REFERENCES = {each.as_ref.name: each.as_ref for each in ALL}
REFERENCES |= {f"{other}_ref": each.as_ref for other, each in
               (("half", float16), ("double", float64))}  # fmt: skip
globals().update(REFERENCES)
_BY_KEY.update({
    "half": float16, "float": float32, "double": float64, "bytes": string, "str": string,
    float: float32, int: int32, bool: bool_, bytes: string, str: string, object: string,
    np.object_: string, np.str_: string, np.bytes_: string, np.dtype(object): string,
})  # fmt: skip


def short_name(dtype: DType) -> str:
    """Return the name that TensorFlow's messages give a type: "float", not "float32"."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


# What names a DType: one, a NumPy or Python type, a name, or a number of TensorFlow's enum.
DTypeLike: TypeAlias = DType | np.dtype[Any] | type | str | int


def as_dtype(type_value: DTypeLike | None) -> DType:
    """Return the DType that `type_value` names.

    Args:
      type_value: a DType, a name ("float32", "float"), a NumPy type, a Python type (float is
        float32, int is int32) or a number of TensorFlow's DataType enum.

    Raises:
      TypeError: nothing is known by that name.
    """
    if type(type_value) is DType:
        return type_value
    try:
        return _BY_KEY[type_value]
    except (KeyError, TypeError):
        return _unusual(type_value)


def _unusual(value: DTypeLike | None) -> DType:
    if isinstance(value, str) and value.endswith("_ref"):
        return as_dtype(value.removesuffix("_ref")).as_ref
    if isinstance(value, int) and _REFERENCE < value < 2 * _REFERENCE:
        return as_dtype(value - _REFERENCE).as_ref
    try:
        # np.dtype(None) would be float64
        fixed: np.dtype[Any] | None = None if value is None else np.dtype(value)  # type: ignore[arg-type]
    except TypeError:
        fixed = None
    if fixed is not None and fixed.kind in "SUO":
        return string
    if fixed is not None and fixed in _BY_KEY:
        return _BY_KEY[fixed]
    names = ", ".join(dtype.name for dtype in ALL)
    raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType. There are {names}")
