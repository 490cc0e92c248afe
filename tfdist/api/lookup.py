"""tf.lookup: tables from keys to values."""

from tfdist.ops.lookup_initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from tfdist.ops.lookup_mutable_tables import DenseHashTable
from tfdist.ops.lookup_tables import StaticHashTable
from tfdist.ops.lookup_vocabularies import StaticVocabularyTable
from tfdist.programs.missing import space, told

experimental = space("tf.lookup.experimental", DenseHashTable=DenseHashTable)

__getattr__ = told("tf.lookup")
