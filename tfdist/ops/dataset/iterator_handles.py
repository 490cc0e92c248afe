"""String handles of iterators: what they say, and what an iterator must be to be taken for one.

A handle is the message ResourceHandleProto, as TensorFlow's: device=1, container=2, name=3,
hash_code=4, maybe_type_name=5. It is written and read here by hand: kernels know no messages.

Source: TF 1.15 API, tensorflow/core/framework/resource_handle.proto.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import shapes
from tfdist.base.tensor_shape import TensorShape
from tfdist.base.varints import read_varint, varint
from tfdist.errors import InvalidArgumentError

_KIND = b"N10tensorflow4data16IteratorResourceE"
_DEVICE, _CONTAINER, _NAME, _TYPE_NAME = 1, 2, 3, 5


def written(iterator: Any, device: str) -> bytes:
    """Return the string handle of an iterator on `device`."""
    fields = (
        (_DEVICE, device.encode()),
        (_CONTAINER, iterator.container.encode()),
        (_NAME, iterator.name.encode()),
        (_TYPE_NAME, _KIND),
    )
    return b"".join(
        [bytes([number << 3 | 2]) + varint(len(text)) + text for number, text in fields]
    )


def read(handle: Any, device: str) -> tuple[bytes, str]:
    """Return container and name of the iterator of a string handle.

    Raises:
      InvalidArgumentError: it is none, or of an iterator on another device.
    """
    try:
        fields = _fields(handle if isinstance(handle, bytes) else handle.item())
        text = fields[_DEVICE].decode()
        container, name = fields.get(_CONTAINER, b""), fields[_NAME].decode()
    except (IndexError, KeyError, ValueError, TypeError):
        raise InvalidArgumentError(
            "Could not parse string_handle as a valid ResourceHandle"
        ) from None
    if text != device:
        raise InvalidArgumentError(
            f"the iterator {name!r} of this string handle is on {text}, but the node is on "
            f"{device}: pin it there"
        )
    return container, name


def _fields(data: bytes) -> dict[int, bytes]:
    """Return the fields of a message that are bytes; IndexError or ValueError if it is none."""
    found: dict[int, bytes] = {}
    place = 0
    while place < len(data):
        tag, place = read_varint(data, place)
        size, place = read_varint(data, place)
        if tag & 7 == 2:
            if place + size > len(data):
                raise ValueError("too short")
            found[tag >> 3] = data[place : place + size]
            place += size
        elif tag & 7:
            raise ValueError("no field of a handle")
    return found


def check_types(iterator: Any, types: Sequence[Any], wanted: Sequence[TensorShape]) -> None:
    """Raise InvalidArgumentError unless an iterator gives elements as a node wants them."""
    if not types or (types is iterator.dtypes and wanted is iterator.shapes):
        return
    if len(types) != len(iterator.dtypes):
        raise InvalidArgumentError(
            f"Number of components does not match: expected {len(types)} types but got "
            f"{len(iterator.dtypes)}."
        )
    for i, (dtype, found) in enumerate(zip(types, iterator.dtypes, strict=True)):
        if dtype != found:
            raise InvalidArgumentError(
                f"Data type mismatch at component {i}: expected {_name(dtype)} but got "
                f"{_name(found)}."
            )
    for i, (shape, there) in enumerate(zip(wanted, iterator.shapes, strict=False)):
        if not shapes.compatible(shape.as_tuple(), there.as_tuple()):
            raise InvalidArgumentError(
                f"Incompatible shapes at component {i}: expected {_show(shape)} but got "
                f"{_show(there)}."
            )


_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _name(dtype: Any) -> str:
    return _NAMES.get(dtype.name, dtype.name)


def _show(shape: TensorShape) -> str:
    dims = shape.as_tuple()
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if dim is None else str(dim) for dim in dims)}]"
