"""Tensors and examples in other writings: `parse_tensor`, `serialize_tensor` and their like."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import DataLossError, InvalidArgumentError
from tfdist.formats.compression import WINDOW_BITS, Inflated
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.tensor_proto import make_ndarray, with_content
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.strings.join_substr import mapped
from tfdist.protos import pb

__all__ = ["decode_compressed", "decode_json_example", "parse_tensor", "serialize_tensor"]

_PIECE = 1 << 20  # bytes

PARSE_TENSOR = OpDef(
    "ParseTensor(serialized: string) -> output: out_type [out_type: type]"
).not_differentiable()


@PARSE_TENSOR.shape
def parse_tensor_shape(serialized: Shape) -> Shape:
    shapes.require_rank(serialized, "serialized", 0, 0)
    return None


@PARSE_TENSOR.kernel
def parse_tensor_kernel(serialized: Any, *, out_type: DType) -> Any:
    if np.ndim(serialized):
        raise InvalidArgumentError(
            f"Expected `serialized` to be a scalar, got shape: {list(np.shape(serialized))}"
        )
    text = as_elements(serialized)[()]
    try:
        proto = pb.parse(pb.TensorProto, text)
    except ValueError as error:
        raise InvalidArgumentError(
            f"Could not parse `serialized` as TensorProto: {error}"
        ) from None
    actual = dtypes.as_dtype(proto.dtype) if proto.dtype else None
    if actual is not out_type:
        got = actual.name if actual else "no type"
        raise InvalidArgumentError(
            f"Type mismatch between parsed tensor ({got}) and dtype ({out_type.name})"
        )
    array = make_ndarray(proto)
    return array[()] if not array.ndim else array


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """Return the tensor in a serialized `TensorProto`: `tf.io.parse_tensor`.

    Args:
      serialized: a scalar string.
      out_type: its type.
      name: of the node.

    Raises:
      InvalidArgumentError: it is no TensorProto, or of another type (when it runs).

    Example:
      >>> Session().run(parse_tensor(serialize_tensor([1.0, 2.0]), "float32"))
      array([1., 2.], dtype=float32)
    """
    tensor: Tensor = raw.ParseTensor(serialized, out_type=out_type, name=name)
    return tensor


SERIALIZE_TENSOR = OpDef(
    "SerializeTensor(tensor: T) -> serialized: string [T: type]"
).not_differentiable()


@SERIALIZE_TENSOR.shape
def serialize_tensor_shape(tensor: Shape) -> Shape:
    return ()


@SERIALIZE_TENSOR.kernel
def serialize_tensor_kernel(tensor: Any) -> bytes:
    data: bytes = with_content(np.asarray(as_elements(tensor))).SerializeToString()
    return data


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """Return a tensor as a serialized `TensorProto`: `tf.io.serialize_tensor`.

    Args:
      tensor: of any type but resource and variant.
      name: of the node.
    """
    serialized: Tensor = raw.SerializeTensor(tensor, name=name)
    return serialized


DECODE_JSON_EXAMPLE = OpDef(
    "DecodeJSONExample(json_examples: string) -> binary_examples: string"
).not_differentiable()


@DECODE_JSON_EXAMPLE.shape
def decode_json_example_shape(json_examples: Shape) -> Shape:
    return json_examples


@DECODE_JSON_EXAMPLE.kernel
def decode_json_example_kernel(json_examples: Any) -> Any:
    return mapped(_from_json, json_examples)


def _from_json(text: bytes) -> bytes:
    try:
        data: bytes = pb.from_json(pb.Example, text).SerializeToString()
    except ValueError as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None
    return data


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Return examples that are written in JSON as serialized `Example`s.

    Args:
      json_examples: strings of any shape, in JSON's form of protobuf.
      name: of the node.

    Raises:
      InvalidArgumentError: one is no example in JSON (when it runs).
    """
    serialized: Tensor = raw.DecodeJSONExample(json_examples, name=name)
    return serialized


DECODE_COMPRESSED = OpDef(
    "DecodeCompressed(bytes: string) -> output: string [compression_type: string = '']"
).not_differentiable()


@DECODE_COMPRESSED.shape
def decode_compressed_shape(bytes: Shape) -> Shape:
    return bytes


@DECODE_COMPRESSED.kernel
def decode_compressed_kernel(ctx: Any, bytes: Any, *, compression_type: bytes) -> Any:
    name = compression_type.decode()
    if not name:
        return bytes
    if name not in WINDOW_BITS:
        raise InvalidArgumentError(
            f"Only ZLIB, GZIP or NONE are supported compressions, got {name!r}"
        )
    return mapped(lambda data: _inflated(data, name, ctx.check), bytes)


def _inflated(data: bytes, compression: str, check: Callable[[], object]) -> bytes:
    """Return what was compressed; piece by piece, for nobody knows how much it will be."""
    reader = io.BufferedReader(Inflated(io.BytesIO(data), compression))
    pieces, size = io.BytesIO(), 0
    try:
        while piece := reader.read(_PIECE):
            check()
            size += len(piece)
            check_room([size], np.uint8)
            pieces.write(piece)
        return pieces.getvalue()
    except DataLossError as error:
        raise DataLossError(f"decode_compressed: {error.message}") from None


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Return strings that are compressed, inflated: `tf.io.decode_compressed`.

    Args:
      bytes: strings of any shape.
      compression_type: "", "ZLIB" or "GZIP".
      name: of the node.

    Raises:
      DataLossError: one is not compressed so (when it runs).
    """
    inflated: Tensor = raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)
    return inflated
