"""Vocabularies: tables from words to ids, with buckets for words that are not there.

Source: TF 1.15 API documentation, tf.lookup.StaticVocabularyTable and
tf.contrib.lookup.IdTableWithHashBuckets.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow.identity_group import no_op
from tfdist.ops.lookup.interface import LookupInterface, like_keys, values_of
from tfdist.ops.lookup.static_tables import StaticHashTable


class HasherSpec(NamedTuple):
    """Which hash chooses the buckets of unknown words.

    Attributes:
      hasher: "fasthash", "legacy" or "stronghash".
      key: two numbers for "stronghash".
    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """SipHash with a key.

    Args:
      key: two numbers.

    Raises:
      ValueError: it has not two.
      TypeError: they are no numbers of at least 0.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        """Return the specification."""
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(each, int) and each >= 0 for each in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hasher(spec: HasherSpec, count: int) -> Any:
    """Return what makes the node that puts strings into so many buckets."""
    match spec.hasher:
        case "fasthash":
            return functools.partial(raw.StringToHashBucketFast, num_buckets=count)
        case "legacy":
            return functools.partial(raw.StringToHashBucket, num_buckets=count)
        case "stronghash":
            key = list(spec.key)
            return functools.partial(raw.StringToHashBucketStrong, num_buckets=count, key=key)
    raise ValueError(f"Unknown hasher {spec.hasher}: fasthash, legacy, stronghash")


class _Vocabulary(LookupInterface):
    """A table of ids, or none, and buckets for what is not in it."""

    _table: Any
    _num_oov_buckets: int
    _hasher_spec: HasherSpec

    def _of(self, table: Any, count: int, key_dtype: Any, name: str | None) -> None:
        self._table, self._num_oov_buckets = table, count
        known = dtypes.string if table is None else table.key_dtype
        given = known if key_dtype is None else dtypes.as_dtype(key_dtype)
        if table is not None:
            if known not in (dtypes.int64, dtypes.string):
                raise TypeError(
                    f"Invalid key dtype, expected one of (tf.int64, tf.string), but got {known!r}."
                )
            if known.is_integer != given.is_integer:
                wanted = "integer" if given.is_integer else "non-integer"
                raise TypeError(f"Invalid key dtype, expected {wanted} but got {known!r}.")
            if table.value_dtype != dtypes.int64:
                raise TypeError(
                    f"Invalid value dtype, expected {dtypes.int64!r} but got {table.value_dtype!r}."
                )
        LookupInterface.__init__(self, given, dtypes.int64)
        self._name = name or ("hash_bucket" if table is None else table.name)

    @property
    def resource_handle(self) -> Any:
        """Return the tensor of the handle of the table of ids, None if there is none."""
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self) -> Operation:
        """Return the op that fills the table; `tf.tables_initializer()` runs it, too."""
        if self._table is not None:
            return self._table.initializer  # type: ignore[no-any-return]
        with scopes.name_scope(None, "init"):
            return no_op()

    def size(self, name: str | None = None) -> Tensor:
        """Return an int64 scalar: how many ids there are, with the buckets.

        Args:
          name: of the scope of its nodes.
        """
        with scopes.name_scope(name, f"{self.name}_Size"):
            known: Any = self._table.size() if self._table else convert_to_tensor(0, dtypes.int64)
            return known + self._num_oov_buckets  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the ids of keys, those of their buckets for those that are not there.

        Args:
          keys: a tensor or SparseTensor of any shape.
          name: of the scope of its nodes.

        Returns:
          int64 ids where the keys stand.

        Raises:
          TypeError: the keys are of another type.
        """
        keys = self._check_keys(keys)
        inside = values_of(keys)
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            inside = cast(inside, dtypes.int64)
        if not self._num_oov_buckets:
            return like_keys(keys, self._table.lookup(inside, name=name))
        with scopes.name_scope(name, f"{self.name}_Lookup"):
            texts = inside if inside.dtype == dtypes.string else raw.AsString(inside)
            buckets = _hasher(self._hasher_spec, self._num_oov_buckets)(texts, name="hash_bucket")
            return like_keys(keys, self._ids(inside, buckets))

    def _ids(self, keys: Tensor, buckets: Tensor) -> Tensor:
        if self._table is None:
            return buckets
        ids = self._table.lookup(keys)
        buckets = raw.Add(buckets, self._table.size())
        is_known = raw.NotEqual(ids, self._table.default_value)
        return raw.SelectV2(is_known, ids, buckets)  # type: ignore[no-any-return]


class IdTableWithHashBuckets(_Vocabulary):
    """A table of ids, and buckets for keys that are not in it: their ids follow the others.

    Args:
      table: from keys to int64 ids; None for buckets only.
      num_oov_buckets: how many buckets there are for what is out of the vocabulary.
      hasher_spec: which hash chooses one.
      name: of the table; that of `table` by default.
      key_dtype: of the keys, int32 where `table` has int64; that of `table` by default.

    Raises:
      ValueError: there are neither table nor buckets.
      TypeError: an argument is of the wrong type.

    Example:
      >>> ids = constant([0, 1], int64)
      >>> words = contrib.lookup.KeyValueTensorInitializer(["a", "b"], ids)
      >>> table = contrib.lookup.HashTable(words, -1)
      >>> table = contrib.lookup.IdTableWithHashBuckets(table, num_oov_buckets=3)
      >>> found = table.lookup(constant(["b", "q"]))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(found)
      array([1, 4])
    """

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None, key_dtype: Any = None,
    ) -> None:  # fmt: skip
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        given = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
        if not (given.is_integer or given == dtypes.string):
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {given!r}.")
        if num_oov_buckets > 0 and not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._hasher_spec = hasher_spec
        self._of(table, num_oov_buckets, key_dtype, name)

    @property
    def init(self) -> Operation:
        """Return the op that fills the table."""
        return self.initializer


class StaticVocabularyTable(_Vocabulary):
    """A table from words to ids, and buckets for other words: their ids follow the others.

    Args:
      initializer: what fills the table of ids, int64; None for buckets only.
      num_oov_buckets: how many buckets there are for what is out of the vocabulary, at least 1.
      lookup_key_dtype: of the keys, int32 where the initializer has int64; that of the initializer
        by default.
      name: of the table.

    Raises:
      ValueError: there are no buckets.
      TypeError: an argument is of the wrong type.

    Example:
      >>> ids = constant([0, 1], int64)
      >>> words = lookup.KeyValueTensorInitializer(["a", "b"], ids)
      >>> table = lookup.StaticVocabularyTable(words, num_oov_buckets=3)
      >>> found = table.lookup(constant(["b", "q"]))
      >>> with Session() as session:
      ...     session.run(tables_initializer())
      ...     session.run(found)
      array([1, 4])
    """

    _hasher_spec = FastHashSpec

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer is not None and initializer.value_dtype != dtypes.int64:
            raise TypeError(
                f"Invalid value dtype, expected {dtypes.int64!r} but got "
                f"{initializer.value_dtype!r}."
            )
        table = None if initializer is None else StaticHashTable(initializer, -1)
        self._of(table, num_oov_buckets, lookup_key_dtype, name)
