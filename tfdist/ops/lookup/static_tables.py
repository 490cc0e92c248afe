"""Tables that are filled once: StaticHashTable, and HashTable of tf.contrib.lookup.

Source: TF 1.15 API documentation, tf.lookup.StaticHashTable.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.lookup import lookup_ops
from tfdist.ops.lookup.interface import LookupInterface, like_keys, values_of


class InitializableLookupTableBase(LookupInterface):
    """A table that is filled once; made by a subclass.

    Args:
      default_value: the value of keys that are not there.
      initializer: what fills it.
    """

    def __init__(self, default_value: Any, initializer: Any) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.shape.merge_with(())

    def _make(self, shared_name: str, name: str | None) -> None:
        handle = raw.HashTableV2(
            shared_name=shared_name, key_dtype=self._key_dtype, value_dtype=self._value_dtype,
            name=name or "hash_table",
        )  # fmt: skip
        self._use(handle)
        self._init_op: Operation = self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """Return the value of keys that are not there."""
        return self._default_value

    @property
    def initializer(self) -> Operation:
        """Return the op that fills the table; `tf.tables_initializer()` runs it, too."""
        return self._init_op

    init = initializer  # before TensorFlow 1.15

    def size(self, name: str | None = None) -> Tensor:
        """Return an int64 scalar: how many keys there are; 0 before the table is filled.

        Args:
          name: of the scope of its node.
        """
        return self._size(name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the values of keys, the default value for those that are not there.

        Args:
          keys: a tensor or SparseTensor of any shape.
          name: of the scope of its node.

        Returns:
          Values where the keys stand.

        Raises:
          TypeError: the keys are of another type.
          FailedPreconditionError: the table is not filled (when it runs).
        """
        keys = self._check_keys(keys)
        inside = values_of(keys)
        inputs = [self._resource_handle, inside, self._default_value]
        with scopes.name_scope(name, f"{self.name}_Lookup", inputs):
            values: Tensor = lookup_ops.FIND(*inputs)
        values.set_shape(inside.shape)
        return like_keys(keys, values)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return (all keys, their values), two vectors.

        Args:
          name: of the node.
        """
        with scopes.name_scope(name, f"{self.name}_Export", [self._resource_handle]) as scope:
            return self._export((), scope)


class StaticHashTable(InitializableLookupTableBase):
    """A table that is filled once, and found by other sessions of its task.

    Tables that are filled from one file are one table; all others are different ones.

    Args:
      initializer: what fills it: a `KeyValueTensorInitializer` or a `TextFileInitializer`.
      default_value: the value of keys that are not there.
      name: of the node.

    Example:
      >>> letters = lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
      >>> table = lookup.StaticHashTable(letters, default_value=-1)
      >>> numbers = table.lookup(constant([["b", "z"]]))
      >>> with Session() as session:
      ...     session.run(table.initializer)
      ...     session.run(numbers)
      array([[ 2, -1]], dtype=int32)
    """

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None) -> None:
        super().__init__(default_value, initializer)
        self._make(initializer._shared_name, name)


class HashTable(InitializableLookupTableBase):
    """A table that is filled once.

    Args:
      initializer: what fills it: a `KeyValueTensorInitializer` or a `TextFileInitializer`.
      default_value: the value of keys that are not there.
      shared_name: name by which other sessions of its task find it; without it, each session has
        its own.
      name: of the node.

    Example:
      >>> letters = contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
      >>> table = contrib.lookup.HashTable(letters, -1)
      >>> numbers = table.lookup(constant(["b", "z"]))
      >>> with Session() as session:
      ...     session.run(table.init)
      ...     session.run(numbers)
      array([ 2, -1], dtype=int32)
    """

    def __init__(
        self, initializer: Any, default_value: Any, shared_name: str | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(default_value, initializer)
        self._make(shared_name or "", name)
