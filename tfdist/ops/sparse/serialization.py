"""Sparse tensors as tensors of three: strings that are serialized, or variants that hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.varints import varints
from tfdist.errors import InternalError, InvalidArgumentError
from tfdist.graph import variants
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.tensor_proto import make_ndarray, with_content
from tfdist.graph.variants import Content, Form
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.sparse.components import (
    Parts,
    as_one,
    brackets,
    check_ranks,
    require_ranks,
    rows_of,
    wrong_type,
)
from tfdist.ops.sparse.sparse_tensor import SparseTensor, as_sparse
from tfdist.protos import pb

__all__ = [
    "deserialize_many_sparse", "deserialize_sparse", "serialize_many_sparse", "serialize_sparse",
]  # fmt: skip


class HeldTensor:
    """The value of a variant that holds a tensor.

    Attributes:
      tensor: what it holds.
      shape: of the variant, a scalar.
    """

    __slots__ = ("tensor",)

    shape = ()

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def zeros_like(self) -> HeldTensor:
        """Raise InvalidArgumentError: there are no zeros of it."""
        raise InvalidArgumentError(f"there are no zeros of {self!r}")

    def __repr__(self) -> str:
        return f"<variant with a tensor of shape {brackets(np.shape(self.tensor))}>"


def _content_of(held: HeldTensor) -> Content:
    return Content(b"", [held.tensor])


def _held_of(content: Content) -> HeldTensor:
    if len(content.tensors) != 1:
        raise InvalidArgumentError(f"a variant holds {len(content.tensors)} tensors instead of one")
    return HeldTensor(content.tensors[0])


variants.register(HeldTensor, Form("tensorflow::Tensor", _content_of, _held_of))


# to messages

_INPUTS = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_MADE = "serialized_sparse: out_type [T: type; out_type: type = string {string,variant}]"

SERIALIZE = OpDef(f"SerializeSparse({_INPUTS}) -> {_MADE}").not_differentiable()
SERIALIZE_MANY = OpDef(f"SerializeManySparse({_INPUTS}) -> {_MADE}").not_differentiable()


@SERIALIZE.shape
def serialize_sparse_shape(sparse_indices: Shape, sparse_values: Shape, sparse_shape: Shape) -> Any:
    require_ranks(sparse_indices, sparse_values, sparse_shape)
    return (3,)


@SERIALIZE_MANY.shape
def serialize_many_sparse_shape(
    sparse_indices: Shape, sparse_values: Shape, sparse_shape: Shape
) -> Any:
    require_ranks(sparse_indices, sparse_values, sparse_shape)
    return (None, 3)


@SERIALIZE.kernel
def serialize_sparse_kernel(
    sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, out_type: DType
) -> Any:
    check_ranks(sparse_indices, sparse_values, sparse_shape)
    return _written([Parts(sparse_indices, sparse_values, sparse_shape)], out_type)[0]


@SERIALIZE_MANY.kernel
def serialize_many_sparse_kernel(
    sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, out_type: DType
) -> Any:
    check_ranks(sparse_indices, sparse_values, sparse_shape)
    return _written(rows_of(Parts(sparse_indices, sparse_values, sparse_shape)), out_type)


def _written(rows: list[Parts], out_type: DType) -> Any:
    """Return sparse tensors as an array [rows, 3]."""
    write: Callable[[Any], Any] = HeldTensor if out_type is dtypes.variant else _serialized
    table = np.empty((len(rows), 3), object)
    for place, row in enumerate(rows):
        table[place] = [write(part) for part in row]
    return table


def _serialized(array: Any) -> bytes:
    """Return a TensorProto's bytes; of strings too the content stands in `tensor_content`."""
    proto = with_content(array)
    if array.dtype == object:
        texts = array.reshape(-1).tolist()
        proto.ClearField("string_val")
        proto.tensor_content = b"".join([varints(map(len, texts)), *texts])
    data: bytes = proto.SerializeToString()
    return data


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Any:
    """Return a SparseTensor as three: `tf.io.serialize_sparse`.

    Args:
      sp_input: a SparseTensor or SparseTensorValue.
      name: of the node.
      out_type: string for serialized `TensorProto`s, or variant.

    Returns:
      [3]: indices, values and shape.

    Raises:
      TypeError: `sp_input` is not sparse.

    Example:
      >>> three = serialize_sparse(SparseTensor([[0, 1]], [5.0], [2, 3]))
      >>> Session().run(parse_tensor(three[1], "float32"))
      array([5.], dtype=float32)
    """
    sparse = as_sparse(sp_input)
    return raw.SerializeSparse(
        sparse.indices, sparse.values, sparse.dense_shape, out_type=out_type, name=name
    )


def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Any:
    """Return the rows of a SparseTensor as three each: `tf.io.serialize_many_sparse`.

    Args:
      sp_input: a SparseTensor or SparseTensorValue of rank 2 or more, its indices in order.
      name: of the node.
      out_type: string for serialized `TensorProto`s, or variant.

    Returns:
      [rows, 3]: indices, values and shape of each row.

    Raises:
      TypeError: `sp_input` is not sparse.
      InvalidArgumentError: its rank is 1, or its indices are not in order (when it runs).

    Example:
      >>> rows = serialize_many_sparse(SparseTensor([[0, 1], [3, 0]], [5, 6], [4, 2]))
      >>> Session().run(deserialize_many_sparse(rows[2:], "int32")).indices
      array([[1, 0]])
    """
    sparse = as_sparse(sp_input)
    return raw.SerializeManySparse(
        sparse.indices, sparse.values, sparse.dense_shape, out_type=out_type, name=name
    )


# from messages

_FOUND = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64"

DESERIALIZE = OpDef(
    f"DeserializeSparse(serialized_sparse: Tserialized) -> {_FOUND} "
    "[dtype: type; Tserialized: type = string {string,variant}]"
).not_differentiable()
DESERIALIZE_MANY = OpDef(
    f"DeserializeManySparse(serialized_sparse: string) -> {_FOUND} [dtype: type]"
).not_differentiable()

_UNKNOWN: list[Shape] = [(None, None), (None,), (None,)]


@DESERIALIZE.shape
def deserialize_sparse_shape(serialized_sparse: Shape) -> list[Shape]:
    if serialized_sparse == ():
        raise InvalidArgumentError("serialized_sparse must have rank 1 at least, but is a scalar")
    if serialized_sparse is not None:
        shapes.merge_dim(serialized_sparse[-1], 3, "the last dimension of serialized_sparse and 3")
    return _UNKNOWN


@DESERIALIZE_MANY.shape
def deserialize_many_sparse_shape(serialized_sparse: Shape) -> list[Shape]:
    shapes.require_rank(serialized_sparse, "serialized_sparse", 2, 2)
    return deserialize_sparse_shape(serialized_sparse)


@DESERIALIZE.kernel
@DESERIALIZE_MANY.kernel
def deserialize_sparse_kernel(serialized_sparse: Any, *, dtype: DType) -> Any:
    shape = np.shape(serialized_sparse)
    if not shape:
        raise InvalidArgumentError("Serialized sparse should have non-zero rank []")
    if shape[-1] != 3:
        raise InvalidArgumentError(
            f"Serialized sparse should have 3 as the last dimension {brackets(shape)}"
        )
    if not serialized_sparse.size:
        raise InvalidArgumentError(
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{brackets(shape)}"
        )
    rows: list[Parts] = []
    for place, three in enumerate(serialized_sparse.reshape(-1, 3)):
        rows.append(_checked(Parts(*map(_read, three)), place, dtype, rows))
    return as_one(rows, shape[:-1])


def _read(held: Any) -> Any:
    """Return the array in a string or variant."""
    if isinstance(held, HeldTensor):
        return as_elements(held.tensor)
    try:
        return make_ndarray(pb.parse(pb.TensorProto, held))
    except (InvalidArgumentError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"Could not parse serialized proto: {error}") from None


def _checked(parts: Parts, place: int, dtype: DType, before: list[Parts]) -> Parts:
    """Return one row as it is; InvalidArgumentError if it is none, or unlike those before."""
    indices, values, dense_shape = parts
    _check_form(parts, place)
    if len(indices) != len(values):
        raise InvalidArgumentError(
            f"Expected row counts of SparseTensor[{place}].indices and SparseTensor[{place}]."
            f"values to match but they do not: {len(indices)} vs. {len(values)}"
        )
    if indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError(
            f"Expected column counts of SparseTensor[{place}].indices to match size of "
            f"SparseTensor[{place}].shape but they do not: {indices.shape[1]} vs. "
            f"{len(dense_shape)}"
        )
    found = dtypes.as_dtype(values.dtype)
    if found is not dtype:
        raise wrong_type(dtype, place, found)
    if before and len(before[-1].dense_shape) != len(dense_shape):
        raise InvalidArgumentError(
            "Inconsistent shape across SparseTensors: rank prior to "
            f"SparseTensor[{place}] was: {len(before[-1].dense_shape)} but rank of "
            f"SparseTensor[{place}] is: {len(dense_shape)}"
        )
    return parts


def _check_form(parts: Parts, place: int) -> None:
    for column, what in enumerate(("an index matrix", "a values vector", "a shape vector")):
        array = parts[column]
        if array.ndim != (1 if column else 2):
            raise InvalidArgumentError(
                f"Expected serialized_sparse[{place}, {column}] to represent {what} but received "
                f"shape {brackets(array.shape)}"
            )
        if column != 1 and array.dtype != np.int64:
            raise InternalError(
                f"Output {column} of type {array.dtype} does not match declared output type int64"
            )


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return what `serialize_sparse` made three of as a SparseTensor again.

    Args:
      serialized_sparse: strings or variants [..., 3].
      dtype: of the elements.
      rank: of each, if it is known.
      name: of the node.

    Returns:
      A SparseTensor; of several, its first axes number them, and the others are as long as those
      of the longest.

    Raises:
      InvalidArgumentError: they are not serialized sparse tensors of that type and one rank (when
        it runs).
    """
    return _with_rank(raw.DeserializeSparse(serialized_sparse, dtype=dtype, name=name), rank)


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return what `serialize_many_sparse` made as one SparseTensor: `tf.io`'s too.

    Args:
      serialized_sparse: strings [rows, 3].
      dtype: of the elements.
      rank: of the result, if it is known.
      name: of the node.

    Returns:
      A SparseTensor whose first axis numbers the rows, and whose others are as long as those of
      the longest.

    Raises:
      InvalidArgumentError: they are not serialized sparse tensors of that type and one rank (when
        it runs).
    """
    return _with_rank(raw.DeserializeManySparse(serialized_sparse, dtype=dtype, name=name), rank)


def _with_rank(parts: Any, rank: int | None) -> SparseTensor:
    indices, values, dense_shape = parts
    indices.set_shape([None, rank])
    dense_shape.set_shape([rank])
    return SparseTensor(indices, values, dense_shape)
