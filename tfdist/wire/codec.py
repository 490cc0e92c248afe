"""Tensors in messages, written and read by hand so that large ones cross without a copy.

protobuf copies a tensor's content twice on each side. Here a message goes out as pieces: what
protobuf made of its other fields, then the tensors, a large one as the array's own memory. On the
way in the tensors' fields are cut out and become arrays over the message's memory; protobuf reads
the rest. What an array cannot be made of at once (typed values) goes to protobuf too.

Layouts: TensorProto is dtype=1, tensor_shape=2, version_number=3, tensor_content=4; its shape has
fields dim=2 with size=1; NamedTensorProto is name=1, tensor=2. Strings in tensor_content are all
lengths as varints, then all bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.tensor_proto import as_truth, make_ndarray, strings_from_content
from tfdist.protos import pb
from tfdist.wire import calls
from tfdist.wire.calls import Piece, Pieces
from tfdist.wire.fields import broken, delimited, fields, tag_of, varint

T = TypeVar("T")
Reader = Callable[[memoryview, int, int], T]

LARGEST_MESSAGE = 2**31 - 1  # bytes; protobuf's limit, and so TensorFlow's
_LARGE = 4096  # bytes; less is copied rather than handed on as a piece, or as a view of a message
_ALIGNMENT = 16  # bytes; no element type needs more
_LONGEST_SPREAD = 1 << 28  # bytes that one repeated value may become

_DTYPE, _SHAPE, _VERSION, _CONTENT = 0x08, 0x12, 0x18, 0x22  # tags in TensorProto
_DIM, _DIM_SIZE, _DIM_NAME, _UNKNOWN_RANK = 0x12, 0x08, 0x12, 0x18  # tags in TensorShapeProto
_NAME, _TENSOR = 0x0A, 0x12  # tags in NamedTensorProto

_PLAIN = [each for each in dtypes.ALL if np.dtype(each.as_numpy_dtype).kind != "O"]
_NUMPY = {each.as_datatype_enum: np.dtype(each.as_numpy_dtype).newbyteorder("<") for each in _PLAIN}
_NUMBERS = {dtype: number for number, dtype in _NUMPY.items()}
_STRING, _BOOL = dtypes.string.as_datatype_enum, dtypes.bool_.as_datatype_enum


# out: the bytes of one tensor


def tensor_pieces(array: Any) -> Pieces:
    """Return the TensorProto of a tensor.

    Args:
      array: an array, a NumPy scalar, `bytes`, or an object array of `bytes`. The memory of a
        large array is handed on as it is: nobody may write to it until the message is sent.

    Raises:
      InvalidArgumentError: its elements are of a type that does not cross.
    """
    writer = _Writer(b"")
    writer.add("", array, lambda size: b"")
    return writer.finish()


def _encoded(array: Any) -> tuple[bytes, bytes, Piece]:
    """Return a TensorProto in three parts: type and shape, the content's head, the content."""
    if type(array) is bytes:
        return _string_parts((), [array])
    if isinstance(array, np.ndarray | np.generic):
        if array.dtype in _NUMBERS:
            front, back = _head(array.dtype, array.shape)
            return front, back, _memory(array)
        if array.dtype.kind == "O":
            return _string_parts(array.shape, array.reshape(-1).tolist())
        if array.dtype.kind == "S":
            return _encoded(array.astype(object))
        if array.dtype.newbyteorder() in _NUMBERS:
            return _encoded(array.astype(array.dtype.newbyteorder("<")))
    raise InvalidArgumentError(
        f"a {getattr(array, 'dtype', type(array).__name__)} cannot be sent to another task; "
        "arrays of numbers, bool and bytes can"
    )


def _memory(array: Any) -> Piece:
    if array.nbytes < _LARGE:
        return bytes(array.tobytes())
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


@lru_cache(1024)
def _head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[bytes, bytes]:
    size = math.prod(shape) * dtype.itemsize
    return _type_and_shape(_NUMBERS[dtype], shape), _content_head(size)


def _type_and_shape(number: int, shape: tuple[int, ...]) -> bytes:
    dims = [delimited(_DIM, b"\x08" + varint(dim) if dim else b"") for dim in shape]
    return b"\x08" + varint(number) + (delimited(_SHAPE, b"".join(dims)) if shape else b"")


def _content_head(size: int) -> bytes:
    return b"\x22" + varint(size) if size else b""


def _string_parts(shape: tuple[int, ...], flat: list[Any]) -> tuple[bytes, bytes, Piece]:
    try:
        content = b"".join([_string_lengths(flat), *flat])
    except TypeError:
        types = sorted({type(each).__name__ for each in flat} - {"bytes"})
        raise InvalidArgumentError(
            f"an array of {', '.join(types)} cannot be sent to another task; strings cross as "
            "bytes, and a resource stays where it is: run the ops that use it on its task"
        ) from None
    return _type_and_shape(_STRING, shape), _content_head(len(content)), content


def _string_lengths(flat: list[Any]) -> bytes:
    lengths = list(map(len, flat))
    if max(lengths, default=0) < 128:
        return bytes(lengths)
    return b"".join(map(varint, lengths))


# out: messages with tensors


class MessagePieces(list[Piece]):
    """The pieces of a message.

    Attributes:
      largest: name and array of its largest tensor, if that is a large one.
    """

    largest: tuple[str, Any] | None = None


class _Writer:
    """Collects pieces; what is small goes into one piece with its neighbours."""

    def __init__(self, start: bytes) -> None:
        self._pieces = MessagePieces()
        self._small = [start]
        self._size = len(start)
        self._largest = 0

    def add(self, name: str, array: Any, opening: Callable[[int], bytes]) -> None:
        """Add a tensor; `opening` gives what stands before a TensorProto of so many bytes."""
        front, back, content = _encoded(array)
        rest = len(back) + len(content)
        head = opening(len(front) + rest) + front + back
        if len(content) < _LARGE:
            self._small += head, bytes(content)
        else:
            padding = _padding(self._size + len(head))
            if padding:
                head = opening(len(front) + len(padding) + rest) + front + padding + back
            self._large(name, array, head, content)
        self._size += len(head) + len(content)

    def _large(self, name: str, array: Any, head: bytes, content: Piece) -> None:
        self._small.append(head)
        self._pieces += b"".join(self._small), content
        self._small = []
        if len(content) > self._largest:
            self._largest, self._pieces.largest = len(content), (name, array)

    def finish(self) -> MessagePieces:
        """Return the message."""
        if self._small:
            self._pieces.append(b"".join(self._small))
        return self._pieces


def _padding(offset: int) -> bytes:
    """Return bytes without meaning after which `offset` is a multiple of the alignment.

    An array can then share the memory of a received message. They repeat `version_number`, which
    is always 0; an odd number of bytes takes one zero of two bytes.
    """
    missing = -offset % _ALIGNMENT
    if missing == 1:
        missing += _ALIGNMENT
    odd = missing % 2
    return b"\x18\x80\x00" * odd + b"\x18\x00" * ((missing - 3 * odd) // 2)


def message_pieces(message: Any, number: int, tensors: Iterable[tuple[str, Any]]) -> MessagePieces:
    """Return a message with tensors in a field of NamedTensorProtos.

    Args:
      message: a protobuf message without these tensors.
      number: of the field.
      tensors: (name, array), see `tensor_pieces`.

    Raises:
      InvalidArgumentError: an array is of a type that does not cross; it is named.
    """
    tag, writer = varint(tag_of(number)), _Writer(message.SerializeToString())
    for name, array in tensors:
        label = delimited(_NAME, name.encode()) + b"\x12"
        try:
            writer.add(name, array, partial(_named_opening, tag, label))
        except InvalidArgumentError as error:
            raise _named_error(name, error) from None
    return writer.finish()


def _named_opening(tag: bytes, label: bytes, size: int) -> bytes:
    inner = label + varint(size)
    return tag + varint(len(inner) + size) + inner


def bare_message_pieces(message: Any, number: int, arrays: Iterable[Any]) -> MessagePieces:
    """Return a message with tensors in a field of TensorProtos; see `message_pieces`."""
    tag, writer = varint(tag_of(number)), _Writer(message.SerializeToString())
    for place, array in enumerate(arrays):
        writer.add(f"number {place}", array, lambda size: tag + varint(size))
    return writer.finish()


def check_size(pieces: Pieces, what: str, limit: int = LARGEST_MESSAGE) -> None:
    """Refuse a message that is too long for its way, before any of it is sent.

    What helps: cut the tensor and send the parts in several steps, or put the ops that use it on
    the task that has it, so that it need not travel.

    Args:
      pieces: the message; its largest tensor can be named if it comes from this module.
      what: what the message is, as text for the error.
      limit: in bytes.

    Raises:
      InvalidArgumentError: it is longer.
    """
    total = calls.size(pieces)
    if total <= limit:
        return
    raise InvalidArgumentError(
        f"{what} takes {total} bytes, but one message can have {limit}{_largest(pieces)}. Cut it "
        "and send the parts in several steps, or run the ops that use it on the task that has it"
    )


def _largest(pieces: Pieces) -> str:
    largest = getattr(pieces, "largest", None)
    if largest is None:
        return ""
    name, array = largest
    described = f"{getattr(array, 'dtype', 'bytes')}{list(np.shape(array))}"
    held = max(map(len, pieces))
    return f"; its largest tensor is {name or 'the only one'}, {described}, of {held} bytes"


def _named_error(name: str, error: InvalidArgumentError) -> InvalidArgumentError:
    return InvalidArgumentError(f"tensor {name!r}: {error.message}")


# in: one tensor


def tensor_of(view: memoryview) -> Any:
    """Return the tensor in a TensorProto.

    Returns:
      An array, which shares the memory of `view` if it is large and aligned there, and then can be
      written to only if `view` can; a NumPy scalar or `bytes` for rank 0; an object array of
      `bytes` for strings.

    Raises:
      InvalidArgumentError: the message is malformed, its content does not fill its shape, or it is
        of a type that does not cross.
    """
    return _tensor(_flat(view), 0, view.nbytes)


def _flat(view: memoryview) -> memoryview:
    view = memoryview(view)
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def _tensor(data: memoryview, at: int, end: int) -> Any:
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
) -> Any:
    begin, end = content
    if number == _STRING:
        strings = strings_from_content(bytes(data[begin:end]), count)
        return _shaped(strings, shape) if shape else strings[0]
    dtype = _NUMPY.get(number) or _no_type(number)
    if end - begin != count * dtype.itemsize:
        raise broken(
            f"a tensor of type {dtype} and shape {shapes.show(shape)} has {end - begin} bytes of "
            f"content instead of {count * dtype.itemsize}"
        )
    if not count:
        return _shaped(np.empty(0, dtype), shape)
    flat = np.frombuffer(data, dtype, count, begin)
    if number == _BOOL:
        flat = as_truth(flat)
    if not shape:
        return flat[0]
    array = _shaped(flat, shape)
    return array.copy() if end - begin < _LARGE or not array.flags.aligned else array


def _shaped(flat: Any, shape: tuple[int, ...]) -> Any:
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise broken(f"no array can have the shape {shapes.show(shape)}: {error}") from None


def _no_type(number: int) -> Any:
    names = pb.DataType
    name = names.Name(number) if number in names.values() else f"number {number}"
    raise InvalidArgumentError(
        f"a tensor of type {name} cannot be received; numbers, bool and strings can"
    )


def _read_by_protobuf(view: memoryview) -> Any:
    proto = parse_message(pb.TensorProto, view)
    try:
        _check_spread(proto)
        array = make_ndarray(proto)
    except (TypeError, ValueError, OverflowError) as error:
        raise broken(str(error)) from None
    return array if array.ndim else array[()]


def _check_spread(proto: Any) -> None:
    """Refuse a shape of which few bytes would make a huge array."""
    if proto.dtype not in _NUMPY and proto.dtype != _STRING:
        _no_type(proto.dtype)
    size = dtypes.as_dtype(proto.dtype).size
    count = shapes.num_elements(shapes.as_shape(proto.tensor_shape)) or 0
    if count * size > _LONGEST_SPREAD and count * size > 16 * proto.ByteSize():
        raise broken(f"a tensor claims {count} elements but has {proto.ByteSize()} bytes")


# in: messages with tensors


def split_message(
    message_class: Any, view: memoryview, number: int
) -> tuple[Any, list[tuple[str, Any]]]:
    """Return a message without its field of NamedTensorProtos, and what was there.

    Args:
      message_class: of the message.
      view: the message.
      number: of the field.

    Returns:
      The message, and (name, array) of each tensor; see `tensor_of`.

    Raises:
      InvalidArgumentError: the message is malformed, or a tensor cannot be read; it is named.
    """
    return _split(message_class, view, number, _named)


def split_bare_message(message_class: Any, view: memoryview, number: int) -> tuple[Any, list[Any]]:
    """Return a message without its field of TensorProtos, and the tensors that were there."""
    return _split(message_class, view, number, _tensor)


def _split(
    message_class: Any, view: memoryview, number: int, read: Reader[T]
) -> tuple[Any, list[T]]:
    data, wanted = _flat(view), tag_of(number)
    found, rest, kept, last = [], [], 0, 0
    for tag, begin, end in fields(data, 0, len(data)):
        if tag == wanted:
            found.append(read(data, begin, end))
            rest.append(data[kept:last])
            kept = end
        last = end
    rest.append(data[kept:])
    return parse_message(message_class, b"".join(rest)), found


def _named(data: memoryview, at: int, end: int) -> tuple[str, Any]:
    name, place = "", (0, 0)
    for tag, begin, stop in fields(data, at, end):
        if tag == _NAME:
            name = _text(data[begin:stop])
        elif tag == _TENSOR:
            place = begin, stop
    try:
        return name, _tensor(data, *place)
    except InvalidArgumentError as error:
        raise _named_error(name, error) from None


def _text(raw: memoryview) -> str:
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        raise broken(f"{bytes(raw[:40])!r} is no name in UTF-8") from None


def parse_message(message_class: Any, data: bytes | memoryview) -> Any:
    """Return the message in `data`.

    Raises:
      InvalidArgumentError: there is none.
    """
    try:
        return pb.parse(message_class, data)
    except ValueError as error:
        raise broken(str(error)) from None
