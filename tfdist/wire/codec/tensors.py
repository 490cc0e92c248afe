"""Zero-copy tensors: one as the bytes of its TensorProto, written and read by hand.

protobuf copies a tensor's content twice on each side. Here a large one goes out as the array's own
memory, and comes in as an array over the message's memory. What an array cannot be made of at once
(typed values) is read by protobuf.

Layouts: TensorProto is dtype=1, tensor_shape=2, version_number=3, tensor_content=4; its shape has
fields dim=2 with size=1. Strings in tensor_content are all lengths as varints, then all bytes; so
are the values of variants, each a VariantTensorDataProto: type_name=1, metadata=2, tensors=3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NoReturn

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.aliases import TensorValue
from tfdist.base.tensor_shape import as_shape
from tfdist.base.varints import varint, varints
from tfdist.errors import InvalidArgumentError
from tfdist.graph.tensor_proto import as_truth, make_ndarray, strings_from_content
from tfdist.graph.variants import Content, form_named, form_of
from tfdist.protos import pb
from tfdist.wire.codec.fields import broken, delimited, fields
from tfdist.wire.common.calls import Piece

LARGE = 4096  # bytes; less is copied rather than handed on as a piece, or as a view of a message
_LONGEST_SPREAD = 1 << 28  # bytes that one repeated value may become

_DTYPE, _SHAPE, _VERSION, _CONTENT = 0x08, 0x12, 0x18, 0x22  # tags in TensorProto
_DIM, _DIM_SIZE, _UNKNOWN_RANK = 0x12, 0x08, 0x18  # tags in TensorShapeProto

_PLAIN = [each for each in dtypes.ALL if np.dtype(each.as_numpy_dtype).kind != "O"]
NUMPY = {each.as_datatype_enum: np.dtype(each.as_numpy_dtype).newbyteorder("<") for each in _PLAIN}
NUMBERS = {dtype: number for number, dtype in NUMPY.items()}
_STRING, BOOL, _VARIANT = map(int, (dtypes.string, dtypes.bool_, dtypes.variant))


# out


def encoded(array: TensorValue) -> tuple[bytes, bytes, Piece]:
    """Return the TensorProto of a tensor.

    Args:
      array: an array, a NumPy scalar, `bytes`, or an object array of `bytes`. The memory of a
        large array is handed on as it is: nobody may write to it until the message is sent.

    Returns:
      Three parts: type and shape; tag and length of the content; the content.

    Raises:
      InvalidArgumentError: its elements are of a type that does not cross.
    """
    if type(array) is bytes:
        return _string_parts((), [array])
    if isinstance(array, np.ndarray | np.generic):
        if array.dtype in NUMBERS:
            front, back = _head(array.dtype, array.shape)
            return front, back, memory(array)
        if array.dtype.kind == "O":
            return _string_parts(array.shape, array.reshape(-1).tolist())
        if array.dtype.kind == "S":
            return encoded(array.astype(object))
        if array.dtype.newbyteorder() in NUMBERS:
            return encoded(array.astype(array.dtype.newbyteorder("<")))
    if form_of(array) is not None:
        return _bytes_parts(_VARIANT, (), [_variant(array)])
    if isinstance(array, np.ndarray | np.generic):
        raise InvalidArgumentError(
            f"a {array.dtype} cannot be sent to another task; arrays of numbers, bool and bytes can"
        )
    if isinstance(array, int | float | complex):
        raise InvalidArgumentError(f"a Python {type(array).__name__} cannot be sent: no tensor")
    raise InvalidArgumentError(
        f"a {type(array).__name__} stays on its task: its handle cannot be fetched from another "
        "process. Run the ops that use it there, and fetch what they give; of a variable, its "
        "value (`variable.read_value()`)"
    )


def memory(array: TensorValue) -> Piece:
    """Return the content of an array of numbers: a large one's own memory, else a copy."""
    if array.nbytes < LARGE:
        return bytes(array.tobytes())
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


@lru_cache(1024)
def _head(dtype: np.dtype[TensorValue], shape: tuple[int, ...]) -> tuple[bytes, bytes]:
    size = math.prod(shape) * dtype.itemsize
    return _type_and_shape(NUMBERS[dtype], shape), _content_head(size)


def _type_and_shape(number: int, shape: tuple[int, ...]) -> bytes:
    dims = [delimited(_DIM, b"\x08" + varint(dim) if dim else b"") for dim in shape]
    return b"\x08" + varint(number) + (delimited(_SHAPE, b"".join(dims)) if shape else b"")


def _content_head(size: int) -> bytes:
    return b"\x22" + varint(size) if size else b""


def _string_parts(shape: tuple[int, ...], flat: list[TensorValue]) -> tuple[bytes, bytes, Piece]:
    try:
        return _bytes_parts(_STRING, shape, flat)
    except TypeError:
        if all([form_of(each) is not None for each in flat]):
            return _bytes_parts(_VARIANT, shape, list(map(_variant, flat)))
        types = sorted({type(each).__name__ for each in flat} - {"bytes"})
        raise InvalidArgumentError(
            f"an array of {', '.join(types)} cannot be sent to another task; strings cross as "
            "bytes, and a resource stays where it is: run the ops that use it on its task"
        ) from None


def _bytes_parts(
    number: int, shape: tuple[int, ...], flat: list[bytes]
) -> tuple[bytes, bytes, Piece]:
    content = b"".join([varints(map(len, flat)), *flat])
    return _type_and_shape(number, shape), _content_head(len(content)), content


def _variant(value: TensorValue) -> bytes:
    """Return the VariantTensorDataProto of what a variant tensor holds."""
    form = form_of(value)
    assert form is not None
    metadata, tensors = form.write(value)
    parts = [delimited(0x0A, form.name.encode()), delimited(0x12, metadata)]
    parts += [delimited(0x1A, b"".join(encoded(each))) for each in tensors]
    return b"".join(parts)


# in


def decoded(data: memoryview, at: int, end: int) -> TensorValue:
    """Return the tensor in the TensorProto that stands between two places of a message.

    Args:
      data: the message, as single bytes.
      at: where the TensorProto begins.
      end: where it ends.

    Returns:
      An array, which shares the memory of `data` if it is large and aligned there, and then can be
      written to only if `data` can; a NumPy scalar or `bytes` for rank 0; an object array of
      `bytes` for strings.

    Raises:
      InvalidArgumentError: it is malformed, its content does not fill its shape, or it is of a
        type that does not cross.
    """
    number, dims, content = 0, None, None
    for tag, begin, stop in fields(data, at, end):
        if tag == _DTYPE:
            number = begin
        elif tag == _SHAPE and dims is None:
            dims = _dims(data[begin:stop])
        elif tag == _CONTENT:
            content = begin, stop
        elif tag != _VERSION:
            return _read_by_protobuf(data[at:end])
    shape, count = dims or ((), 1)
    if content is None and count:
        return _read_by_protobuf(data[at:end])
    return _from_content(data, content or (0, 0), number, shape, count)


def _dims(raw: memoryview) -> tuple[tuple[int, ...], int]:
    """Return a shape and its number of elements."""
    return _known_dims(bytes(raw)) if len(raw) < 64 else _read_dims(raw)


@lru_cache(1024)
def _known_dims(raw: bytes) -> tuple[tuple[int, ...], int]:
    return _read_dims(memoryview(raw))


def _read_dims(raw: memoryview) -> tuple[tuple[int, ...], int]:
    dims = []
    for tag, begin, stop in fields(raw, 0, len(raw)):
        if tag == _DIM:
            dims.append(_dim(raw, begin, stop))
        elif tag == _UNKNOWN_RANK and begin:
            raise broken("a tensor has a shape of unknown rank")
    if len(dims) > 254:
        raise broken(f"a tensor has {len(dims)} dimensions; 254 are the most there can be")
    return tuple(dims), math.prod(dims)


def _dim(raw: memoryview, at: int, end: int) -> int:
    size = 0
    for tag, value, _ in fields(raw, at, end):
        if tag == _DIM_SIZE:
            size = value
    if size >= 2**63:
        raise broken(f"a tensor has a dimension of size {size - 2**64}")
    return size


def _from_content(
    data: memoryview, content: tuple[int, int], number: int, shape: tuple[int, ...], count: int
) -> TensorValue:
    begin, end = content
    if number == _STRING:
        strings = strings_from_content(bytes(data[begin:end]), count)
        return _shaped(strings, shape) if shape else strings[0]
    if number == _VARIANT:
        parts = strings_from_content(bytes(data[begin:end]), count).tolist()
        return _variants(parts, shape)
    dtype = NUMPY.get(number) or _no_type(number)
    if end - begin != count * dtype.itemsize:
        raise broken(
            f"a tensor of type {dtype} and shape {shapes.show(shape)} has {end - begin} bytes of "
            f"content instead of {count * dtype.itemsize}"
        )
    if not count:
        return _shaped(np.empty(0, dtype), shape)
    flat = np.frombuffer(data, dtype, count, begin)
    if number == BOOL:
        flat = as_truth(flat)
    if not shape:
        return flat[0]
    array = _shaped(flat, shape)
    return array.copy() if end - begin < LARGE or not array.flags.aligned else array


def _variants(parts: Iterable[bytes], shape: tuple[int, ...]) -> TensorValue:
    """Return a tensor of what variants hold, each in the bytes of its proto."""
    try:
        values = [_read_variant(pb.parse(pb.VariantTensorDataProto, each)) for each in parts]
    except (ValueError, RecursionError) as error:
        raise broken(f"what a variant holds cannot be read: {error}") from None
    if len(values) != math.prod(shape):
        raise broken(f"a tensor of shape {shapes.show(shape)} has {len(values)} variants")
    flat = np.empty(len(values), object)
    flat[:] = values
    return _shaped(flat, shape)[()]


def _read_variant(proto: pb.Message) -> TensorValue:
    views = [memoryview(each.SerializeToString()) for each in proto.tensors]
    tensors = [decoded(view, 0, len(view)) for view in views]
    return form_named(proto.type_name).read(Content(proto.metadata, tensors))


def _shaped(flat: TensorValue, shape: tuple[int, ...]) -> TensorValue:
    try:
        return flat.reshape(shape)
    except ValueError:  # too many dimensions, or too long ones beside one of size 0
        raise broken(f"no array can have the shape {shapes.show(shape)[:200]}") from None


def _no_type(number: int) -> NoReturn:
    names = pb.DataType
    name = names.Name(number) if number in names.values() else f"number {number}"
    raise InvalidArgumentError(
        f"a tensor of type {name} cannot be received; numbers, bool and strings can"
    )


def _read_by_protobuf(view: memoryview) -> TensorValue:
    try:
        proto = pb.parse(pb.TensorProto, view)
        if proto.dtype == _VARIANT:
            parts = [each.SerializeToString() for each in proto.variant_val]
            return _variants(parts, tuple([dim.size for dim in proto.tensor_shape.dim]))
        _check_spread(proto)
        array = make_ndarray(proto)
    except (TypeError, ValueError, OverflowError) as error:
        raise broken(str(error)) from None
    return array if array.ndim else array[()]


def _check_spread(proto: pb.Message) -> None:
    """Refuse a shape of which few bytes would make a huge array."""
    if proto.dtype not in NUMPY and proto.dtype != _STRING:
        _no_type(proto.dtype)
    size = dtypes.as_dtype(proto.dtype).size
    count = shapes.num_elements(as_shape(proto.tensor_shape)) or 0
    if count * size > _LONGEST_SPREAD and count * size > 16 * proto.ByteSize():
        raise broken(f"a tensor claims {count} elements but has {proto.ByteSize()} bytes")
