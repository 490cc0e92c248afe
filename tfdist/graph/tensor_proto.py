"""Arrays and attribute values as TensorFlow's messages, and back.

Written: `tensor_content` (little-endian, row-major), the typed fields for a single element, as
TensorFlow's optimizations expect it, and `string_val` for strings. Read besides: the typed fields
in general, where fewer values than elements repeat the last one and none at all means zeros, and
strings in `tensor_content`, as they come in feeds, fetches and transfers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.aliases import AttrValue, TensorLike, TensorValue
from tfdist.base.dtypes import DType, DTypeLike
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import ShapeLike, TensorShape, as_shape
from tfdist.base.varints import read_varints
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import Array, to_array
from tfdist.graph.functions import Given, NameAttrList
from tfdist.protos import pb

# typed field of TensorProto by kind of element; the 16-bit floats keep their bits in half_val
_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
    "uint32": "uint32_val", "uint64": "uint64_val", "string": "string_val",
    "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val",
    "bfloat16": "half_val", "int32": "int_val", "int16": "int_val", "int8": "int_val",
    "uint8": "int_val", "uint16": "int_val",
    **dict.fromkeys(("qint8", "quint8", "qint16", "quint16", "qint32"), "int_val"),
}  # fmt: skip

_LARGEST = 2**31 - 1  # bytes


def shape_to_proto(shape: Shape) -> pb.TensorShapeProto:
    """Return a TensorShapeProto."""
    if shape is None:
        return pb.TensorShapeProto(unknown_rank=True)
    dims = [pb.TensorShapeProto.Dim(size=-1 if dim is None else dim) for dim in shape]
    return pb.TensorShapeProto(dim=dims)


def make_tensor_proto(
    values: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> pb.TensorProto:
    """Return a TensorProto of `values`; see `convert.to_array` for the first arguments.

    Args:
      values: a number, string, nested list or array.
      dtype: wanted type.
      shape: wanted shape.
      verify_shape: whether `values` must have `shape` itself; TypeError if they have not.
      allow_broadcast: taken and not needed.
    """
    if verify_shape and shape is not None and np.shape(values) != tuple(shape):
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {np.shape(values)}.")
    proto = pb.TensorProto()
    fill_tensor(proto, to_array(values, dtype, shape))
    return proto


def fill_tensor(proto: pb.TensorProto, array: Array) -> None:
    """Write an array into an empty TensorProto, as `make_tensor_proto` says."""
    dtype = dtypes.as_dtype(array.dtype)
    if array.size != 1 or dtype is dtypes.string:
        _fill_content(proto, array)
        return
    _fill_form(proto, array)
    getattr(proto, _FIELDS[dtype.name]).extend(_numbers(dtype, array.reshape(1)))


def with_content(array: Array) -> pb.TensorProto:
    """Return a TensorProto whose elements, but for strings, stand in `tensor_content`."""
    proto = pb.TensorProto()
    _fill_content(proto, array)
    return proto


def _fill_content(proto: pb.TensorProto, array: Array) -> None:
    _fill_form(proto, array)
    if array.dtype == object:
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = array.tobytes()


def _fill_form(proto: pb.TensorProto, array: Array) -> None:
    proto.dtype = dtypes.as_dtype(array.dtype).as_datatype_enum
    proto.tensor_shape.SetInParent()
    for dim in array.shape:
        proto.tensor_shape.dim.add(size=dim)


def _numbers(dtype: DType, flat: Array) -> list[TensorValue]:
    """Return elements as a typed field holds them."""
    if dtype.name in ("float16", "bfloat16"):
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(dtype.real_dtype.as_numpy_dtype)
    elif dtype.is_quantized:
        flat = flat[dtype.name]
    return list(flat.tolist())


def make_ndarray(tensor: pb.TensorProto) -> Array:
    """Return the array in a TensorProto.

    Raises:
      InvalidArgumentError: its shape is not full, or its content does not fill it.
    """
    dtype = dtypes.as_dtype(tensor.dtype).base_dtype
    shape = as_shape(tensor.tensor_shape)
    count = shapes.num_elements(shape)
    if count is None or shape is None:
        raise InvalidArgumentError(f"a tensor's shape must be full, but is {shapes.show(shape)}")
    content = tensor.tensor_content  # each look makes a copy
    if content:
        flat = _content(dtype, content, count)
    else:
        flat = _typed(dtype, tensor, count)
    if flat.size != count:
        raise InvalidArgumentError(
            f"a tensor of shape {shapes.show(shape)} has {count} elements, got {flat.size}"
        )
    try:
        return flat.reshape(shape)
    except ValueError:  # too many dimensions, or too long ones beside one of size 0
        raise InvalidArgumentError(f"no tensor can have {len(shape)} dimensions as here") from None


def _content(dtype: DType, content: bytes, count: int) -> Array:
    if dtype is dtypes.string:
        return strings_from_content(content, count)
    if len(content) % dtype.size:
        raise InvalidArgumentError(f"{len(content)} bytes are no whole number of {dtype.name}s")
    flat = np.frombuffer(content, dtype.as_numpy_dtype)
    return as_truth(flat) if dtype is dtypes.bool_ else flat


def as_truth(flat: Array) -> Array:
    """Return bools of which each is the byte 0 or 1; nobody promises what others do."""
    numbers = flat.view(np.uint8)
    return flat if numbers.max(initial=0) < 2 else numbers != 0


def strings_from_content(content: bytes, count: int) -> Array:
    """Return the strings in a tensor_content: all lengths as varints, then all bytes.

    Args:
      content: of one tensor.
      count: number of strings.

    Raises:
      InvalidArgumentError: the content does not hold that many, or more.
    """
    lengths, at = _lengths(content, count)
    if at + sum(lengths) != len(content):
        raise InvalidArgumentError(
            f"{count} strings of {sum(lengths)} bytes in all, and their lengths in {at} bytes, do "
            f"not make the {len(content)} bytes of content"
        )
    flat = np.empty(count, object)
    flat[:] = [content[end - length : end] for length, end in _ends(lengths, at)]
    return flat


def _ends(lengths: Sequence[int], at: int) -> Iterator[tuple[int, int]]:
    return zip(lengths, islice(accumulate(lengths, initial=at), 1, None), strict=True)


def _lengths(content: bytes, count: int) -> tuple[list[int], int]:
    """Return the `count` varints that `content` begins with, and where they end."""
    try:
        return read_varints(content, 0, count)
    except (IndexError, ValueError):
        raise InvalidArgumentError(
            f"{len(content)} bytes of content do not begin with the lengths of {count} strings"
        ) from None


def _typed(dtype: DType, proto: pb.TensorProto, count: int) -> Array:
    if dtype.name not in _FIELDS:
        raise InvalidArgumentError(f"a {dtype.name} in a message is no array")
    values = getattr(proto, _FIELDS[dtype.name])
    if dtype is dtypes.string:
        flat = np.empty(len(values), object)
        flat[:] = list(values)
    elif dtype.name in ("float16", "bfloat16"):
        flat = np.array(values, np.uint16).view(dtype.as_numpy_dtype)
    elif dtype.is_complex:
        flat = np.array(values, dtype.real_dtype.as_numpy_dtype).view(dtype.as_numpy_dtype)
    else:
        flat = np.array(values, dtype.as_numpy_dtype)
    return _spread(flat, dtype, count)


def _spread(flat: Array, dtype: DType, count: int) -> Array:
    if flat.size >= count:
        return flat
    if count * flat.itemsize > _LARGEST:
        raise InvalidArgumentError(
            f"{flat.size} values cannot stand for {count} elements: a tensor that is written as "
            f"a message has {_LARGEST} bytes at most; use tf.fill or tf.zeros"
        )
    if not flat.size:
        blank: Any = b"" if dtype is dtypes.string else 0
        return np.full(count, blank, dtype.as_numpy_dtype)
    return np.concatenate([flat, np.full(count - flat.size, flat[-1], flat.dtype)])


# Attributes that TensorFlow 1.15 does not know, and what it does all the same.
_LATER: dict[str, dict[str, Any]] = {
    "AssignVariableOp": {"validate_shape": False},
    "DirectedInterleaveDataset": {"stop_on_empty_dataset": False},
    "SlidingWindowDataset": {"drop_remainder": True},
    "TensorListGetItem": {"Tshape": dtypes.int32},
    "TensorListSetItem": {"resize_if_index_out_of_bounds": False},
}


def said_attrs(op: str, attrs: Mapping[str, AttrValue]) -> Mapping[str, AttrValue]:
    """Return the attributes that a message says of a node, so that every version reads it."""
    later = _LATER.get(op)
    if later is None:
        return attrs
    return {key: value for key, value in attrs.items() if key not in later or value != later[key]}


def attr_to_proto(value: AttrValue) -> pb.AttrValue:
    """Return an AttrValue of a plain attribute value."""
    proto = pb.AttrValue()
    fill_attr(proto, value)
    return proto


def fill_attr(proto: pb.AttrValue, value: AttrValue) -> None:
    """Write a plain attribute value into an empty AttrValue."""
    if isinstance(value, np.ndarray):
        fill_tensor(proto.tensor, to_array(value))
        return
    if isinstance(value, list):
        proto.list.SetInParent()
        for each in value:
            field, content = _tagged(each)
            part = getattr(proto.list, field)
            part.add().CopyFrom(content) if field in _MESSAGES else part.append(content)
        return
    field, content = _tagged(value)
    if field in _MESSAGES:
        getattr(proto, field).CopyFrom(content)
    else:
        setattr(proto, field, content)


_MESSAGES = ("shape", "tensor", "func")  # fields that hold messages


def _tagged(value: AttrValue) -> tuple[str, AttrValue]:
    """Return the field of AttrValue that holds `value`, and what goes there."""
    match value:
        case bool():
            return "b", value
        case int():
            return "i", value
        case float():
            return "f", value
        case bytes():
            return "s", value
        case DType():
            return "type", value.as_datatype_enum
        case TensorShape():
            return "shape", shape_to_proto(value.as_tuple())
        case np.ndarray():
            return "tensor", make_tensor_proto(value)
        case NameAttrList(name, attrs):
            function = pb.NameAttrList(name=name)
            for key, each in attrs.items():
                function.attr[key].CopyFrom(attr_to_proto(each))
            return "func", function
        case Given(name):
            return "placeholder", name
    raise TypeError(f"{value!r} is not an attribute's value")


_READERS: dict[str, Any] = {
    "s": bytes,
    "i": int,
    "f": float,
    "b": bool,
    "type": lambda number: dtypes.as_dtype(number).base_dtype,
    "shape": TensorShape,
    "tensor": make_ndarray,
    "func": lambda function: NameAttrList(
        function.name, {key: attr_from_proto(value) for key, value in function.attr.items()}
    ),
    "placeholder": Given,
}


# Attributes that name nodes, devices and resources, and so are text.
_NAMES = (
    "_class", "container", "shared_name", "frame_name", "tensor_name", "send_device", "recv_device",
)  # fmt: skip


def check_names(attrs: Mapping[str, AttrValue]) -> None:
    """Check those attributes of a node that name something.

    Raises:
      TypeError: one is no text.
      ValueError: one is not UTF-8.
    """
    for name in _NAMES:
        if attrs.get(name) is not None:
            _check_text(name, attrs[name])


def _check_text(attribute: str, value: AttrValue) -> None:
    wanted = "list of strings" if attribute == "_class" else "string"
    if isinstance(value, list) != (attribute == "_class"):
        raise TypeError(f"attribute {attribute!r} is {value!r:.200}, no {wanted}")
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, bytes | Given):
            raise TypeError(f"attribute {attribute!r} is {value!r:.200}, no {wanted}")
        try:
            each.decode() if isinstance(each, bytes) else None
        except UnicodeDecodeError:
            raise ValueError(f"attribute {attribute!r} is {each!r:.200}, not UTF-8") from None


def attr_from_proto(proto: pb.AttrValue) -> AttrValue:
    """Return the plain value of an AttrValue; None if it holds nothing."""
    field = proto.WhichOneof("value")
    if field is None:
        return None
    if field != "list":
        return _READERS[field](getattr(proto, field))
    for part, values in proto.list.ListFields():
        return [_READERS[part.name](value) for value in values]
    return []
