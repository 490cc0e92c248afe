"""The ops that take `Example`s apart: ParseExample for batches, ParseSingleExample for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import examples
from tfdist.formats.examples import Dense, Sparse, Telling
from tfdist.graph.op_def import Known, OpDef
from tfdist.ops.framework.shared_values import as_elements

__all__: list[str] = []

_TYPES = "{float32,int64,string}"
_SPARSE = (
    "sparse_indices: {n}*int64, sparse_values: sparse_types, sparse_shapes: {n}*int64, "
    "dense_values: Tdense"
)

PARSE_EXAMPLE = OpDef(
    "ParseExample(serialized: string, names: string, sparse_keys: Nsparse*string, "
    "dense_keys: Ndense*string, dense_defaults: Tdense) -> "
    f"{_SPARSE.format(n='Nsparse')} [Nsparse: int >=0; Ndense: int >=0; "
    f"sparse_types: list(type) {_TYPES} >=0; Tdense: list(type) {_TYPES} >=0; "
    "dense_shapes: list(shape) >=0]"
).not_differentiable()

PARSE_SINGLE_EXAMPLE = OpDef(
    "ParseSingleExample(serialized: string, dense_defaults: Tdense) -> "
    f"{_SPARSE.format(n='num_sparse')} [num_sparse: int >=0; sparse_keys: list(string) >=0; "
    f"dense_keys: list(string) >=0; sparse_types: list(type) {_TYPES} >=0; "
    f"Tdense: list(type) {_TYPES} >=0; dense_shapes: list(shape) >=0]"
).not_differentiable()


@PARSE_EXAMPLE.shape
def parse_example_shape(
    serialized: Shape, names: Shape, sparse_keys: list[Shape], dense_keys: list[Shape],
    dense_defaults: list[Shape], *, dense_shapes: list[TensorShape],
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(serialized, "serialized", 1, 1)
    count = None if serialized is None else serialized[0]
    return _shapes(len(sparse_keys), (count,), dense_shapes)


@PARSE_SINGLE_EXAMPLE.shape
def parse_single_example_shape(
    serialized: Shape, dense_defaults: list[Shape], *, num_sparse: int,
    dense_shapes: list[TensorShape],
) -> list[Shape]:  # fmt: skip
    shapes.require_rank(serialized, "serialized", 0, 0)
    return _shapes(num_sparse, (), dense_shapes)


def _shapes(sparse: int, batch: tuple[Any, ...], dense: Sequence[TensorShape]) -> list[Shape]:
    rank = len(batch) + 1
    wanted = [shape.as_tuple() for shape in dense]
    return [
        *[(None, rank)] * sparse, *[(None,)] * sparse, *[(rank,)] * sparse,
        *[None if shape is None else (*batch, *shape) for shape in wanted],
    ]  # fmt: skip


def named(key: bytes) -> str:
    """Return the name of a feature; what is not UTF-8 names none that an example can have."""
    return key.decode(errors="backslashreplace")


class Wanted:
    """What a node wants of examples, found out from its inputs and attributes once.

    Attributes:
      sparse: the features with any number of values.
      dense: those of one shape.
    """

    def __init__(
        self, sparse_keys: Sequence[bytes], sparse_types: Sequence[DType],
        dense_keys: Sequence[bytes], dense_types: Sequence[DType],
        dense_shapes: Sequence[TensorShape], defaults: Sequence[Any],
    ) -> None:  # fmt: skip
        self.sparse = [
            Sparse(named(key), dtype) for key, dtype in zip(sparse_keys, sparse_types, strict=True)
        ]
        self.dense = [
            dense_feature(*each)
            for each in zip(dense_keys, dense_types, dense_shapes, defaults, strict=True)
        ]


def dense_feature(key: bytes, dtype: DType, shape: TensorShape, default: Any) -> Dense:
    """Return what is wanted of a dense feature.

    Raises:
      InvalidArgumentError: the default does not fit the shape, or more than the first dimension
        of that is unknown.
    """
    dims = shape.as_tuple()
    if dims is None or None in dims[1:]:
        raise InvalidArgumentError(
            f"the dense shape of feature {named(key)!r} must be known but for its first "
            f"dimension, not {shapes.show(dims)}"
        )
    values = as_elements(default).reshape(-1)
    feature = Dense(named(key), dtype, dims, values if values.size else None)
    if not feature.is_ragged:
        if values.size not in (0, feature.stride):
            raise InvalidArgumentError(
                f"the default of feature {named(key)!r} has {values.size} values, but its shape "
                f"{feature.show()} holds {feature.stride}"
            )
        return feature
    if values.size != 1:
        raise InvalidArgumentError(
            f"the default of feature {named(key)!r}, which may have any number of rows, must be "
            f"one value, got {values.size}"
        )
    return feature._replace(default=values[0])


@PARSE_EXAMPLE.kernel
def parse_example_kernel(
    serialized: Any, names: Any, sparse_keys: list[Any], dense_keys: list[Any],
    dense_defaults: list[Any], *, sparse_types: list[DType], Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> list[Any]:  # fmt: skip
    keys = [[as_elements(key)[()] for key in some] for some in (sparse_keys, dense_keys)]
    wanted = Wanted(keys[0], sparse_types, keys[1], Tdense, dense_shapes, dense_defaults)
    return parsed_batch(serialized, names, wanted)


@PARSE_EXAMPLE.specialize
def parse_example_known(known: Known) -> Callable[..., list[Any]] | None:
    """Find out what is wanted once, if keys and defaults are constants."""
    given = known.values[2:]
    if any(value is None for value in given):
        return None
    sparse, both = known.attrs["Nsparse"], known.attrs["Nsparse"] + known.attrs["Ndense"]
    keys = [as_elements(key)[()] for key in given[:both]]
    wanted = _wanted(keys[:sparse], keys[sparse:], given[both:], known)
    if wanted is None:
        return None
    return lambda serialized, names, *_: parsed_batch(serialized, names, wanted)


def _wanted(
    sparse_keys: Sequence[bytes], dense_keys: Sequence[bytes], defaults: Sequence[Any], known: Known
) -> Wanted | None:
    attrs = known.attrs
    try:
        return Wanted(
            sparse_keys, attrs["sparse_types"], dense_keys, attrs["Tdense"],
            attrs["dense_shapes"], defaults,
        )  # fmt: skip
    except InvalidArgumentError:  # for the kernel to tell
        return None


def parsed_batch(serialized: Any, names: Any, wanted: Wanted) -> list[Any]:
    """Return what `ParseExample` gives for a vector of serialized examples."""
    records = serialized.tolist()
    labels = as_elements(names).reshape(-1).tolist()
    if labels and len(labels) != len(records):
        raise InvalidArgumentError(
            f"there are {len(labels)} names for {len(records)} serialized examples"
        )
    telling = Telling(labels)
    maps = examples.feature_maps(records, telling)
    sparse = [examples.sparse_batch(maps, feature, telling) for feature in wanted.sparse]
    dense = [examples.dense_batch(maps, feature, telling) for feature in wanted.dense]
    return _in_order(sparse, dense)


def _in_order(sparse: Sequence[Sequence[Any]], dense: list[Any]) -> list[Any]:
    """Return all indices, all values, all shapes, and the dense values."""
    return [part[place] for place in range(3) for part in sparse] + dense


@PARSE_SINGLE_EXAMPLE.kernel
def parse_single_example_kernel(
    serialized: Any, dense_defaults: list[Any], *, sparse_keys: list[bytes],
    dense_keys: list[bytes], sparse_types: list[DType], Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> list[Any]:  # fmt: skip
    wanted = Wanted(sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, dense_defaults)
    return _single(serialized, wanted)


@PARSE_SINGLE_EXAMPLE.specialize
def parse_single_example_known(known: Known) -> Callable[..., list[Any]] | None:
    """Find out what is wanted once, if the defaults are constants."""
    defaults = known.values[1:]
    if any(value is None for value in defaults):
        return None
    wanted = _wanted(known.attrs["sparse_keys"], known.attrs["dense_keys"], defaults, known)
    return None if wanted is None else lambda serialized, *_: _single(serialized, wanted)


_ALONE = Telling(is_single=True)


def _single(serialized: Any, wanted: Wanted) -> list[Any]:
    record = serialized if type(serialized) is bytes else as_elements(serialized)[()]
    maps = examples.feature_maps([record], _ALONE)
    found = maps[0]
    sparse = [_sparse(maps, feature) for feature in wanted.sparse]
    dense = [
        _dense(found[feature.key] if feature.key in found else None, feature)
        for feature in wanted.dense
    ]
    return _in_order(sparse, dense)


def _sparse(maps: Sequence[Any], feature: Sparse) -> tuple[Any, Any, Any]:
    [values] = examples.sparse_values(
        examples.rows_of(maps, feature.key), feature, _ALONE.other_type
    )
    count = len(values)
    indices = np.arange(count, dtype=np.int64).reshape(count, 1)
    return indices, examples.joined([values], feature.dtype), np.array([count], np.int64)


def _dense(row: bytes | None, feature: Dense) -> Any:
    """Return the values of one example's feature in its shape."""
    if feature.is_ragged:
        values = examples.ragged_values(row, feature, 0, _ALONE)
        rows = len(values) // max(feature.stride, 1)
        return examples.joined([values], feature.dtype).reshape(rows, *feature.shape[1:])
    values = examples.dense_values(row, feature, 0, _ALONE)
    if not feature.shape:
        return values[0]
    if feature.dtype is dtypes.string:
        return examples.joined([values], feature.dtype).reshape(feature.shape)
    return np.array(values, feature.dtype.as_numpy_dtype).reshape(feature.shape)
