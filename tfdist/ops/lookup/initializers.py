"""What fills a table that is filled once: keys and values from tensors, or from a text file.

Source: TF 1.15 API documentation, tf.lookup.KeyValueTensorInitializer and TextFileInitializer.
"""

from __future__ import annotations

import uuid
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.lookup import lookup_ops
from tfdist.ops.lookup.interface import check_table_dtypes
from tfdist.ops.lookup.text_files import LINE_NUMBER, WHOLE_LINE
from tfdist.ops.variables.collections import GraphKeys


class TextFileIndex:
    """Columns of a text file that are none: the whole line, and the line's number from 0."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


class TableInitializerBase:
    """What fills a table; made by a subclass.

    Args:
      key_dtype: of the keys.
      value_dtype: of the values.
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """Return the type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """Return the type of the values."""
        return self._value_dtype

    def initialize(self, table: Any) -> Operation:
        """Return the op that fills a table."""
        raise NotImplementedError

    @property
    def _shared_name(self) -> str:
        """Return a name that only tables of the same content have."""
        return f"hash_table_{uuid.uuid4()}"


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with keys and values that are given as tensors.

    Args:
      keys: [n], no key twice, unless with one value.
      values: [n].
      key_dtype: of the keys; what they are by default.
      value_dtype: of the values; what they are by default.
      name: of the scope of its node.

    Example:
      >>> table = lookup.StaticHashTable(
      ...     lookup.KeyValueTensorInitializer(["ps", "worker"], [1, 8]), default_value=0
      ... )
      >>> counts = table.lookup(constant(["worker", "chief"]))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(counts)
      array([8, 0], dtype=int32)
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self._keys = convert_to_tensor(keys, key_dtype, "keys")
        self._values = convert_to_tensor(values, value_dtype, "values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def initialize(self, table: Any) -> Operation:
        """Return the op that fills a table.

        Raises:
          TypeError: the table has other types of keys or values.
        """
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        self._keys.shape.assert_has_rank(1)
        with scopes.name_scope(self._name, values=[table.resource_handle]):
            op: Operation = lookup_ops.IMPORT(table.resource_handle, self._keys, self._values)
        scopes.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


class TextFileInitializer(TableInitializerBase):
    """Fills a table from a text file, with a line for each key.

    Args:
      filename: of the file, or a scalar tensor of it.
      key_dtype: of the keys.
      key_index: of the column that has the keys, or a `TextFileIndex`.
      value_dtype: of the values.
      value_index: of the column that has the values, or a `TextFileIndex`.
      vocab_size: how many lines to read; all by default.
      delimiter: one character between columns.
      name: of the scope of its node.

    Raises:
      ValueError: there is no file name, no such column, or one that fits the types.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with open(path, "w") as file:
      ...     _ = file.write("ps,1\\nworker,8\\n")
      >>> initializer = lookup.TextFileInitializer(path, string, 0, int64, 1, delimiter=",")
      >>> table = lookup.StaticHashTable(initializer, default_value=0)
      >>> count = table.lookup(constant("worker"))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(count)
      np.int64(8)
    """

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        _check_column("Key", key_index, self._key_dtype, can_be_integer=True)
        _check_column("Value", value_index, self._value_dtype, can_be_integer=False)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter
        self._name = name or "text_file_init"
        self._given = filename
        self._filename = _asset(filename)

    def initialize(self, table: Any) -> Operation:
        """Return the op that fills a table.

        Raises:
          TypeError: the table has other types of keys or values.
        """
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        with scopes.name_scope(self._name, values=[table.resource_handle]):
            op: Operation = lookup_ops.INITIALIZE_FROM_FILE(
                table.resource_handle, self._filename, key_index=self._key_index,
                value_index=self._value_index, delimiter=self._delimiter,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
            )  # fmt: skip
        scopes.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        scopes.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return op

    @property
    def _shared_name(self) -> str:
        size = [] if self._vocab_size is None else [self._vocab_size]
        parts = [self._given, *size, self._key_index, self._value_index]
        return "_".join(["hash_table", *map(str, parts)])


def _check_column(what: str, index: int, dtype: DType, can_be_integer: bool) -> None:
    if index < WHOLE_LINE:
        raise ValueError(f"Invalid {what.lower()} index {index}.")
    mismatch = f"Signature mismatch. {what}s must be "
    if index == LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(f"{mismatch}dtype {dtypes.int64!r}, got {dtype!r}.")
    if index == WHOLE_LINE and dtype != dtypes.string:
        if not can_be_integer:
            raise ValueError(f"{mismatch}dtype {dtypes.string!r}, got {dtype!r}.")
        if not dtype.is_integer:
            raise ValueError(f"{mismatch}integer or string, got {dtype!r}.")


def _asset(filename: Any) -> Tensor:
    if isinstance(filename, Tensor):
        return filename
    with scopes.device("/device:CPU:*"):
        return convert_to_tensor(filename, dtypes.string, "asset_path")


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers to strings from a text file.

    Args:
      filename: of the file, or a scalar tensor of it.
      key_column_index: of the column that has the keys, int64; the line's number by default.
      value_column_index: of the column that has the values; the whole line by default.
      vocab_size: how many lines to read; all by default.
      delimiter: one character between columns.
      name: of the scope of its node.
    """

    def __init__(
        self, filename: Any, key_column_index: int = LINE_NUMBER,
        value_column_index: int = WHOLE_LINE, vocab_size: int | None = None,
        delimiter: str = "\t", name: str = "text_file_string_table_init",
    ) -> None:  # fmt: skip
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index,
            vocab_size, delimiter, name,
        )  # fmt: skip


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from strings or integers to line numbers from a text file.

    Args:
      filename: of the file, or a scalar tensor of it.
      key_column_index: of the column that has the keys; the whole line by default.
      value_column_index: of the column that has the values, int64; the line's number by default.
      vocab_size: how many lines to read; all by default.
      delimiter: one character between columns.
      name: of the scope of its node.
      key_dtype: of the keys.
    """

    def __init__(
        self, filename: Any, key_column_index: int = WHOLE_LINE,
        value_column_index: int = LINE_NUMBER, vocab_size: int | None = None,
        delimiter: str = "\t", name: str = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ) -> None:  # fmt: skip
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size,
            delimiter, name,
        )  # fmt: skip
