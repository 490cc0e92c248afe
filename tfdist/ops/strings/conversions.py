"""Strings and numbers: lengths, numbers in writing, raw bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.strings.join_substr import mapped

__all__ = ["as_string", "decode_raw", "string_length", "string_to_number"]


def _same_shape(input: Shape) -> Shape:
    return input


STRING_LENGTH = OpDef(
    "StringLength(input: string) -> output: int32 [unit: string = 'BYTE' {'BYTE','UTF8_CHAR'}]"
).not_differentiable()
STRING_LENGTH.shape(_same_shape)


@STRING_LENGTH.kernel
def string_length_kernel(input: Any, *, unit: bytes) -> Any:
    measure = len if unit == b"BYTE" else lambda text: len(text.decode(errors="replace"))
    return mapped(measure, input).astype(np.int32)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return the length of each string: `tf.strings.length`.

    Args:
      input: strings.
      name: of the node.
      unit: whether to count bytes ("BYTE") or letters ("UTF8_CHAR").

    Example:
      >>> Session().run(string_length(["a", "abc"]))
      array([1, 3], dtype=int32)
    """
    result: Tensor = raw.StringLength(input, unit=unit, name=name)
    return result


_PRINTED = "int8,int16,int32,int64,complex64,complex128,float32,float64,bool"
AS_STRING = OpDef(
    f"AsString(input: T) -> output: string [T: type {{{_PRINTED}}}; precision: int = -1; "
    "scientific: bool = False; shortest: bool = False; width: int = -1; fill: string = '']"
).not_differentiable()
AS_STRING.shape(_same_shape)


@AS_STRING.kernel
def as_string_kernel(
    input: Any, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int,
    fill: bytes,
) -> Any:  # fmt: skip
    _check_notation(T, precision, scientific, shortest, fill)
    letter = "e" if scientific else "g" if shortest else "f"
    size = "" if width < 0 else str(width)
    style = f"%{fill.decode()}{size}" + ("d" if T.is_integer else _precise(precision) + letter)
    if T.is_complex:
        part = f"({style},{style})"
        return mapped(lambda number: (part % (number.real, number.imag)).encode(), input)
    if T is dtypes.bool_:
        return mapped(lambda value: b"true" if value else b"false", input)
    return mapped(lambda number: (style % number).encode(), input)


def _check_notation(
    dtype: DType, precision: int, scientific: bool, shortest: bool, fill: bytes
) -> None:
    if (dtype.is_integer or dtype.is_bool) and (scientific or shortest):
        raise InvalidArgumentError(
            f"scientific and shortest format not supported for datatype {dtype.name}"
        )
    if (dtype.is_integer or dtype.is_bool) and precision >= 0:
        raise InvalidArgumentError(f"precision not supported for datatype {dtype.name}")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise InvalidArgumentError(f"Fill string must be one or fewer characters, got {fill!r}")
    if fill not in (b"", b" ", b"0", b"+", b"-"):
        raise InvalidArgumentError(
            f'Fill argument not supported: "{fill.decode()}"; there are " ", "0", "+", "-"'
        )


def _precise(precision: int) -> str:
    return "" if precision < 0 else f".{precision}"


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False,
    width: int = -1, fill: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers or bools in writing.

    Args:
      input: any shape.
      precision: digits after the point; by default 6.
      scientific: whether to write an exponent.
      shortest: whether to choose the shorter of both forms.
      width: least length.
      fill: "0" or " " to fill up to `width`, "-" for left-justified, "+" for a sign always.
      name: of the node.

    Example:
      >>> Session().run(as_string([1.5, 2.25], precision=2)).tolist()
      [b'1.50', b'2.25']
    """
    result: Tensor = raw.AsString(
        input, precision=precision, scientific=scientific, shortest=shortest, width=width,
        fill=fill, name=name,
    )  # fmt: skip
    return result


STRING_TO_NUMBER = OpDef(
    "StringToNumber(string_tensor: string) -> output: out_type "
    "[out_type: type = float32 {float32,float64,int32,int64}]"
).not_differentiable()
STRING_TO_NUMBER.shape(_same_shape)


@STRING_TO_NUMBER.kernel
def string_to_number_kernel(string_tensor: Any, *, out_type: DType) -> Any:
    strings = as_elements(string_tensor)
    rows = strings.reshape(-1).tolist()
    numbers = _plain_numbers(rows, out_type)
    if numbers is None:
        parse = _integer if out_type.is_integer else _float
        numbers = [parse(text, out_type) for text in rows]
    with np.errstate(over="ignore"):  # 1e99 is infinite as float32
        return np.array(numbers, out_type.as_numpy_dtype).reshape(strings.shape)


def _plain_numbers(rows: list[bytes], out_type: DType) -> list[Any] | None:
    """Return numbers that Python reads as TensorFlow does; None if one may not be."""
    written = b"\n".join(rows)
    if b"_" in written or (out_type.is_integer and b"+" in written):
        return None
    try:
        numbers: list[Any] = list(map(int if out_type.is_integer else float, rows))
    except ValueError:
        return None
    fits = (
        not out_type.is_integer
        or not rows
        or (out_type.min <= min(numbers) and max(numbers) <= out_type.max)
    )
    return numbers if fits else None


def _integer(text: bytes, out_type: DType) -> int:
    if re.fullmatch(rb"\s*-?[0-9]+\s*", text) and out_type.min <= int(text) <= out_type.max:
        return int(text)
    raise _not_a_number(text, out_type)


def _float(text: bytes, out_type: DType) -> float:
    try:
        if b"_" in text:  # Python's own idea of a number
            raise ValueError
        hexadecimal = text.strip().lower().lstrip(b"+-").startswith(b"0x")
        return float.fromhex(text.decode()) if hexadecimal else float(text)
    except (ValueError, OverflowError):
        raise _not_a_number(text, out_type) from None


def _not_a_number(text: bytes, out_type: DType) -> InvalidArgumentError:
    shown = text.decode(errors="replace")
    return InvalidArgumentError(f"could not convert the string {shown!r} to {out_type.name}")


def string_to_number(
    string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
    input: Any = None,
) -> Tensor:  # fmt: skip
    """Return the numbers that strings spell.

    Args:
      string_tensor: strings, white space around the number allowed; a newer name is `input`.
      out_type: float32, float64, int32 or int64.
      name: of the node.
      input: see `string_tensor`.

    Raises:
      InvalidArgumentError: a string spells no number of that type (when it runs).

    Example:
      >>> Session().run(string_to_number(["1.5", "2"]))
      array([1.5, 2. ], dtype=float32)
    """
    strings = input if string_tensor is None else string_tensor
    result: Tensor = raw.StringToNumber(strings, out_type=out_type, name=name)
    return result


DECODE_RAW = OpDef(
    "DecodeRaw(bytes: string) -> output: out_type [out_type: type {float16,float32,float64,int32,"
    "uint16,uint8,int16,int8,int64,complex64,complex128,bool}; little_endian: bool = True]"
).not_differentiable()


@DECODE_RAW.shape
def decode_raw_shape(bytes: Shape) -> Shape:
    return None if bytes is None else (*bytes, None)


@DECODE_RAW.kernel
def decode_raw_kernel(bytes: Any, *, out_type: DType, little_endian: bool) -> Any:
    strings = as_elements(bytes)
    rows = strings.reshape(-1).tolist()
    length = _common_length(rows, out_type)
    order = np.dtype(out_type.as_numpy_dtype).newbyteorder("<" if little_endian else ">")
    elements = np.frombuffer(b"".join(rows), order).reshape(*strings.shape, length)
    return elements.astype(out_type.as_numpy_dtype)


def _common_length(rows: Sequence[bytes], out_type: DType) -> int:
    """Return how many elements each row has; InvalidArgumentError if they differ or do not fit."""
    sizes = {len(row) for row in rows} or {0}
    if len(sizes) > 1:
        raise InvalidArgumentError(f"decode_raw needs strings of one size, got {sorted(sizes)}")
    length, rest = divmod(sizes.pop(), out_type.size)
    if rest:
        raise InvalidArgumentError(
            f"decode_raw got strings of {len(rows[0])} bytes, which is not a multiple of "
            f"{out_type.size}, the size of {out_type.name}"
        )
    return length


def decode_raw(
    bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
    input_bytes: Any = None,
) -> Tensor:  # fmt: skip
    """Return the bytes of strings as numbers.

    Args:
      bytes: strings of one size, any shape; a newer name is `input_bytes`.
      out_type: of the numbers.
      little_endian: whether the first byte of a number is its least.
      name: of the node.
      input_bytes: see `bytes`.

    Returns:
      The shape of `bytes`, followed by how many numbers each string has.

    Raises:
      InvalidArgumentError: the sizes differ, or are not a multiple of a number's (when it runs).

    Example:
      >>> Session().run(decode_raw(["ab", "cd"], "uint8"))
      array([[ 97,  98],
             [ 99, 100]], dtype=uint8)
    """
    strings = input_bytes if bytes is None else bytes
    result: Tensor = raw.DecodeRaw(
        strings, out_type=out_type, little_endian=little_endian, name=name
    )
    return result
