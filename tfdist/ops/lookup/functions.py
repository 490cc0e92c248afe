"""Vocabularies in one call: words to ids and ids to words, from a tensor or a file.

Source: TF 1.15 API documentation, tf.contrib.lookup.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileStringTableInitializer,
)
from tfdist.ops.lookup.static_tables import StaticHashTable
from tfdist.ops.lookup.text_files import LINE_NUMBER, WHOLE_LINE
from tfdist.ops.lookup.vocabularies import FastHashSpec, HasherSpec, IdTableWithHashBuckets


def index_table_from_file(
    vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
    default_value: Any = -1, hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: Any = dtypes.string, name: str | None = None,
    key_column_index: int = WHOLE_LINE, value_column_index: int = LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:  # fmt: skip
    """Return a table from the words of a file to ids: the numbers of their lines.

    Args:
      vocabulary_file: name of a text file, or a scalar tensor of it: a word on each line.
      num_oov_buckets: how many ids there are for words that are not there, after the others.
      vocab_size: how many lines to read; all by default.
      default_value: the id of words that are not there, if there are no buckets for them.
      hasher_spec: which hash chooses the bucket.
      key_dtype: of the words: string, or an integer.
      name: of the scope of the nodes.
      key_column_index: of the column that has the words; the whole line by default.
      value_column_index: of the column that has the ids; the line's number by default.
      delimiter: one character between columns.

    Returns:
      A table, int64; run its `init`, or `tf.tables_initializer()`, before a lookup.

    Raises:
      ValueError: an argument is missing, or out of its range.
      TypeError: the words are neither strings nor integers.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with open(path, "w") as file:
      ...     _ = file.write("emerson\\nlake\\npalmer\\n")
      >>> table = contrib.lookup.index_table_from_file(path, num_oov_buckets=1)
      >>> ids = table.lookup(constant(["lake", "palmer", "and"]))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(ids)
      array([1, 2, 3])
    """
    _check_file(vocabulary_file, vocab_size)
    _check_buckets(num_oov_buckets, f", vocabulary_file: {vocabulary_file}")
    key_dtype = _key_dtype(key_dtype)
    with scopes.name_scope(name, "string_to_index"):
        with scopes.name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                "table_init", dtypes.int64 if key_dtype.is_integer else key_dtype,
            )  # fmt: skip
            table = StaticHashTable(initializer, default_value)
    return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: Any = -1,
    hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string, name: str | None = None,
) -> Any:  # fmt: skip
    """Return a table from words to ids: their places in a list.

    Args:
      mapping: [n], the words.
      num_oov_buckets: how many ids there are for words that are not there, after the others.
      default_value: the id of words that are not there, if there are no buckets for them.
      hasher_spec: which hash chooses the bucket.
      dtype: of the words: string, or an integer.
      name: of the scope of the nodes.

    Returns:
      A table, int64; run its `init`, or `tf.tables_initializer()`, before a lookup.

    Raises:
      ValueError: there is no list of words of that type, or less than no bucket.
      TypeError: the words are neither strings nor integers.

    Example:
      >>> table = contrib.lookup.index_table_from_tensor(["emerson", "lake", "palmer"])
      >>> ids = table.lookup(constant(["lake", "and"]))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(ids)
      array([ 1, -1])
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    _check_buckets(num_oov_buckets, "")
    dtype = _key_dtype(dtype)
    with scopes.name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if keys.dtype.is_integer != dtype.is_integer or not (
            keys.dtype.is_integer or keys.dtype == dtypes.string
        ):
            wanted = "non-integer" if keys.dtype.is_integer else repr(dtype)
            raise ValueError(f"Expected {wanted}, got {keys.dtype!r}.")
        ids = _places(keys)
        with scopes.name_scope(None, "hash_table"):
            keys = cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(keys, ids, name="table_init")
            table = StaticHashTable(initializer, default_value)
    return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file: Any, vocab_size: int | None = None, default_value: Any = "UNK",
    name: str | None = None, key_column_index: int = LINE_NUMBER,
    value_column_index: int = WHOLE_LINE, delimiter: str = "\t",
) -> StaticHashTable:  # fmt: skip
    """Return a table from ids, the numbers of lines, to the words of a file.

    Args:
      vocabulary_file: name of a text file, or a scalar tensor of it: a word on each line.
      vocab_size: how many lines to read; all by default.
      default_value: the word of ids that are not there.
      name: of the scope of the nodes.
      key_column_index: of the column that has the ids; the line's number by default.
      value_column_index: of the column that has the words; the whole line by default.
      delimiter: one character between columns.

    Returns:
      A table with keys of type int64.

    Raises:
      ValueError: an argument is missing, or out of its range.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with open(path, "w") as file:
      ...     _ = file.write("emerson\\nlake\\npalmer\\n")
      >>> table = contrib.lookup.index_to_string_table_from_file(path)
      >>> words = table.lookup(constant([1, 5], int64))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(words).tolist()
      [b'lake', b'UNK']
    """
    _check_file(vocabulary_file, vocab_size, told=False)
    with scopes.name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
            "table_init",
        )  # fmt: skip
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> StaticHashTable:
    """Return a table from ids, the places in a list, to the words of the list.

    Args:
      mapping: strings [n], the words.
      default_value: the word of ids that are not there.
      name: of the scope of the nodes.

    Returns:
      A table with keys of type int64.

    Raises:
      ValueError: there is no list of words.

    Example:
      >>> table = contrib.lookup.index_to_string_table_from_tensor(["emerson", "lake"])
      >>> words = table.lookup(constant([1, 5], int64))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(words).tolist()
      [b'lake', b'UNK']
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with scopes.name_scope(name, "index_to_string"):
        values = convert_to_tensor(mapping, dtypes.string)
        initializer = KeyValueTensorInitializer(_places(values), values, name="table_init")
        return StaticHashTable(initializer, default_value)


def _places(words: Tensor) -> Tensor:
    """Return the numbers from 0, one for each word."""
    known = words.shape.num_elements()
    count = raw.Size(words) if known is None else convert_to_tensor(known, dtypes.int32, "Size")
    return cast(raw.Range(0, count, 1, name="range"), dtypes.int64)


def _with_buckets(table: Any, count: int, spec: HasherSpec, key_dtype: Any) -> Any:
    return IdTableWithHashBuckets(table, count, spec, None, key_dtype) if count else table


def _key_dtype(key_dtype: Any) -> Any:
    dtype = dtypes.as_dtype(key_dtype)
    if not (dtype.is_integer or dtype == dtypes.string):
        raise TypeError("Only integer and string keys are supported.")
    return dtype


def _check_buckets(count: int, more: str) -> None:
    if count < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {count}{more}.")


def _check_file(name: Any, size: int | None, told: bool = True) -> None:
    if name is None or (not isinstance(name, Tensor) and not name):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if size is not None and size < 1:
        more = f" vocabulary_file: {name}" if told else ""
        raise ValueError(f"vocab_size must be greater than 0, got {size}.{more}")


# names of the first releases


def string_to_index_table_from_file(
    vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
    default_value: Any = -1, hasher_spec: HasherSpec = FastHashSpec, name: str | None = None,
) -> Any:  # fmt: skip
    """Return `index_table_from_file` of the same arguments."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name
    )


def string_to_index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: Any = -1,
    hasher_spec: HasherSpec = FastHashSpec, name: str | None = None,
) -> Any:  # fmt: skip
    """Return `index_table_from_tensor` of the same arguments."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index(
    tensor: Any, mapping: Any, default_value: Any = -1, name: str | None = None
) -> Any:
    """Return the places of strings in a list; see `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, 0, default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """Return the strings at places of a list; see `index_to_string_table_from_tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
