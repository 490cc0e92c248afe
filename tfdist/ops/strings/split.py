"""Strings split into parts, which stand in a sparse or ragged tensor: a row for each string.

Source: TF 1.15 API documentation, tf.string_split and tf.strings.split.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.ragged.ragged_tensor import RaggedTensor
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.strings.ragged_results import as_strings, in_rows, split_rows

__all__ = ["string_split"]

_PARTS = "indices: int64, values: string, shape: int64"
STRING_SPLIT = OpDef(
    f"StringSplit(input: string, delimiter: string) -> {_PARTS} [skip_empty: bool = True]"
).not_differentiable()
STRING_SPLIT_V2 = OpDef(
    f"StringSplitV2(input: string, sep: string) -> {_PARTS} [maxsplit: int = -1]"
).not_differentiable()


@STRING_SPLIT.shape
def string_split_shape(input: Shape, delimiter: Shape) -> list[Shape]:
    return _shapes(input, delimiter, "delimiter")


@STRING_SPLIT_V2.shape
def string_split_v2_shape(input: Shape, sep: Shape) -> list[Shape]:
    return _shapes(input, sep, "sep")


def _shapes(input: Shape, separator: Shape, name: str) -> list[Shape]:
    shapes.require_rank(input, "input", 1)
    shapes.require_rank(separator, name, 0)
    return [(None, 2), (None,), (2,)]


@STRING_SPLIT.kernel
def string_split_kernel(input: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    """Split at each character of `delimiter`, or into bytes if there is none.

    An empty string has no parts, not even an empty one.
    """
    characters = _checked(input, delimiter, "delimiter")
    if not characters:
        rows = [[text[i : i + 1] for i in range(len(text))] for text in input.tolist()]
    elif len(characters) == 1:
        rows = [text.split(characters) if text else [] for text in input.tolist()]
    else:
        split = re.compile(b"[" + re.escape(characters) + b"]").split
        rows = [split(text) if text else [] for text in input.tolist()]
    return _in_rows([list(filter(None, row)) for row in rows] if skip_empty else rows)


@STRING_SPLIT_V2.kernel
def string_split_v2_kernel(input: Any, sep: Any, *, maxsplit: int) -> Any:
    """Split at each `sep`, or at white space if there is none."""
    separator = _checked(input, sep, "sep") or None
    rows = [text.split(separator, maxsplit) for text in input.tolist()]
    if separator is None and maxsplit > 0:  # what is left is a part, as in TensorFlow
        rows = [[*row, b""] if len(row) == maxsplit else row for row in rows]
    return _in_rows(rows)


def _checked(input: Any, separator: Any, name: str) -> bytes:
    shapes.require_rank(np.shape(input), "input", 1)
    shapes.require_rank(np.shape(separator), name, 0)
    return as_elements(separator).item()  # type: ignore[no-any-return]


def _in_rows(rows: Sequence[Sequence[bytes]]) -> tuple[Any, Any, Any]:
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(counts.sum())
    values = np.empty(total, object)
    values[:] = list(chain.from_iterable(rows))
    indices = np.empty((total, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices, values, np.array([len(rows), counts.max(initial=0)])


def string_split(
    source: Any, sep: str | None = None, skip_empty: bool = True, delimiter: Any = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> Any:  # fmt: skip
    """Return the parts of strings, split at any of some characters.

    Args:
      source: strings [n].
      sep: the characters, a space by default; "" splits into bytes.
      skip_empty: whether empty parts are left out.
      delimiter: see `sep`; may be a tensor.
      result_type: "SparseTensor" or "RaggedTensor".
      name: of the scope of the nodes.

    Returns:
      A SparseTensor [n, most parts], or a RaggedTensor.

    Raises:
      ValueError: both `sep` and `delimiter` are given, or the result is to be of another kind.

    Example:
      >>> Session().run(string_split(["hello world", "a"]).values).tolist()
      [b'hello', b'world', b'a']
    """
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'")
    _check_result(result_type)
    separator = sep if sep is not None else " " if delimiter is None else delimiter
    with scopes.name_scope(name, "StringSplit", [source]):
        separator = convert_to_tensor(separator, dtypes.string)
        source = convert_to_tensor(source, dtypes.string)
        parts = raw.StringSplit(source, separator, skip_empty=skip_empty)
        return SparseTensor(*parts) if result_type == "SparseTensor" else split_rows(parts)[0]


def split(
    input: Any = None, sep: str | None = None, maxsplit: int = -1,
    result_type: str = "SparseTensor", source: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the parts of strings, split at a string.

    Args:
      input: strings of any rank; of rank 1 or more for a SparseTensor; an older name is `source`.
      sep: the string to split at; white space by default.
      maxsplit: how often a string is split at most; -1 for any number.
      result_type: "SparseTensor" or "RaggedTensor".
      source: see `input`.
      name: of the scope of the nodes.

    Returns:
      A SparseTensor of the shape of `input`, then the most parts; or a RaggedTensor.

    Raises:
      ValueError: there is nothing to split, or the result is to be of another kind.

    Example:
      >>> Session().run(strings.split(["hello world", "a  b"]).values).tolist()
      [b'hello', b'world', b'a', b'b']
    """
    _check_result(result_type)
    with scopes.name_scope(name, "StringSplit", [input]):
        texts = as_strings(source if input is None else input)
        separator = convert_to_tensor(sep or "", dtypes.string)
        if result_type == "RaggedTensor":
            return in_rows(
                texts,
                lambda flat: split_rows(raw.StringSplitV2(flat, separator, maxsplit=maxsplit)),
            )[0]
        return _sparse_parts(texts, separator, maxsplit)


def _sparse_parts(texts: Any, separator: Tensor, maxsplit: int) -> SparseTensor:
    rank = texts.shape.ndims
    if rank == 0 or isinstance(texts, RaggedTensor):
        raise ValueError(f"split takes strings of rank 1 or more, not {texts}")
    rank = rank or 1  # one that is not known is 1: the node says so when it runs
    flat = texts if rank == 1 else raw.Reshape(texts, [-1])
    parts = raw.StringSplitV2(flat, separator, maxsplit=maxsplit)
    return SparseTensor(*(parts if rank == 1 else _reshaped(parts, texts)))


def _reshaped(parts: Any, texts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return parts whose first index is that of strings in a row, where these stand in `texts`."""
    indices, values, shape = parts
    outer = raw.Shape(texts, out_type=dtypes.int64)
    whole = raw.ConcatV2([outer, raw.Slice(shape, [1], [1])], 0)
    moved, _ = raw.SparseReshape(indices, shape, whole)
    return moved, values, whole


def _check_result(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Return the bytes of strings, as strings of length 1.

    Args:
      input: strings of any rank.
      name: of the scope of the nodes.

    Returns:
      A tensor for a scalar, else a RaggedTensor.

    Example:
      >>> Session().run(strings.bytes_split("abc")).tolist()
      [b'a', b'b', b'c']
    """
    with scopes.name_scope(name, "StringsByteSplit", [input]):

        def to_rows(flat: Tensor) -> list[RaggedTensor]:
            return split_rows(raw.StringSplit(flat, "", skip_empty=False))

        return in_rows(as_strings(input), to_rows)[0]


# joined by segments

UNSORTED_SEGMENT_JOIN = OpDef(
    "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> "
    "output: string [separator: string = ''; Tindices: type {index}; "
    "Tnumsegments: type = int32 {index}]"
).not_differentiable()


@UNSORTED_SEGMENT_JOIN.shape
def unsorted_segment_join_shape(
    inputs: Shape, segment_ids: Shape, num_segments: Shape, *, num_segments_value: Any
) -> Shape:
    shapes.require_rank(num_segments, "num_segments", 0)
    if inputs is None or segment_ids is None:
        return None
    rank = len(segment_ids)
    shapes.merge(inputs[:rank], segment_ids, "the shapes of inputs and segment_ids")
    count = None if num_segments_value is None else int(num_segments_value)
    if count is not None and count < 0:
        raise InvalidArgumentError(f"num_segments must be non-negative but is {count}")
    return (count, *inputs[rank:])


@UNSORTED_SEGMENT_JOIN.kernel
def unsorted_segment_join_kernel(
    inputs: Any, segment_ids: Any, num_segments: Any, *, separator: bytes
) -> Any:
    texts, ids = as_elements(inputs), as_elements(segment_ids)
    if not ids.ndim:
        raise InvalidArgumentError("Segment_id cannot have rank 0")
    shape = unsorted_segment_join_shape(texts.shape, ids.shape, (), num_segments_value=num_segments)
    count = int(num_segments)
    if ids.size and not 0 <= ids.min() <= ids.max() < count:
        raise InvalidArgumentError(
            "segment_ids are not allowed to exceed num_segments or to have negative values: they "
            f"are from {ids.min()} to {ids.max()}, and there are {count} segments"
        )
    check_room(shape or (), np.object_)
    rows = texts.reshape(ids.size, -1)
    order = np.argsort(ids.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(ids.reshape(-1), minlength=count))
    parts = np.split(rows[order], ends[:-1]) if count else []
    output = np.empty((count, rows.shape[1]), object)
    for segment, part in enumerate(parts):
        output[segment] = [separator.join(column) for column in part.T.tolist()]
    return output.reshape(shape)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Return the strings of each segment joined to one.

    Args:
      inputs: strings [d0, ..., dn].
      segment_ids: the segment of each, integers [d0, ..., dm] from 0 to `num_segments` - 1.
      num_segments: how many there are.
      separator: what stands between.
      name: of the node.

    Returns:
      Strings [num_segments, dm+1, ..., dn].

    Raises:
      InvalidArgumentError: there is no such segment (when it runs).

    Example:
      >>> join = strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, ":")
      >>> Session().run(join).tolist()
      [b'b', b'a:c']
    """
    attrs = {"separator": separator, "name": name}
    return raw.UnsortedSegmentJoin(inputs, segment_ids, num_segments, **attrs)  # type: ignore[no-any-return]
