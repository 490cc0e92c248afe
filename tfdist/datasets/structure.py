"""The structure of elements: tuples and dicts, nested, with tensors and datasets as leaves.

As everywhere in tf.data, lists are no structure but become tensors, and a dict's leaves stand in
the order of its sorted keys. What is known of a leaf is a `TensorSpec` or a `DatasetSpec`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes, lazy, nest
from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.functions.traced_arguments import TensorSpec
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue


class DatasetSpec(NamedTuple):
    """What is known of a dataset that is part of an element.

    Attributes:
      structure: of its elements.
    """

    structure: Any


class SparseTensorSpec(TensorSpec):
    """What is known of a SparseTensor that is part of an element: shape and dtype."""


def is_nested(value: Any) -> bool:
    """Return whether `value` is a structure, not a leaf."""
    if isinstance(value, DatasetSpec | SparseTensorValue):
        return False
    return isinstance(value, tuple | Mapping)


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of a structure in order.

    Example:
      >>> flatten({"b": ([2, 3], 4), "a": 1})
      [1, [2, 3], 4]
    """
    return nest.flatten(structure, is_nested)


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """Return a structure with `function` of each leaf in its place."""
    return nest.map_leaves(function, structure, is_nested)


def pack_as(structure: Any, leaves: Iterable[Any]) -> Any:
    """Return `leaves` in the form of `structure`."""
    return nest.pack_as(structure, list(leaves), is_nested)


def check_same(first: Any, second: Any, check_types: bool = True) -> None:
    """Raise ValueError or TypeError unless two values have one structure: `nest.check_same`."""
    nest.check_same(first, second, is_nested, check_types)


def flatten_like(structure: Any, value: Any) -> list[Any]:
    """Return the parts of `value` that stand where `structure` has leaves.

    Raises:
      TypeError: `value` has another structure there.
      ValueError: the same.
    """
    if not is_nested(structure):
        return [value]
    if not is_nested(value) or isinstance(structure, Mapping) != isinstance(value, Mapping):
        raise TypeError(f"expected {structure!r}, got {value!r}")
    if len(structure) != len(value):
        raise ValueError(f"expected {len(structure)} parts, got {len(value)}")
    if isinstance(structure, Mapping):
        pairs = [(structure[key], value[key]) for key in sorted(structure)]
    else:
        pairs = list(zip(structure, value, strict=True))
    return [leaf for part, inner in pairs for leaf in flatten_like(part, inner)]


# what is known of leaves


def spec_of(leaf: Any) -> TensorSpec | DatasetSpec:
    """Return what is known of a tensor or a dataset."""
    if hasattr(leaf, "_structure"):
        return DatasetSpec(leaf._structure)
    if isinstance(leaf, SparseTensor):
        return SparseTensorSpec(leaf.shape, leaf.dtype)
    return TensorSpec(leaf.shape, leaf.dtype.base_dtype)


def types_of(structure: Any) -> Any:
    """Return the types of the leaves, in the form of the structure."""
    return map_leaves(_dtype, structure)


def shapes_of(structure: Any) -> Any:
    """Return the shapes of the leaves, in the form of the structure."""
    return map_leaves(_shape, structure)


def classes_of(structure: Any) -> Any:
    """Return the classes of the leaves, in the form of the structure."""
    return map_leaves(_class, structure)


def _class(spec: Any) -> Any:
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor
    return Tensor if isinstance(spec, TensorSpec) else spec


class Structured:
    """What has elements of one structure, `_structure`: datasets and iterators."""

    _structure: Any

    @property
    def element_spec(self) -> Any:
        """Return what is known of the elements."""
        return self._structure

    @property
    def output_types(self) -> Any:
        """Return the types of the elements' tensors."""
        return types_of(self._structure)

    @property
    def output_shapes(self) -> Any:
        """Return the shapes of the elements' tensors."""
        return shapes_of(self._structure)

    @property
    def output_classes(self) -> Any:
        """Return the classes of the elements' tensors."""
        return classes_of(self._structure)


def _dtype(spec: Any) -> DType:
    return spec.dtype if isinstance(spec, TensorSpec) else dtypes.variant


def _shape(spec: Any) -> TensorShape:
    return spec.shape if isinstance(spec, TensorSpec) else TensorShape([])


def flat_attrs(structure: Any) -> dict[str, Any]:
    """Return what an op is told of the elements of its dataset."""
    pairs = [
        (dtypes.variant, TensorShape(None))
        if isinstance(spec, SparseTensorSpec)
        else (_dtype(spec), _shape(spec))
        for spec in flatten(structure)
    ]
    return {
        "output_types": [dtype for dtype, _ in pairs],
        "output_shapes": [shape for _, shape in pairs],
    }


def structure_from(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """Return a structure of specs, from structures of types and shapes.

    Args:
      types: of what can be a type.
      shapes: of what can be a shape; unknown ones if None.
      classes: of `Tensor` and `SparseTensor`; all leaves are tensors if None.
    """
    flat = [dtypes.as_dtype(each) for each in flatten(types)]
    dims = [None] * len(flat) if shapes is None else flatten_like(types, shapes)
    kinds = [Tensor] * len(flat) if classes is None else flatten_like(types, classes)
    leaves = zip(kinds, dims, flat, strict=True)
    return pack_as(types, [_SPECS.get(kind, TensorSpec)(dim, dtype) for kind, dim, dtype in leaves])


_SPECS = {SparseTensor: SparseTensorSpec}  # of all other classes, a `TensorSpec`


# tensors

_dataset = lazy.function("tfdist.datasets.dataset", "Dataset")


def dataset(tensor: Tensor, found: Any) -> Any:
    """Return the dataset of a variant tensor whose elements have the structure `found`."""
    return _dataset(tensor, found)


def packed(found: Any, tensors: Any) -> Any:
    """Return tensors as an element of the structure `found`."""
    leaves = [_leaf(spec, each) for spec, each in zip(flatten(found), tensors, strict=True)]
    return pack_as(found, leaves)


def _leaf(spec: Any, tensor: Tensor) -> Any:
    """Return what a tensor stands for."""
    if isinstance(spec, DatasetSpec):
        return dataset(tensor, spec.structure)
    if not isinstance(spec, SparseTensorSpec):
        return tensor
    indices, values, shape = raw.DeserializeSparse(tensor, dtype=spec.dtype)
    indices.set_shape([None, spec.shape.ndims])
    shape.set_shape([spec.shape.ndims])
    return SparseTensor(indices, values, shape)


def normal(element: Any) -> Any:
    """Return an element with all its leaves as tensors or datasets."""
    leaves = flatten(element)
    with name_scope("normalize_element"):
        found = [
            leaf
            if hasattr(leaf, "_variant_tensor")
            else SparseTensor.from_value(leaf)
            if isinstance(leaf, SparseTensor | SparseTensorValue)
            else convert_to_tensor(leaf, name=f"component_{i}")
            for i, leaf in enumerate(leaves)
        ]
    return pack_as(element, found)


def tensors_of(element: Any, are_rows: bool = False) -> list[Tensor]:
    """Return the tensors that stand for the leaves of a normal element.

    Args:
      element: its leaves are tensors, sparse ones or datasets.
      are_rows: whether each row of a sparse tensor shall be a sparse tensor.
    """
    serialize = raw.SerializeManySparse if are_rows else raw.SerializeSparse
    return [
        serialize(leaf.indices, leaf.values, leaf.dense_shape, out_type=dtypes.variant)
        if isinstance(leaf, SparseTensor)
        else getattr(leaf, "_variant_tensor", leaf)
        for leaf in flatten(element)
    ]


def most_specific(first: TensorShape, second: TensorShape) -> TensorShape:
    """Return what is known of a tensor that has one shape or the other."""
    if first.ndims is None or second.ndims is None or first.ndims != second.ndims:
        return TensorShape(None)
    pairs: Sequence[Any] = list(zip(first.as_list(), second.as_list(), strict=True))
    return TensorShape([a if a == b else None for a, b in pairs])


def show(structure: Any) -> str:
    """Return a structure whose leaves are texts as one text."""
    if isinstance(structure, Mapping):
        return "{" + ", ".join(f"{k}: {show(structure[k])}" for k in sorted(structure)) + "}"
    if is_nested(structure):
        inner = ", ".join(map(show, structure))
        return f"({inner},)" if len(structure) == 1 else f"({inner})"
    return str(structure)
