"""tf.contrib.lookup: tables from keys to values, and vocabularies."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.lookup.functions import (
        index_table_from_file,
        index_table_from_tensor,
        index_to_string,
        index_to_string_table_from_file,
        index_to_string_table_from_tensor,
        string_to_index,
        string_to_index_table_from_file,
        string_to_index_table_from_tensor,
    )
    from tfdist.ops.lookup.initializers import (
        KeyValueTensorInitializer,
        TableInitializerBase,
        TextFileIdTableInitializer,
        TextFileIndex,
        TextFileInitializer,
        TextFileStringTableInitializer,
    )
    from tfdist.ops.lookup.interface import LookupInterface
    from tfdist.ops.lookup.mutable_tables import DenseHashTable, MutableHashTable
    from tfdist.ops.lookup.mutable_tables import DenseHashTable as MutableDenseHashTable
    from tfdist.ops.lookup.static_tables import HashTable, InitializableLookupTableBase
    from tfdist.ops.lookup.vocabularies import (
        FastHashSpec,
        HasherSpec,
        IdTableWithHashBuckets,
        StrongHashSpec,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.lookup")
