"""The ops that make lookup tables, and find them by name.

A table is found by its `shared_name`; without one by its node's name, if `use_node_name_sharing`;
else each session has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.framework.op_aliases import Spellings, of_handles
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.lookup.buckets import Buckets, as_keys

__all__: list[str] = []  # the public classes are in lookup_tables and lookup_mutable_tables

_NAMED = (
    "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = False; "
    "key_dtype: type; value_dtype: type"
)
_SHAPED = f"{_NAMED}; value_shape: shape = []"
_DENSE = f"{_SHAPED}; initial_num_buckets: int = 131072; max_load_factor: float = 0.8"


def _both(name: str, attrs: str) -> Spellings:
    """Return both spellings of the op that makes a table."""
    forms = (f"{name}() -> table_handle: Ref(string)", f"{name}V2() -> table_handle: resource")
    ops = [OpDef(f"{form} [{attrs}] !", finds_resource=True) for form in forms]
    made = Spellings(*ops).not_differentiable()
    of_handles(made)
    return made


HASH = _both("HashTable", _NAMED)
MUTABLE = _both("MutableHashTable", _NAMED)
MUTABLE_OF_TENSORS = _both("MutableHashTableOfTensors", _SHAPED)
OLD_DENSE = OpDef(
    f"MutableDenseHashTable(empty_key: key_dtype) -> table_handle: Ref(string) [{_DENSE}] !"
).not_differentiable()
DENSE = OpDef(
    "MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> "
    f"table_handle: resource [{_DENSE}] !"
).not_differentiable()


@OLD_DENSE.shape
def old_dense_shape(empty_key: Shape) -> Shape:
    return (2,)


@DENSE.shape
def dense_shape(empty_key: Shape, deleted_key: Shape) -> Shape:
    return ()


# which types of keys there are, and the types of values that each may have: TensorFlow's kernels
_STATIC_TYPES = {
    "int32": "int32 string float32 float64",
    "int64": "int32 int64 string float32 float64",
    "string": "int32 int64 string float32 float64 bool",
}
_MUTABLE_TYPES = {
    "int32": "int32 float32 float64",
    "int64": "int32 int64 string float32 float64",
    "string": "int32 int64 float32 float64 bool",
}
_DENSE_TYPES = {
    "int32": "int32 float32 float64",
    "int64": "int32 int64 float32 float64 bool",
    "string": "int32 int64 float32 float64 bool",
}


def _check_types(kind: str, key: DType, value: DType, known: dict[str, str]) -> None:
    if value.name not in known.get(key.name, "").split():
        choices = "; ".join(f"{one}: {others}" for one, others in known.items())
        raise InvalidArgumentError(
            f"no {kind} has keys of type {key.name} and values of type {value.name}; there are, by "
            f"the type of the keys: {choices}"
        )


def _find(ctx: Any, kind: str, names: tuple[bytes, bytes, bool], types: Any, make: Any) -> Any:
    """Return the table of that name, what `make(Table, name)` gives if it is new.

    Args:
      ctx: of the kernel.
      kind: of the table.
      names: container, shared_name, use_node_name_sharing.
      types: of keys and values.
      make: takes the class of tables and a name.
    """
    container, shared_name, by_node = names
    shown = shared_name.decode() or ctx.node_name
    table = ctx.known()
    if table is None:
        name = shown if shared_name or by_node else ctx.own_name()
        table = ctx.resource("table", container, name, lambda Table: make(Table, shown))
    if table.dtypes != types or table.kind != kind:
        asked, have = (f"{one.name}->{other.name}" for one, other in (types, table.dtypes))
        raise InvalidArgumentError(
            f"Conflicting key/value dtypes {asked} with {have} for table {shown}: it is a "
            f"{table.kind}, and asked for as a {kind}"
        )
    return table


def _makes(kind: str, known: dict[str, str], is_static: bool) -> Callable[..., Any]:
    """Return the kernel that finds or makes a table of scalars."""

    def kernel(
        ctx: Any, *, container: bytes, shared_name: bytes, use_node_name_sharing: bool,
        key_dtype: DType, value_dtype: DType,
    ) -> Any:  # fmt: skip
        types = key_dtype, value_dtype
        _check_types(kind, *types, known)
        names = container, shared_name, use_node_name_sharing
        return _find(
            ctx, kind, names, types,
            lambda Table, name: Table(kind, name, *types, is_static=is_static),
        )  # fmt: skip

    return kernel


HASH.kernel(_makes("HashTable", _STATIC_TYPES, True))
MUTABLE.kernel(_makes("MutableHashTable", _MUTABLE_TYPES, False))


@MUTABLE_OF_TENSORS.kernel
def mutable_of_tensors_kernel(
    ctx: Any, *, container: bytes, shared_name: bytes, use_node_name_sharing: bool,
    key_dtype: DType, value_dtype: DType, value_shape: TensorShape,
) -> Any:  # fmt: skip
    kind, types, shape = "MutableHashTableOfTensors", (key_dtype, value_dtype), _full(value_shape)
    _check_types(kind, *types, _MUTABLE_TYPES)
    if len(shape) != 1:
        raise InvalidArgumentError(f"Default value must be a vector, got shape {list(shape)}")
    names = container, shared_name, use_node_name_sharing
    return _find(ctx, kind, names, types, lambda Table, name: Table(kind, name, *types, shape))


def _full(shape: TensorShape) -> tuple[int, ...]:
    plain = shape.as_tuple()
    if plain is None or None in plain:
        raise InvalidArgumentError(f"the shape of a table's values must be known, not {shape}")
    return tuple(map(int, plain))  # type: ignore[arg-type]


@OLD_DENSE.kernel
def old_dense_kernel(
    ctx: Any, empty_key: Any, *, container: bytes, shared_name: bytes, use_node_name_sharing: bool,
    key_dtype: DType, value_dtype: DType, value_shape: TensorShape, initial_num_buckets: int,
    max_load_factor: float,
) -> Any:  # fmt: skip
    names = container, shared_name, use_node_name_sharing
    sizes = initial_num_buckets, max_load_factor
    return _dense(ctx, (empty_key, None), names, (key_dtype, value_dtype), value_shape, sizes)


@DENSE.kernel
def dense_kernel(
    ctx: Any, empty_key: Any, deleted_key: Any, *, container: bytes, shared_name: bytes,
    use_node_name_sharing: bool, key_dtype: DType, value_dtype: DType, value_shape: TensorShape,
    initial_num_buckets: int, max_load_factor: float,
) -> Any:  # fmt: skip
    names = container, shared_name, use_node_name_sharing
    sizes = initial_num_buckets, max_load_factor
    keys = empty_key, deleted_key
    return _dense(ctx, keys, names, (key_dtype, value_dtype), value_shape, sizes)


def _dense(
    ctx: Any, keys: Any, names: Any, types: Any, value_shape: TensorShape, sizes: Any
) -> Any:
    kind, shape = "MutableDenseHashTable", _full(value_shape)
    _check_types(kind, types[0], types[1], _DENSE_TYPES)
    key_shape = np.shape(keys[0])
    if keys[1] is not None and np.shape(keys[1]) != key_shape:
        raise InvalidArgumentError(
            f"Expected shape {list(key_shape)} for deleted_key, that of empty_key, got "
            f"{list(np.shape(keys[1]))}"
        )

    def make(Table: Any, name: str) -> Any:
        size = key_shape[0] if key_shape else 0
        marks = [None if key is None else as_keys(as_elements(key), size)[0] for key in keys]
        dense = Buckets(marks[0], marks[1], *sizes)
        return Table(kind, name, *types, shape, key_shape, dense=dense)

    return _find(ctx, kind, names, types, make)
