"""tf.contrib.lookup: tables from keys to values, and vocabularies."""

from tfdist.ops.lookup_functions import (
    index_table_from_file,
    index_table_from_tensor,
    index_to_string,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
    string_to_index_table_from_file,
    string_to_index_table_from_tensor,
)
from tfdist.ops.lookup_initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from tfdist.ops.lookup_interface import LookupInterface
from tfdist.ops.lookup_mutable_tables import DenseHashTable, MutableHashTable
from tfdist.ops.lookup_tables import HashTable, InitializableLookupTableBase
from tfdist.ops.lookup_vocabularies import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
)
from tfdist.programs.missing import told

MutableDenseHashTable = DenseHashTable

__getattr__ = told("tf.contrib.lookup")
