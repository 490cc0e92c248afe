"""What all lookup tables can do, and what the classes of tables share.

Source: TF 1.15 API documentation, tf.contrib.lookup.LookupInterface.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Tensor
from tfdist.ops.lookup import lookup_ops
from tfdist.ops.sparse.sparse_tensor import SparseTensor, SparseTensorValue


class LookupInterface:
    """What all lookup tables can do; made by a subclass.

    Args:
      key_dtype: of the keys.
      value_dtype: of the values.
    """

    _name: str
    _resource_handle: Any = None

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    def _use(self, handle: Tensor) -> None:
        """Be the table that a node makes."""
        self._resource_handle = handle
        self._name = handle.op.name.rpartition("/")[2]

    @property
    def key_dtype(self) -> DType:
        """Return the type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """Return the type of the values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """Return the name of the table's node, without its scopes."""
        return self._name

    @property
    def resource_handle(self) -> Any:
        """Return the tensor of the table's handle, None if there is none."""
        return self._resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """Return an int64 scalar: how many keys there are."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the values of keys."""
        raise NotImplementedError

    def _size(self, name: str | None) -> Tensor:
        with scopes.name_scope(name, f"{self.name}_Size", [self._resource_handle]):
            return lookup_ops.SIZE(self._resource_handle)  # type: ignore[no-any-return]

    def _export(self, value_shape: tuple[int, ...], scope: str = "") -> tuple[Tensor, Tensor]:
        types = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        keys, values = lookup_ops.EXPORT(self._resource_handle, **types, name=scope or None)
        keys.set_shape([None])
        values.set_shape([None, *value_shape])
        return keys, values

    def _check_keys(self, keys: Any) -> Any:
        """Return keys as a tensor or SparseTensor; TypeError if their type is another one."""
        if isinstance(keys, SparseTensorValue):
            keys = SparseTensor.from_value(keys)
        if not isinstance(keys, SparseTensor):
            keys = convert_to_tensor(keys)
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype!r}, got {keys.dtype!r}."
            )
        return keys


def values_of(keys: Any) -> Tensor:
    """Return the keys that are there: the values of a sparse tensor, or all."""
    return keys.values if isinstance(keys, SparseTensor) else keys  # type: ignore[no-any-return]


def like_keys(keys: Any, values: Tensor) -> Any:
    """Return values as sparse as their keys are."""
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, values, keys.dense_shape)
    return values


def check_table_dtypes(table: LookupInterface, key_dtype: DType, value_dtype: DType) -> None:
    """Raise TypeError unless a table has these types of keys and values."""
    pairs = (("key", key_dtype, table.key_dtype), ("value", value_dtype, table.value_dtype))
    for what, given, wanted in pairs:
        if given.base_dtype != wanted:
            raise TypeError(f"Invalid {what} dtype, expected {wanted!r} but got {given!r}.")
