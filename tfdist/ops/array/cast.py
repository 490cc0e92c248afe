"""Conversions between element types."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import UnimplementedError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.sparse.sparse_tensor import SparseTensor

__all__ = [
    "cast", "saturate_cast", "to_bfloat16", "to_complex64", "to_complex128", "to_double",
    "to_float", "to_int32", "to_int64",
]  # fmt: skip

_NAN = 0x7FC0  # of bfloat16

CAST = OpDef("Cast(x: SrcT) -> y: DstT [SrcT: type; DstT: type; Truncate: bool = False]")


@CAST.shape
def cast_shape(x: Shape) -> Shape:
    return x


def _written(dtype: DType) -> str:
    """Return a type's name in C."""
    known = {"float32": "float", "float64": "double", "float16": "half"}
    return known.get(dtype.name, dtype.name)


@CAST.kernel
def cast_kernel(x: Any, *, SrcT: DType, DstT: DType, Truncate: bool = False) -> Any:
    if Truncate and (SrcT, DstT) == (dtypes.float32, dtypes.bfloat16):
        return _upper_halves(x)
    wanted = DstT.as_numpy_dtype
    if np.object_ in (wanted, SrcT.as_numpy_dtype) and SrcT is not DstT:
        raise UnimplementedError(
            f"Cast {_written(SrcT)} to {_written(DstT)} is not supported: tf.string_to_number and "
            "tf.as_string convert strings"
        )
    if SrcT.is_complex and not DstT.is_complex and not DstT.is_bool:
        x = x.real
    return x.astype(wanted)


def _upper_halves(x: Any) -> Any:
    """Return float32 as the bfloat16 next to zero: sign, exponent and seven bits of the mantissa.

    TensorFlow makes every NaN the same one.
    """
    halves = np.ascontiguousarray(x).view(np.uint16).reshape(*np.shape(x), 2)
    found = halves[..., 1 if sys.byteorder == "little" else 0].copy()
    unknown = np.isnan(x)
    if unknown.any():
        found[unknown] = _NAN
    return found.view(dtypes.bfloat16.as_numpy_dtype)


@CAST.gradient
def cast_gradient(op: Any, d_y: Any) -> Any:
    source = op.inputs[0].dtype.base_dtype
    numbers = (source, op.outputs[0].dtype.base_dtype)
    if all(dtype.is_floating or dtype.is_complex for dtype in numbers):
        return cast(d_y, source)
    return None


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Return `x` with its elements converted to `dtype`; `x` itself if they have it already.

    Floats lose their fraction on the way to integers (-1.9 becomes -1); complex numbers lose
    their imaginary part on the way to real ones.

    Args:
      x: a tensor, or anything that converts to one, or a SparseTensor, which it stays.
      dtype: wanted type.
      name: of the node.

    Raises:
      TypeError: `dtype` names no type.

    Example:
      >>> Session().run(cast([1.9, -1.9], "int32"))
      array([ 1, -1], dtype=int32)
    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, SparseTensor):
        with name_scope(name, "Cast") as scope:
            return SparseTensor(x.indices, _cast(x.values, wanted, scope), x.dense_shape)
    if not hasattr(x, "_as_tensor"):
        with name_scope(name, "Cast") as scope:  # so that the constant is called "Cast/x"
            return _cast(convert_to_tensor(x, name="x"), wanted, scope)
    return _cast(x._as_tensor(False), wanted, name)


def _cast(tensor: Tensor, dtype: DType, name: str | None) -> Tensor:
    return tensor if tensor.dtype is dtype else CAST(tensor, DstT=dtype, name=name)


def _conversion(
    public: str, node: str, dtype: DType, argument: str, result: str
) -> Callable[..., Tensor]:
    """Return the old public function that casts to one type."""

    def function(x: Any, name: str | None = node) -> Tensor:
        return cast(x, dtype, name)

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return `x` converted to {dtype.name}; see `cast`.

    Args:
      x: a tensor, or anything that converts to one.
      name: of the node.

    Example:
      >>> Session().run({public}({argument}))
      {result}
    """
    return function


to_float = _conversion("to_float", "ToFloat", dtypes.float32, "3", "np.float32(3.0)")
to_double = _conversion("to_double", "ToDouble", dtypes.float64, "3", "np.float64(3.0)")
to_int32 = _conversion("to_int32", "ToInt32", dtypes.int32, "3.9", "np.int32(3)")
to_int64 = _conversion("to_int64", "ToInt64", dtypes.int64, "3.9", "np.int64(3)")
to_bfloat16 = _conversion(
    "to_bfloat16", "ToBFloat16", dtypes.bfloat16, "[3.0]", "array([3], dtype=bfloat16)"
)
to_complex64 = _conversion(
    "to_complex64", "ToComplex64", dtypes.complex64, "3.0", "np.complex64(3+0j)"
)
to_complex128 = _conversion(
    "to_complex128", "ToComplex128", dtypes.complex128, "3.0", "np.complex128(3+0j)"
)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Return `value` converted to `dtype`, values beyond its range being set to its ends.

    Args:
      value: a tensor, or anything that converts to one.
      dtype: wanted type.
      name: of the node.

    Example:
      >>> Session().run(saturate_cast([-5.0, 7.9, 300.0], "uint8"))
      array([  0,   7, 255], dtype=uint8)
    """
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        wanted, given = dtypes.as_dtype(dtype).base_dtype, value.dtype.base_dtype
        if given.min < wanted.min:
            value = raw.Maximum(value, convert_to_tensor(_fitting(wanted.min, given), given, "min"))
        if given.max > wanted.max:
            value = raw.Minimum(value, convert_to_tensor(_fitting(wanted.max, given), given, "max"))
        return cast(value, wanted, scope)


def _fitting(limit: Any, dtype: DType) -> Any:
    """Return the value of `dtype` next to `limit` that does not lie beyond it."""
    value = np.asarray(limit).astype(dtype.as_numpy_dtype)
    if dtype.is_floating and abs(float(value)) > abs(float(limit)):
        return np.nextafter(value, dtype.as_numpy_dtype(0))
    return value
