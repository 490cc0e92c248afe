"""Text as code points, and in other encodings.

Source: TF 1.15 API documentation, tf.strings.unicode_decode and its relatives.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.strings.join_substr import mapped
from tfdist.ops.strings.ragged_results import as_strings, in_rows

_ERRORS = (
    "errors: string = 'replace' {'strict','replace','ignore'}; replacement_char: int = 65533; "
    "replace_control_characters: bool = False"
)
_SPLITS = "Tsplits: type = int64 {index}"
_ENCODINGS = "output_encoding: string {'UTF-8','UTF-16-BE','UTF-32-BE'}"
DECODE = OpDef(
    "UnicodeDecode(input: string) -> row_splits: Tsplits, char_values: int32 "
    f"[input_encoding: string; {_ERRORS}; {_SPLITS}]"
).not_differentiable()
DECODE_WITH_OFFSETS = OpDef(
    "UnicodeDecodeWithOffsets(input: string) -> row_splits: Tsplits, char_values: int32, "
    f"char_to_byte_starts: int64 [input_encoding: string; {_ERRORS}; {_SPLITS}]"
).not_differentiable()
ENCODE = OpDef(
    "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> output: string "
    f"[errors: string = 'replace' {{'ignore','replace','strict'}}; {_ENCODINGS}; "
    f"replacement_char: int = 65533; {_SPLITS}]"
).not_differentiable()
TRANSCODE = OpDef(
    "UnicodeTranscode(input: string) -> output: string "
    f"[input_encoding: string; {_ENCODINGS}; {_ERRORS}]"
).not_differentiable()

_ERROR = -1  # stands for what is no character
_ASCII = ("ascii", "utf-8", "iso8859-1")  # codecs for which bytes below 128 are characters


@DECODE.shape
def decode_shape(input: Shape) -> list[Shape]:
    count = shapes.num_elements(input)
    return [(None if count is None else count + 1,), (None,)]


@DECODE_WITH_OFFSETS.shape
def decode_with_offsets_shape(input: Shape) -> list[Shape]:
    return [*decode_shape(input), (None,)]


@ENCODE.shape
def encode_shape(input_values: Shape, input_splits: Shape) -> Shape:
    shapes.require_rank(input_values, "input_values", 1)
    shapes.require_rank(input_splits, "input_splits", 1)
    if not input_splits or input_splits[0] is None:
        return (None,)
    return (max(input_splits[0] - 1, 0),)


@TRANSCODE.shape
def transcode_shape(input: Shape) -> Shape:
    return input


# characters


def _codec(encoding: bytes) -> str:
    """Return Python's name of an encoding."""
    name = encoding.decode()
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise InvalidArgumentError(
            f"Could not create converter for input encoding: {name}"
        ) from None


def _points(data: bytes, codec: str) -> tuple[Sequence[int] | Any, Sequence[int] | Any]:
    """Return the characters of encoded text, and where in it they start; see `_ERROR`."""
    if data.isascii() and codec in _ASCII:
        return np.frombuffer(data, np.uint8), np.arange(len(data))
    points: list[int] = []
    starts: list[int] = []
    at = 0
    while at < len(data):
        try:
            text, end = data[at:].decode(codec), len(data)
        except UnicodeDecodeError as error:
            text, end = data[at : at + error.start].decode(codec), at + error.start
            bad = at + error.end
        sizes = [len(each.encode(codec)) for each in text] if len(text) < end - at else None
        points += map(ord, text)
        starts += range(at, end) if sizes is None else (np.cumsum([at, *sizes])[:-1]).tolist()
        if end == len(data):
            break
        points.append(_ERROR)
        starts.append(end)
        at = bad
    return points, starts


def _mended(
    points: Sequence[int] | Any, errors: bytes, replacement: int, replaces_controls: bool = False
) -> tuple[Any, Any]:
    """Return the characters without errors, and which they are; an error if that is wanted."""
    found = np.array(points, np.int32)
    is_bad = found == _ERROR
    if errors == b"strict" and is_bad.any():
        raise InvalidArgumentError("Invalid formatting on input string")
    if replaces_controls:
        is_bad |= found < 32
    if errors == b"ignore":
        return found[~is_bad], ~is_bad
    return np.where(is_bad, np.int32(replacement), found), np.ones(len(found), bool)


@DECODE.kernel
def decode_kernel(
    input: Any, *, input_encoding: bytes, errors: bytes, replacement_char: int,
    replace_control_characters: bool, Tsplits: DType,
) -> Any:  # fmt: skip
    how = errors, replacement_char, replace_control_characters
    return _decoded(input, input_encoding, how, Tsplits)[:2]


@DECODE_WITH_OFFSETS.kernel
def decode_with_offsets_kernel(
    input: Any, *, input_encoding: bytes, errors: bytes, replacement_char: int,
    replace_control_characters: bool, Tsplits: DType,
) -> Any:  # fmt: skip
    how = errors, replacement_char, replace_control_characters
    return _decoded(input, input_encoding, how, Tsplits)


def _decoded(
    input: Any, encoding: bytes, how: tuple[bytes, int, bool], splits: DType
) -> tuple[Any, Any, Any]:
    codec = _codec(encoding)
    rows, starts = [], []
    for text in as_elements(input).reshape(-1).tolist():
        points, places = _points(text, codec)
        mended, kept = _mended(points, *how)
        rows.append(mended)
        starts.append(np.array(places, np.int64)[kept])
    bounds = np.cumsum([0, *map(len, rows)]).astype(splits.as_numpy_dtype)
    none = np.zeros(0, np.int32)
    return bounds, np.concatenate([none, *rows]), np.concatenate([none.astype(np.int64), *starts])


@ENCODE.kernel
def encode_kernel(
    input_values: Any, input_splits: Any, *, errors: bytes, output_encoding: bytes,
    replacement_char: int,
) -> Any:  # fmt: skip
    values, bounds = input_values, input_splits.tolist()
    inside = [0, *bounds, len(values)]
    if any(one > other for one, other in itertools.pairwise(inside)):
        raise InvalidArgumentError(
            f"input_splits must rise from 0 to {len(values)}, the number of values, got {bounds}"
        )
    is_surrogate = (values >= 0xD800) & (values < 0xE000)
    is_bad = (values < 0) | (values > 0x10FFFF) | is_surrogate
    if errors == b"strict" and is_bad.any():
        raise InvalidArgumentError("Code point value out of valid Unicode range.")
    points = np.where(is_bad, _ERROR, values)
    pairs = itertools.pairwise(bounds)
    rows = [_mended(points[start:end], errors, replacement_char)[0] for start, end in pairs]
    output = np.empty(len(rows), object)
    output[:] = [_encoded(row, _codec(output_encoding)) for row in rows]
    return output


def _encoded(points: Any, codec: str) -> bytes:
    text = points.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    return text.encode(codec, "replace")  # type: ignore[no-any-return]


@TRANSCODE.kernel
def transcode_kernel(
    input: Any, *, input_encoding: bytes, output_encoding: bytes, errors: bytes,
    replacement_char: int, replace_control_characters: bool,
) -> Any:  # fmt: skip
    source, target = _codec(input_encoding), _codec(output_encoding)

    def change(text: bytes) -> bytes:
        if not replace_control_characters:
            try:
                return text.decode(source).encode(target)
            except UnicodeError:
                pass  # it has errors, which are looked at one by one
        points, _ = _points(text, source)
        mended, _ = _mended(points, errors, replacement_char, replace_control_characters)
        return _encoded(mended, target)

    return mapped(change, input)


# public functions


def unicode_transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 65533, replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return text in another encoding.

    Args:
      input: strings.
      input_encoding: theirs, such as "UTF-8" or "ISO-8859-1".
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what becomes of bytes that are no text: "replace", "ignore" or "strict".
      replacement_char: what replaces them.
      replace_control_characters: whether characters below 32 count as such.
      name: of the node.

    Raises:
      InvalidArgumentError: there is no such encoding; or, for "strict", a string is no text (when
        it runs).

    Example:
      >>> Session().run(strings.unicode_transcode("hi", "UTF-8", "UTF-16-BE"))
      b'\\x00h\\x00i'
    """
    return raw.UnicodeTranscode(  # type: ignore[no-any-return]
        input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters, name=name,
    )  # fmt: skip


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the text that code points spell.

    Args:
      input: int32 [..., n], code points, perhaps ragged.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what becomes of numbers that are none: "replace", "ignore" or "strict".
      replacement_char: what replaces them.
      name: of the scope of the nodes.

    Returns:
      Strings [...].

    Raises:
      ValueError: the rank is 0, or not known.
      InvalidArgumentError: a number is no code point, and `errors` is "strict" (when it runs).

    Example:
      >>> Session().run(strings.unicode_encode([104, 105], "UTF-8"))
      b'hi'
    """
    with scopes.name_scope(name, "UnicodeEncode", [input]):
        if isinstance(input, RaggedTensor):
            return _encoded_rows(input, (output_encoding, errors, replacement_char))
        points = convert_to_tensor(input, dtypes.int32)
        if not points.shape.ndims:
            raise ValueError("input_tensor's rank must be at least 1.")
        shape = raw.Shape(points, out_type=dtypes.int64)
        outer = raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1)
        length = raw.StridedSlice(shape, [-1], [0], [1], shrink_axis_mask=1)
        one, none = (convert_to_tensor(number, dtypes.int64) for number in (1, 0))
        rows = raw.Range(none, raw.AddV2(raw.Prod(outer, [0]), one), one)
        texts = raw.UnicodeEncode(
            raw.Reshape(points, [-1]), raw.Mul(rows, length), errors=errors,
            output_encoding=output_encoding, replacement_char=replacement_char,
        )  # fmt: skip
        result: Tensor = raw.Reshape(texts, outer)
        result.set_shape((points.plain_shape or ())[:-1])
        return result


def _encoded_rows(points: RaggedTensor, how: tuple[str, str, int]) -> Any:
    encoding, errors, replacement = how
    if isinstance(points.values, RaggedTensor) or points.values.shape.ndims != 1:
        return points.with_values(unicode_encode(points.values, *how))
    return raw.UnicodeEncode(
        points.values, points.row_splits, errors=errors, output_encoding=encoding,
        replacement_char=replacement,
    )  # fmt: skip


def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points of texts.

    Args:
      input: strings of any rank.
      input_encoding: their encoding, such as "UTF-8".
      errors: what becomes of bytes that are no text: "replace", "ignore" or "strict".
      replacement_char: what replaces them.
      replace_control_characters: whether characters below 32 count as such.
      name: of the scope of the nodes.

    Returns:
      A tensor for a scalar, else a RaggedTensor.

    Raises:
      InvalidArgumentError: see `unicode_transcode`.

    Example:
      >>> Session().run(strings.unicode_decode("hi", "UTF-8"))
      array([104, 105], dtype=int32)
    """
    how = input_encoding, errors, replacement_char, replace_control_characters
    with scopes.name_scope(name, "UnicodeDecode", [input]):
        decode = raw.UnicodeDecode
        return in_rows(as_strings(input), lambda flat: _point_rows(decode, flat, *how))[0]


def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the code points of texts, and where in them each starts; see `unicode_decode`.

    Example:
      >>> points, starts = strings.unicode_decode_with_offsets("\u00e9a", "UTF-8")
      >>> Session().run(starts)
      array([0, 2])
    """
    how = input_encoding, errors, replacement_char, replace_control_characters
    with scopes.name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        decode = raw.UnicodeDecodeWithOffsets
        points, starts = in_rows(as_strings(input), lambda flat: _point_rows(decode, flat, *how))
    return points, starts


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the characters of texts, each as a string; see `unicode_decode`.

    Example:
      >>> Session().run(strings.unicode_split("hi", "UTF-8")).tolist()
      [b'h', b'i']
    """
    with scopes.name_scope(name, "UnicodeSplit", [input]):
        points = unicode_decode(input, input_encoding, errors, replacement_char)
        return _characters(points, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the characters of texts, and where in them each starts; see `unicode_decode`.

    Example:
      >>> characters, starts = strings.unicode_split_with_offsets("hi", "UTF-8")
      >>> Session().run(starts)
      array([0, 1])
    """
    with scopes.name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, starts = unicode_decode_with_offsets(
            input, input_encoding, errors, replacement_char
        )
        return _characters(points, input_encoding, errors, replacement_char), starts


def _characters(points: Any, encoding: str, errors: str, replacement: int) -> Any:
    flat = points.flat_values if isinstance(points, RaggedTensor) else points
    texts = unicode_encode(raw.ExpandDims(flat, 1), encoding, errors, replacement)
    return points.with_flat_values(texts) if isinstance(points, RaggedTensor) else texts


def _point_rows(
    decode: Any, flat: Tensor, encoding: str, errors: str, replacement: int, controls: bool
) -> list[RaggedTensor]:
    splits, *columns = decode(
        flat, input_encoding=encoding, errors=errors, replacement_char=replacement,
        replace_control_characters=controls,
    )  # fmt: skip
    return [RaggedTensor.from_row_splits(each, splits, validate=False) for each in columns]
