"""Tables that steps change: MutableHashTable and MutableDenseHashTable, with their checkpoints.

Source: TF 1.15 API documentation, tf.contrib.lookup.MutableHashTable and MutableDenseHashTable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base.dtypes import DType
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.io.saveable_object import SaveableObject, SaveSpec
from tfdist.ops.lookup import lookup_ops
from tfdist.ops.lookup.interface import LookupInterface
from tfdist.ops.variables.collections import GraphKeys


class _MutableTable(LookupInterface):
    """What both kinds share; a subclass makes the node."""

    _default_value: Tensor
    _key_shape: tuple[int, ...] = ()
    _checkpoint: bool

    @property
    def _value_shape(self) -> tuple[int, ...]:
        return _known(self._default_value)

    def _keep(self) -> None:
        """Let savers save the table."""
        if self._checkpoint:
            saveable = TableSaveable(self, self.name)
            scopes.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def size(self, name: str | None = None) -> Tensor:
        """Return an int64 scalar: how many keys there are.

        Args:
          name: of the scope of its node.
        """
        with scopes.colocate_with(self._resource_handle.op):
            return self._size(name)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """Return the values of keys, the default value for those that are not there.

        Args:
          keys: a tensor of any shape.
          name: of the scope of its node.

        Returns:
          Values where the keys stand: the shape of `keys`, then that of a value.

        Raises:
          TypeError: the keys are of another type.
        """
        keys = self._check_keys(keys)
        inputs = [self._resource_handle, keys, self._default_value]
        with (
            scopes.name_scope(name, f"{self.name}_lookup_table_find", inputs),
            scopes.colocate_with(self._resource_handle.op),
        ):
            values: Tensor = lookup_ops.FIND(*inputs)
        outer = keys.plain_shape
        if outer is not None:
            outer = outer[: len(outer) - len(self._key_shape)]
            values.set_shape([*outer, *self._value_shape])
        return values

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """Return an op that sets the values of keys.

        Args:
          keys: a tensor of any shape.
          values: a value for each key.
          name: of the scope of its node.
        """
        handle = self._resource_handle
        with scopes.name_scope(name, f"{self.name}_lookup_table_insert", [handle, keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, "keys")
            values = convert_to_tensor(values, self._value_dtype, "values")
            with scopes.colocate_with(handle.op):
                op: Operation = lookup_ops.INSERT(handle, keys, values)
        return op

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """Return an op that removes keys and their values; those that are not there do not matter.

        Args:
          keys: a tensor of any shape.
          name: of the scope of its node.

        Raises:
          TypeError: the keys are of another type.
        """
        keys = self._check_keys(keys)
        handle = self._resource_handle
        with scopes.name_scope(name, f"{self.name}_lookup_table_remove", [handle, keys]):
            op: Operation = lookup_ops.REMOVE(handle, keys)
        return op

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return (all keys, their values).

        Args:
          name: of the scope of its node.
        """
        default = f"{self.name}_lookup_table_export_values"
        with (
            scopes.name_scope(name, default, [self._resource_handle]),
            scopes.colocate_with(self._resource_handle.op),
        ):
            return self._exported()

    def _exported(self) -> tuple[Tensor, Tensor]:
        return self._export(self._value_shape)


class MutableHashTable(_MutableTable):
    """A table that steps change.

    Args:
      key_dtype: of the keys.
      value_dtype: of the values.
      default_value: the value of keys that are not there: a scalar, or a vector if values are.
      name: of the node.
      checkpoint: whether savers save it, under its name with "-keys" and "-values" behind it; it
        is then found by its node's name, else each session has its own.

    Example:
      >>> table = contrib.lookup.MutableHashTable(string, int64, -1)
      >>> insert = table.insert(["a", "b"], [1, 2])
      >>> found = table.lookup(constant(["b", "z"]))
      >>> with Session() as session:
      ...     session.run(insert)
      ...     session.run(found)
      array([ 2, -1])
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._checkpoint = checkpoint
        attrs: dict[str, Any] = {
            "use_node_name_sharing": checkpoint, "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype, "name": name,
        }  # fmt: skip
        if self._value_shape:
            shape = self._default_value.shape
            self._use(raw.MutableHashTableOfTensorsV2(value_shape=shape, **attrs))
        else:
            self._use(raw.MutableHashTableV2(**attrs))
        self._keep()


class DenseHashTable(_MutableTable):
    """A table that steps change, whose content is told in buckets.

    Args:
      key_dtype: of the keys.
      value_dtype: of the values.
      default_value: the value of keys that are not there; values have its shape.
      empty_key: a key that is never used: it stands for none. Keys have its shape.
      deleted_key: another key that is never used.
      initial_num_buckets: a power of two; 131072 by default.
      name: of the node.
      checkpoint: see `MutableHashTable`.

    Example:
      >>> Table = contrib.lookup.MutableDenseHashTable
      >>> table = Table(int64, int64, default_value=0, empty_key=-1, deleted_key=-2)
      >>> insert = table.insert(constant([3, 4], int64), constant([9, 16], int64))
      >>> found = table.lookup(constant([4, 5], int64))
      >>> with Session() as session:
      ...     session.run(insert)
      ...     session.run(found)
      array([16,  0])
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any,
        deleted_key: Any, initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable", checkpoint: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._checkpoint = checkpoint
        as_tensor = convert_to_tensor
        self._default_value = as_tensor(default_value, self._value_dtype, "default_value")
        empty = as_tensor(empty_key, self._key_dtype, "empty_key")
        deleted = as_tensor(deleted_key, self._key_dtype, "deleted_key")
        self._key_shape = _known(empty)
        handle = raw.MutableDenseHashTableV2(
            empty, deleted, use_node_name_sharing=checkpoint, value_dtype=self._value_dtype,
            value_shape=self._default_value.shape, name=name,
            initial_num_buckets=initial_num_buckets or 131072,
        )  # fmt: skip
        self._use(handle)
        self._keep()

    def _exported(self) -> tuple[Tensor, Tensor]:
        # scalars come in columns of length 1, which TensorFlow's classes do not tell either
        types: dict[str, DType] = {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}
        return tuple(lookup_ops.EXPORT(self._resource_handle, **types))

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """Return an op that sets the values of keys; see `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """Return an op that removes keys; see `remove`."""
        return self.remove(keys, name)


def _known(tensor: Tensor) -> tuple[int, ...]:
    return tuple(map(int, tensor.shape.as_list()))  # type: ignore[arg-type]


class TableSaveable(SaveableObject):
    """A table in a checkpoint: all keys, and their values.

    Args:
      table: MutableHashTable or DenseHashTable.
      name: of the tensors, with "-keys" and "-values" behind it.
    """

    def __init__(self, table: _MutableTable, name: str) -> None:
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """See `SaveableObject`."""
        handle = self.op.resource_handle
        with (
            scopes.name_scope(f"{self.name}_table_restore"),
            scopes.colocate_with(handle.op),
        ):
            return lookup_ops.IMPORT(handle, *restored_tensors)
