"""SparseTensor: a tensor of which only some elements are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import dtypes, lazy, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.composites import COMPOSITES, Composite
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.stacks import session_for
from tfdist.ops.framework.shared_values import partial_shape

__all__ = [
    "SparseTensor", "SparseTensorValue", "convert_to_tensor_or_sparse_tensor", "sparse_placeholder",
    "sparse_reorder",
]  # fmt: skip


class _Parts(NamedTuple):
    indices: Any
    values: Any
    dense_shape: Any


class SparseTensorValue(_Parts):
    """The value of a `SparseTensor`: three arrays.

    The last one is the shape of the whole, `dense_shape`, or `shape` as versions before 1.0 have
    it.
    """

    __slots__ = ()

    def __new__(
        cls, indices: Any, values: Any, dense_shape: Any = None, shape: Any = None
    ) -> SparseTensorValue:
        """Return a value."""
        shape = of_two_spellings("SparseTensorValue", dense_shape, shape)
        return super().__new__(cls, indices, values, shape)

    @property
    def shape(self) -> Any:
        """Return the shape of the whole."""
        return self.dense_shape


def of_two_spellings(what: str, dense_shape: Any, shape: Any) -> Any:
    """Return the shape of the whole; `shape` is the argument's name before 1.0.

    Raises:
      TypeError: both are given, or neither.
    """
    if (dense_shape is None) == (shape is None):
        how = "no" if shape is None else "two"
        raise TypeError(f"{what} got {how} values of 'dense_shape', which is 'shape' in TF 0.x")
    return shape if dense_shape is None else dense_shape


@lazy.supplied_by("tfdist.ops.sparse.elementwise", "__mul__", "__div__", "__truediv__")
class SparseTensor:
    """A tensor of which only some elements are there; the others are missing, or 0.

    Args:
      indices: int64 [n, rank], where the elements stand.
      values: [n], the elements.
      dense_shape: int64 [rank], of the whole.
      shape: the same, as versions before 1.0 name it.

    Example:
      >>> SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4]).shape
      TensorShape([Dimension(3), Dimension(4)])
    """

    def __init__(
        self, indices: Any, values: Any, dense_shape: Any = None, shape: Any = None
    ) -> None:
        dense_shape = of_two_spellings("SparseTensor", dense_shape, shape)
        with scopes.name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, "indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, "dense_shape")
        rank = self._indices.shape.with_rank(2)[1]
        rank.merge_with(self._dense_shape.shape.with_rank(1)[0])
        self._indices.shape[0].merge_with(self._values.shape.with_rank(1)[0])

    @classmethod
    def from_value(cls, value: Any) -> SparseTensor:
        """Return a constant of a `SparseTensorValue`; a SparseTensor is returned as it is.

        Raises:
          TypeError: it is neither.
        """
        if isinstance(value, SparseTensor):
            return value
        if not isinstance(value, SparseTensorValue):
            raise TypeError(f"neither a SparseTensor nor SparseTensorValue: {value!r}")
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """Return where the elements stand, int64 [n, rank]."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """Return the elements, [n]."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """Return the shape of the whole, int64 [rank]."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """Return what is known of the shape of the whole."""
        return TensorShape(partial_shape(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """Return what is known of the shape of the whole."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """Return the type of the elements."""
        return self._values.dtype

    @property
    def op(self) -> Operation:
        """Return the operation that makes the elements."""
        return self._values.op

    @property
    def name(self) -> str:
        """Return the name of the tensor of the elements."""
        return self._values.name

    @property
    def graph(self) -> Graph:
        """Return the graph that holds the elements."""
        return self._values.graph

    def consumers(self) -> list[Operation]:
        """Return the operations that take the elements."""
        return self._values.consumers()

    def eval(
        self, feed_dict: dict[Any, Any] | None = None, session: Any = None
    ) -> SparseTensorValue:
        """Return the value in `session`, or in the default session."""
        value: SparseTensorValue = session_for(session, self.graph).run(self, feed_dict)
        return value

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


COMPOSITES[SparseTensor] = Composite(SparseTensorValue, _Parts._fields)


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Tensor | SparseTensor:
    """Return `value` as a tensor, or as a SparseTensor if it is sparse.

    Args:
      value: a SparseTensor, a SparseTensorValue, or anything that converts to a tensor.
      dtype: wanted type; by default the value's own.
      name: of the constant, if a dense one is made.

    Raises:
      RuntimeError: the value is sparse and of another type (TensorFlow's class).
      TypeError, ValueError: no tensor of that type can be made of it.
    """
    if not isinstance(value, SparseTensor | SparseTensorValue):
        return convert_to_tensor(value, dtype, name)
    sparse = SparseTensor.from_value(value)
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not sparse.dtype.base_dtype:
        requested, actual = dtypes.as_dtype(dtype).name, sparse.dtype.name
        raise RuntimeError(f"Sparse dtype: requested = {requested}, actual = {actual}")
    return sparse


def as_sparse(value: Any) -> SparseTensor:
    """Return `value`, a SparseTensor or SparseTensorValue, as the former; TypeError if neither."""
    if not isinstance(value, SparseTensor | SparseTensorValue):
        raise TypeError(f"Input must be a SparseTensor, not {value!r}")
    return SparseTensor.from_value(value)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Return a SparseTensor whose value must be fed to `session.run`.

    Args:
      dtype: of the elements.
      shape: of the whole, a list or a tensor; None for any. Where a list has None only the rank is
        known, and the shape is fed too.
      name: of the nodes: name/shape, name/values and name/indices.

    Raises:
      ValueError: `shape` is a TensorShape of which not all is known.

    Example:
      >>> x = sparse_placeholder("float32")
      >>> value = SparseTensorValue([[0, 1]], [5.0], [2, 3])
      >>> Session().run(x.values * 2.0, {x: value})
      array([10.], dtype=float32)
    """
    within = "" if name is None else f"{name}/"

    def part(dtype: Any, shape: Any, part_name: str) -> Tensor:
        tensor: Tensor = raw.Placeholder(
            dtype=dtype, shape=TensorShape(shape), name=name and within + part_name
        )
        return tensor

    dense_shape = _fed_or_fixed_shape(shape, name and within + "shape", part)
    values = part(dtypes.as_dtype(dtype), [None], "values")
    indices = part(dtypes.int64, [None, dense_shape.shape[0]], "indices")
    return SparseTensor(indices, values, dense_shape)


def _fed_or_fixed_shape(
    shape: Any, name: str | None, placeholder: Callable[[Any, Any, str], Tensor]
) -> Tensor:
    """Return the shape of a placeholder: what it is fixed to, or another placeholder."""
    if shape is None:
        return placeholder(dtypes.int64, [None], "shape")
    if isinstance(shape, list | tuple) and any(dim is None for dim in shape):
        return placeholder(dtypes.int64, [len(shape)], "shape")
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
        name = name or "shape_as_tensor"
    return convert_to_tensor(shape, dtypes.int64, name)


SPARSE_REORDER = OpDef(
    "SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> "
    "output_indices: int64, output_values: T [T: type]"
)


@SPARSE_REORDER.shape
def sparse_reorder_shape(
    input_indices: Shape, input_values: Shape, input_shape: Shape
) -> list[Shape]:
    shapes.require_rank(input_indices, "input_indices", 2)
    shapes.require_rank(input_values, "input_values", 1)
    return [input_indices or (None, None), input_values or (None,)]


@SPARSE_REORDER.kernel
def sparse_reorder_kernel(input_indices: Any, input_values: Any, input_shape: Any) -> Any:
    if np.ndim(input_indices) != 2 or input_indices.shape != (len(input_values), len(input_shape)):
        raise InvalidArgumentError(
            f"{len(input_values)} elements of a tensor of rank {len(input_shape)} need indices of "
            f"shape {(len(input_values), len(input_shape))}, got {np.shape(input_indices)}"
        )
    order = np.lexsort(input_indices.T[::-1])
    return input_indices[order], input_values[order]


@SPARSE_REORDER.gradient
def sparse_reorder_gradient(op: Operation, _: Any, d_values: Any) -> Any:
    places = raw.Range(0, raw.Size(op.inputs[1]), 1)
    _, order = raw.SparseReorder(op.inputs[0], places, op.inputs[2])
    return None, raw.GatherV2(d_values, raw.InvertPermutation(order), 0), None


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Return the same elements in the order of their places, row by row.

    Args:
      sp_input: a SparseTensor, or a SparseTensorValue.
      name: of the node.

    Raises:
      TypeError: it is neither.
    """
    sp_input = as_sparse(sp_input)
    indices, values = raw.SparseReorder(
        sp_input.indices, sp_input.values, sp_input.dense_shape, name=name
    )
    if sp_input.shape.is_fully_defined():
        return with_known_shape(indices, values, None, sp_input.shape)
    return SparseTensor(indices, values, raw.Identity(sp_input.dense_shape))


def with_known_shape(
    indices: Any, values: Any, dense_shape: Any, known: TensorShape
) -> SparseTensor:
    """Return a SparseTensor whose shape is a constant if all of it is known.

    Args:
      indices: where the elements stand.
      values: the elements.
      dense_shape: the shape of the whole, a tensor.
      known: what is known of it.
    """
    return SparseTensor(
        indices, values, known.as_list() if known.is_fully_defined() else dense_shape
    )
