"""Strings: join, cut, change.

A string is an array element of type `bytes`; a rank 0 tensor of one may be the bare `bytes`.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements

__all__ = [
    "decode_base64",
    "encode_base64",
    "reduce_join",
    "string_join",
    "string_lower",
    "string_strip",
    "string_upper",
    "substr",
]


def mapped(function: Callable[..., Any], *inputs: Any) -> Any:
    """Return the strings that `function` makes of the elements of `inputs`, which broadcast."""
    arrays = np.broadcast_arrays(*map(as_elements, inputs)) if len(inputs) > 1 else [
        as_elements(inputs[0])
    ]  # fmt: skip
    output = np.empty(arrays[0].shape, object)
    columns = [array.reshape(-1).tolist() for array in arrays]
    output.reshape(-1)[:] = [function(*row) for row in zip(*columns, strict=True)]
    return output


def _same_shape(input: Shape, *_: Shape) -> Shape:
    return input


# joined and cut

STRING_JOIN = OpDef(
    "StringJoin(inputs: N*string) -> output: string [N: int >=1; separator: string = '']"
).not_differentiable()


@STRING_JOIN.shape
def string_join_shape(inputs: list[Shape]) -> Shape:
    joint: Shape = ()
    for each in inputs:
        if each != ():  # a scalar goes with every element of the others
            joint = each if joint == () else shapes.merge(joint, each, "shapes to join")
    return joint


@STRING_JOIN.kernel
def string_join_kernel(inputs: list[Any], *, separator: bytes) -> Any:
    string_join_shape([np.shape(each) for each in inputs])
    return mapped(lambda *row: separator.join(row), *inputs)


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Return strings joined element by element.

    Args:
      inputs: a list of string tensors of one shape; scalars go with every element.
      separator: what stands between.
      name: of the node.

    Example:
      >>> Session().run(string_join(["a", ["b", "c"]], "-")).tolist()
      [b'a-b', b'a-c']
    """
    if isinstance(inputs, str | bytes):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join', not {inputs!r}.")
    result: Tensor = raw.StringJoin(list(inputs), separator=separator, name=name)
    return result


REDUCE_JOIN = OpDef(
    "ReduceJoin(inputs: string, reduction_indices: int32) -> output: string "
    "[keep_dims: bool = False; separator: string = '']"
).not_differentiable()


@REDUCE_JOIN.shape
def reduce_join_shape(
    inputs: Shape, reduction_indices: Shape, *, reduction_indices_value: Any, keep_dims: bool
) -> Shape:
    if inputs is None or reduction_indices_value is None:
        return (None,) * len(inputs) if inputs is not None and keep_dims else None
    axes = _axes(reduction_indices_value, len(inputs))
    return tuple(
        1 if axis in axes else dim
        for axis, dim in enumerate(inputs)
        if keep_dims or axis not in axes
    )


def _axes(indices: Any, rank: int) -> list[int]:
    return [shapes.axis_of(int(axis), rank) for axis in np.reshape(indices, -1)]


@REDUCE_JOIN.kernel
def reduce_join_kernel(
    inputs: Any, reduction_indices: Any, *, keep_dims: bool, separator: bytes
) -> Any:
    inputs = as_elements(inputs)
    axes = _axes(reduction_indices, inputs.ndim)
    twice = [axis for axis in axes if axes.count(axis) > 1]
    if twice:
        raise InvalidArgumentError(f"Duplicate reduction dimension {twice[0]}")
    output = reduce_join_shape(
        inputs.shape, (), reduction_indices_value=reduction_indices, keep_dims=keep_dims
    )
    kept = [axis for axis in range(inputs.ndim) if axis not in axes]
    count = int(np.prod([inputs.shape[axis] for axis in axes]))
    # the axis that is named first runs fastest
    rows = inputs.transpose(kept + axes[::-1]).reshape(math.prod(output), count)
    joined = np.empty(len(rows), object)
    joined[:] = [separator.join(row) for row in rows.tolist()]
    return joined.reshape(output)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool = False, separator: str = "",
    name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return the strings along some axes joined to one.

    Args:
      inputs: strings [d0, ..., dn].
      axis: an axis or several, in the order in which they are joined; by default all, the last
        one first. The old name is `reduction_indices`.
      keep_dims: whether the axes stay, with length 1.
      separator: what stands between.
      name: prefix for the nodes.
      reduction_indices: see `axis`.
      keepdims: see `keep_dims`.

    Example:
      >>> Session().run(reduce_join([["a", "b"], ["c", "d"]], 1)).tolist()
      [b'ab', b'cd']
    """
    axis = reduction_indices if axis is None else axis
    with scopes.name_scope(name, "ReduceJoin", [inputs]):
        inputs = convert.convert_to_tensor(inputs, "string")
        if axis is None:
            axis = _all_axes(inputs)
        keep = keep_dims if keepdims is None else keepdims
        return raw.ReduceJoin(inputs, axis, keep_dims=keep, separator=separator)


def _all_axes(inputs: Tensor) -> Tensor:
    """Return all axes, the last one first."""
    dims = inputs.plain_shape
    if dims is None:
        return raw.ReverseV2(raw.Range(0, raw.Rank(inputs), 1), [0])
    return convert.constant(np.arange(len(dims), dtype=np.int32)[::-1])


SUBSTR = OpDef(
    "Substr(input: string, pos: T, len: T) -> output: string "
    "[T: type {index}; unit: string = 'BYTE' {'BYTE','UTF8_CHAR'}]"
).not_differentiable()


@SUBSTR.checked_shape
def substr_shape(input: Shape, pos: Shape, len: Shape) -> Shape:
    shapes.merge(pos, len, "the shapes of pos and len")
    return shapes.broadcast(input, pos)


@SUBSTR.kernel
def substr_kernel(input: Any, pos: Any, len: Any, *, unit: bytes) -> Any:
    if unit == b"BYTE":
        return mapped(_part, input, pos, len)
    return mapped(_part_of_letters, input, pos, len)


def _part_of_letters(text: bytes, at: int, size: int) -> bytes:
    letters = text.decode("utf-8", "surrogateescape")  # a byte that is no text counts as a letter
    return _part(letters, at, size).encode("utf-8", "surrogateescape")  # type: ignore[no-any-return]


def _part(text: Any, at: int, size: int) -> Any:
    start = at + len(text) if at < 0 else at
    if not 0 <= start <= len(text):
        raise InvalidArgumentError(f"pos {at} out of range for string {text!r}")
    return text[start : start + size] if size >= 0 else text[start:]


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return a part of each string.

    Args:
      input: strings.
      pos: integers, where the part starts; below 0 it counts from the end.
      len: integers of the shape of `pos`, how long it is; less where the string ends before.
      name: of the node.
      unit: whether `pos` and `len` count bytes ("BYTE") or letters ("UTF8_CHAR").

    Raises:
      InvalidArgumentError: a part starts outside of its string (when it runs).

    Example:
      >>> Session().run(substr(["hello", "world"], 1, 3)).tolist()
      [b'ell', b'orl']
    """
    result: Tensor = raw.Substr(input, pos, len, unit=unit, name=name)
    return result


# one string, one string

STRING_STRIP = OpDef("StringStrip(input: string) -> output: string")
STRING_LOWER = OpDef("StringLower(input: string) -> output: string [encoding: string = '']")
STRING_UPPER = OpDef("StringUpper(input: string) -> output: string [encoding: string = '']")
ENCODE_BASE64 = OpDef("EncodeBase64(input: string) -> output: string [pad: bool = False]")
DECODE_BASE64 = OpDef("DecodeBase64(input: string) -> output: string")

for _op_def in (STRING_STRIP, STRING_LOWER, STRING_UPPER, ENCODE_BASE64, DECODE_BASE64):
    _op_def.not_differentiable().shape(_same_shape)


@STRING_STRIP.kernel
def string_strip_kernel(input: Any) -> Any:
    return mapped(bytes.strip, input)


def _in_encoding(change: Callable[[Any], Any], encoding: bytes) -> Callable[[bytes], bytes]:
    """Return `change` for encoded text; without encoding it sees bytes, and changes ASCII only."""
    if encoding not in (b"", b"utf-8"):
        raise InvalidArgumentError(
            f"only utf-8 or '' (no encoding) is supported, received {encoding.decode()}"
        )
    return (lambda text: change(text.decode(errors="replace")).encode()) if encoding else change


@STRING_LOWER.kernel
def string_lower_kernel(input: Any, *, encoding: bytes) -> Any:
    return mapped(_in_encoding(lambda text: text.lower(), encoding), input)


@STRING_UPPER.kernel
def string_upper_kernel(input: Any, *, encoding: bytes) -> Any:
    return mapped(_in_encoding(lambda text: text.upper(), encoding), input)


@ENCODE_BASE64.kernel
def encode_base64_kernel(input: Any, *, pad: bool) -> Any:
    encode = base64.urlsafe_b64encode
    return mapped(encode if pad else lambda text: encode(text).rstrip(b"="), input)


@DECODE_BASE64.kernel
def decode_base64_kernel(input: Any) -> Any:
    return mapped(_decoded, input)


def _decoded(text: bytes) -> bytes:
    try:
        full = text.rstrip(b"=") + b"=" * (-len(text.rstrip(b"=")) % 4)
        return base64.b64decode(full, b"-_", validate=True)
    except binascii.Error as error:
        raise InvalidArgumentError(f"{text!r} is not web-safe base64: {error}") from None


def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Return strings without white space at both ends.

    Example:
      >>> Session().run(string_strip(["  a b "])).tolist()
      [b'a b']
    """
    result: Tensor = raw.StringStrip(input, name=name)
    return result


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Return strings in lower case: `tf.strings.lower`.

    Args:
      input: strings.
      encoding: "utf-8", or "" to change ASCII letters only.
      name: of the node.

    Example:
      >>> Session().run(string_lower(["AbC"])).tolist()
      [b'abc']
    """
    result: Tensor = raw.StringLower(input, encoding=encoding, name=name)
    return result


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Return strings in upper case: `tf.strings.upper`.

    Args:
      input: strings.
      encoding: "utf-8", or "" to change ASCII letters only.
      name: of the node.

    Example:
      >>> Session().run(string_upper(["AbC"])).tolist()
      [b'ABC']
    """
    result: Tensor = raw.StringUpper(input, encoding=encoding, name=name)
    return result


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Return strings in web-safe base64.

    Args:
      input: strings of any bytes.
      pad: whether "=" fills the last group.
      name: of the node.

    Example:
      >>> Session().run(encode_base64(["hello?>"])).tolist()
      [b'aGVsbG8_Pg']
    """
    result: Tensor = raw.EncodeBase64(input, pad=pad, name=name)
    return result


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Return the bytes that web-safe base64 stands for, with or without "=" at the end.

    Raises:
      InvalidArgumentError: a string is no such text (when it runs).

    Example:
      >>> Session().run(decode_base64(["aGVsbG8_Pg"])).tolist()
      [b'hello?>']
    """
    result: Tensor = raw.DecodeBase64(input, name=name)
    return result
