"""RaggedTensor: a tensor whose rows are of different lengths.

It is two tensors: the values of all rows, one after the other, and the splits between them. The
values may be ragged themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base import dtypes, lazy
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.composites import COMPOSITES, Composite
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import OPERATORS, Tensor
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.graph.stacks import session_for
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.gather import boolean_mask, gather
from tfdist.ops.array.range import range as range_
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import rank, shape
from tfdist.ops.checks.assertions import assert_equal, assert_non_negative
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_any, reduce_max
from tfdist.ops.math.segments import unsorted_segment_sum
from tfdist.ops.ragged.ragged_values import RaggedTensorValue
from tfdist.ops.sparse.sparse_tensor import SparseTensor, as_sparse

__all__ = ["RaggedTensor"]

# Operators that take one element after the other.
ELEMENTWISE = tuple(name for name in OPERATORS if name not in ("__matmul__", "__rmatmul__"))


@lazy.supplied_by("tfdist.ops.ragged.operators", "__getitem__", *ELEMENTWISE)
class RaggedTensor:
    """A tensor whose rows are of different lengths; made by `tf.ragged.constant` or `from_...`.

    Args:
      values: of all rows: a tensor, or a RaggedTensor.
      row_splits: int32 or int64 [rows + 1], where each row begins, and the end.

    Example:
      >>> words = RaggedTensor.from_row_lengths(["a", "b", "c"], [2, 0, 1])
      >>> Session().run(words.to_tensor("-")).tolist()
      [[b'a', b'b'], [b'-', b'-'], [b'c', b'-']]
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        self._values = values if isinstance(values, RaggedTensor) else convert_to_tensor(values)
        self._row_splits = convert_to_tensor(row_splits)
        self._row_splits.shape.with_rank(1)

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values that begin where `row_splits` says, the last of which is the end.

        Args:
          values: a tensor or RaggedTensor.
          row_splits: integers [rows + 1], from 0 to the number of values.
          name: of the scope.
          validate: whether the splits are checked when it runs.
        """
        with name_scope(name, "RaggedFromRowSplits", [row_splits]):
            values, splits = _values(values), _integers(row_splits, "row_splits")
            splits.shape.assert_has_rank(1)
            return cls(values, _checked(splits, values) if validate else splits)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values of the lengths given; arguments as of `from_row_splits`."""
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            values, lengths = _values(values), _integers(row_lengths, "row_lengths")
            splits = concat([zeros([1], lengths.dtype), cumsum(lengths)], 0)
            return cls(values, _checked(splits, values) if validate else splits)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values that begin at the places given; see `from_row_splits`."""
        with name_scope(name, "RaggedFromRowStarts", [row_starts]):
            values, starts = _values(values), _integers(row_starts, "row_starts")
            splits = concat([starts, reshape(_count(values, starts.dtype), [1])], 0)
            return cls(values, _checked(splits, values) if validate else splits)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values that end before the places given; see `from_row_splits`."""
        with name_scope(name, "RaggedFromRowLimits", [row_limits]):
            values, limits = _values(values), _integers(row_limits, "row_limits")
            splits = concat([zeros([1], limits.dtype), limits], 0)
            return cls(values, _checked(splits, values) if validate else splits)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:  # fmt: skip
        """Return rows of values, each of which tells its row.

        Args:
          values: a tensor or RaggedTensor.
          value_rowids: integers, one a value, in order.
          nrows: how many rows; one more than the last id by default.
          name: of the scope.
          validate: whether the splits are checked when it runs.
        """
        with name_scope(name, "RaggedFromValueRowIds", [value_rowids, nrows]):
            values, ids = _values(values), _integers(value_rowids, "value_rowids")
            splits = splits_of(ids, nrows)
            return cls(values, _checked(splits, values) if validate else splits)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None,
        validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return values that are ragged along several axes; the splits of the outermost first."""
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            found = flat_values
            for splits in reversed(nested_row_splits):
                found = cls.from_row_splits(found, splits, validate=validate)
            return found

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None,
        validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return values that are ragged along several axes; the lengths of the outermost first."""
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            found = flat_values
            for lengths in reversed(nested_row_lengths):
                found = cls.from_row_lengths(found, lengths, validate=validate)
            return found

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
        name: str | None = None, row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:  # fmt: skip
        """Return the rows of a dense tensor, cut off at their lengths, or before their padding.

        Args:
          tensor: of rank `ragged_rank` + 1 or more.
          lengths: of the rows; all by default. A list of tensors has those of each ragged axis, the
            outermost first.
          padding: the value, of the shape of what rows hold, that ends of rows have and that is
            left out.
          ragged_rank: how many axes are to be ragged; lengths and padding are of the innermost.
          name: of the scope.
          row_splits_dtype: int32 or int64.

        Raises:
          ValueError: both lengths and padding are given, or the rank is too small.
        """
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if ragged_rank < 1:
            raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            dense = convert_to_tensor(tensor, name="tensor")
            dense.shape.with_rank_at_least(ragged_rank + 1)
            dtype = dtypes.as_dtype(row_splits_dtype)
            if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int):
                found = cls.from_tensor(dense, lengths[0], row_splits_dtype=dtype)
                if len(lengths) == 1:
                    return found
                inner = cls.from_tensor(found.values, lengths[1:], row_splits_dtype=dtype)
                return cls(inner, found.row_splits)
            sizes: Any = shape(dense, out_type=dtype)
            width = sizes[1]
            if ragged_rank > 1:
                rows = reshape(dense, concat([sizes[:1] * width, sizes[2:]], 0))
                inner = cls.from_tensor(rows, lengths, padding, ragged_rank - 1, None, dtype)
                return cls.from_row_lengths(inner, raw.Fill(sizes[:1], width), validate=False)
            if padding is not None:
                lengths = _lengths_before(dense, padding, width)
            elif lengths is None:
                lengths = raw.Fill(sizes[:1], width)
            lengths = raw.Maximum(raw.Minimum(cast(lengths, dtype), width), cast(0, dtype))
            kept = sequence_mask(lengths, width)
            return cls.from_row_lengths(boolean_mask(dense, kept), lengths, validate=False)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """Return the rows of a SparseTensor of rank 2, whose elements stand without gaps."""
        sparse = as_sparse(st_input)
        with name_scope(name, "RaggedFromSparse", [sparse.values]):
            sparse.shape.with_rank(2)
            indices: Any = cast(sparse.indices, row_splits_dtype)
            dims: Any = cast(sparse.dense_shape, row_splits_dtype)
            ids, columns, rows = indices[:, 0], indices[:, 1], dims[0]
            found = cls.from_value_rowids(sparse.values, ids, rows, validate=False)
            numbers: Any = range_(_count(sparse.values, ids.dtype))
            places = numbers - gather(found.row_starts(), ids)
            message = "SparseTensor is not right-ragged"
            with control_dependencies([assert_equal(places, columns, message=message)]):
                return cls(raw.Identity(sparse.values), found.row_splits)

    @property
    def values(self) -> Any:
        """Return the values of all rows, a tensor or RaggedTensor."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Return where each row begins, and the end."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """Return the innermost values, a tensor."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Return the splits of each ragged axis, the outermost first."""
        values = self._values
        inner = values.nested_row_splits if isinstance(values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """Return how many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """Return the type of the elements."""
        return self.flat_values.dtype

    @property
    def graph(self) -> Any:
        """Return the graph that holds the values."""
        return self.flat_values.graph

    @property
    def shape(self) -> TensorShape:
        """Return what is known of the shape; ragged axes are unknown."""
        splits = self._row_splits.shape.as_tuple()
        count = None if splits is None or splits[0] is None else splits[0] - 1
        return TensorShape([count, None]).concatenate(self._values.shape[1:])

    def consumers(self) -> list[Any]:
        """Return the operations that take the values or the splits."""
        return [*self.flat_values.consumers(), *self._row_splits.consumers()]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value, a RaggedTensorValue, in `session` or in the default session."""
        return session_for(session, self.graph).run(self, feed_dict)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return how many rows there are."""
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            sizes: Any = shape(self._row_splits, out_type=out_type or self._row_splits.dtype)
            count: Tensor = sizes[0] - 1
            return count

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return where each row begins."""
        with name_scope(name, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]  # type: ignore[index]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]  # type: ignore[index]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return how long each row is; ragged lengths of the rows of an inner axis."""
        if axis > 1:
            values = self._values
            if not isinstance(values, RaggedTensor):
                raise ValueError(f"axis {axis} is not ragged")
            return self.with_values(values.row_lengths(axis - 1, name))
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            splits: Any = self._row_splits
            return splits[1:] - splits[:-1]

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the lengths of the rows of each ragged axis, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self._row_splits]):
            splits: Any = self.nested_row_splits
            return tuple(each[1:] - each[:-1] for each in splits)

    def to_list(self) -> Any:
        """Raise ValueError: a tensor has no elements before it runs, its value has.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
            "RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return for each value the row that it stands in."""
        with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
            return ids_of(self._row_splits)

    def bounding_shape(self, axis: Any = None, name: str | None = None) -> Tensor:
        """Return the shape of the smallest box that holds all rows; one size if `axis` is given."""
        with name_scope(name, "RaggedBoundingBox", [self._row_splits]):
            longest = raw.Maximum(reduce_max(self.row_lengths()), cast(0, self._row_splits.dtype))
            if isinstance(self._values, RaggedTensor):
                inner: Any = self._values.bounding_shape()
            else:
                inner = shape(self._values, out_type=self._row_splits.dtype)
            box = concat([raw.Pack([self.nrows(), longest]), inner[1:]], 0)
            return box if axis is None else gather(box, axis)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows of other values, a tensor or RaggedTensor, of which are as many.

        Raises:
          ValueError: it is known that there are more or fewer, or they are a scalar.
        """
        count = new_values.shape.with_rank_at_least(1)[:1]
        self._values.shape[:1].assert_is_compatible_with(count)
        return RaggedTensor(new_values, self._row_splits)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows of other innermost values."""
        values = self._values
        if isinstance(values, RaggedTensor):
            return self.with_values(values.with_flat_values(new_values))
        return self.with_values(new_values)

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """Return a dense tensor, filled up at the ends of rows.

        Args:
          default_value: what fills up; 0 or "" by default.
          name: of the scope.
        """
        with name_scope(name, "RaggedToTensor", [self._row_splits]):
            if default_value is None:
                default_value = zeros([], self.dtype.base_dtype)
            fill = convert_to_tensor(default_value, self.dtype.base_dtype, "default_value")
            values = self._values
            if isinstance(values, RaggedTensor):
                values = values.to_tensor(fill)
            lengths: Any = self.row_lengths()
            width = raw.Maximum(reduce_max(lengths), cast(0, lengths.dtype))
            columns = raw.ExpandDims(range_(width), 0)
            places = raw.ExpandDims(self.row_starts(), 1) + columns
            inside = raw.Less(columns, raw.ExpandDims(lengths, 1))
            count = _count(values, lengths.dtype)
            row = raw.Fill(concat([[1], shape(values)[1:]], 0), fill)  # type: ignore[index]
            return gather(concat([values, row], 0), where_v2(inside, places, count))

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return the elements as a SparseTensor."""
        with name_scope(name, "RaggedToSparse", [self._row_splits]):
            splits = list(self.nested_row_splits)
            return SparseTensor(*raw.RaggedTensorToSparse(splits, self.flat_values))

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values!r}, row_splits={self._row_splits!r})"


COMPOSITES[RaggedTensor] = Composite(RaggedTensorValue, ("values", "row_splits"))


def _values(values: Any) -> Any:
    if isinstance(values, RaggedTensor):
        return values
    found = convert_to_tensor(values, name="values")
    found.shape.with_rank_at_least(1)
    return found


def _integers(value: Any, name: str) -> Tensor:
    """Return splits, lengths or ids: int64, unless they are a tensor of int32."""
    if isinstance(value, Tensor) and value.dtype.base_dtype is dtypes.int32:
        return value
    return convert_to_tensor(value, dtypes.int64, name)


def _count(values: Any, dtype: DType) -> Any:
    """Return how many values there are."""
    if isinstance(values, RaggedTensor):
        return cast(values.nrows(), dtype)
    sizes: Any = shape(values, out_type=dtype)
    return sizes[0]


def _checked(splits: Tensor, values: Any) -> Tensor:
    """Return splits that are checked when it runs."""
    message = "Arguments do not form a valid RaggedTensor"
    each: Any = splits
    count = _count(values, splits.dtype)
    with control_dependencies([
        assert_equal(each[0], cast(0, splits.dtype), message=message),
        assert_equal(each[-1], count, message=message),
        assert_non_negative(each[1:] - each[:-1], message=message),
    ]):  # fmt: skip
        checked: Tensor = raw.Identity(splits)
    return checked


def _lengths_before(dense: Tensor, padding: Any, width: Any) -> Any:
    """Return how long rows are without the padding at their ends."""
    value = convert_to_tensor(padding, dense.dtype.base_dtype, "padding")
    value.shape.assert_is_compatible_with(dense.shape[2:])
    is_kept: Any = raw.NotEqual(dense, value)
    if dense.shape.ndims != 2:
        is_kept = reduce_any(is_kept, raw.Range(2, rank(dense), 1))
    places: Any = range_(width)
    return reduce_max(raw.Mul(cast(is_kept, places.dtype), places + 1), 1)


def ids_of(splits: Any) -> Any:
    """Return for each value the row that it stands in."""
    starts: Any = splits[1:-1]
    marks = unsorted_segment_sum(raw.OnesLike(starts), starts, splits[-1] + 1)
    ids: Any = cumsum(cast(marks, splits.dtype))
    return ids[:-1]


def splits_of(ids: Tensor, count: Any = None) -> Tensor:
    """Return the splits of rows whose values tell their rows, `count` of them."""
    if count is None:
        most: Any = reduce_max(concat([cast([-1], ids.dtype), ids], 0))
        count = most + 1
    lengths = unsorted_segment_sum(raw.OnesLike(ids), ids, cast(count, ids.dtype))
    return concat([zeros([1], ids.dtype), cumsum(lengths)], 0)
