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
from tfdist.graph.scopes import name_scope
from tfdist.graph.stacks import session_for
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import zeros
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.cumulative import cumsum
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.ragged.conversions import from_sparse, from_tensor, to_tensor
from tfdist.ops.ragged.ragged_values import RaggedTensorValue
from tfdist.ops.ragged.row_splits import checked, ids_of, integers, length_of, splits_of
from tfdist.ops.sparse.sparse_tensor import SparseTensor

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
    def _made(cls, values: Any, splits: Tensor, validate: bool) -> RaggedTensor:
        return cls(values, checked(splits, _count(values, splits.dtype)) if validate else splits)

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
            values, splits = _values(values), integers(row_splits, "row_splits")
            splits.shape.assert_has_rank(1)
            return cls._made(values, splits, validate)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values of the lengths given; arguments as of `from_row_splits`."""
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            values, lengths = _values(values), integers(row_lengths, "row_lengths")
            splits = concat([zeros([1], lengths.dtype), cumsum(lengths)], 0)
            return cls._made(values, splits, validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values that begin at the places given; see `from_row_splits`."""
        with name_scope(name, "RaggedFromRowStarts", [row_starts]):
            values, starts = _values(values), integers(row_starts, "row_starts")
            splits = concat([starts, reshape(_count(values, starts.dtype), [1])], 0)
            return cls._made(values, splits, validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of values that end before the places given; see `from_row_splits`."""
        with name_scope(name, "RaggedFromRowLimits", [row_limits]):
            values, limits = _values(values), integers(row_limits, "row_limits")
            splits = concat([zeros([1], limits.dtype), limits], 0)
            return cls._made(values, splits, validate)

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
            values, ids = _values(values), integers(value_rowids, "value_rowids")
            splits = splits_of(ids, nrows)
            return cls._made(values, splits, validate)

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
        return from_tensor(cls, tensor, lengths, padding, ragged_rank, name, row_splits_dtype)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """Return the rows of a SparseTensor of rank 2, whose elements stand without gaps."""
        return from_sparse(cls, st_input, name, row_splits_dtype)

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
        return to_tensor(self, default_value, name)

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


def _count(values: Any, dtype: DType) -> Any:
    """Return how many values there are."""
    if isinstance(values, RaggedTensor):
        return cast(values.nrows(), dtype)
    return length_of(values, dtype)
