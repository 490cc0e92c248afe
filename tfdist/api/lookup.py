"""tf.lookup: tables from keys to values."""

# mypy: implicit-reexport

from tfdist.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from tfdist.ops.lookup.mutable_tables import DenseHashTable
from tfdist.ops.lookup.static_tables import StaticHashTable
from tfdist.ops.lookup.vocabularies import StaticVocabularyTable
from tfdist.programs.missing import space, told

experimental = space("tf.lookup.experimental", DenseHashTable=DenseHashTable)

__getattr__ = told("tf.lookup")
