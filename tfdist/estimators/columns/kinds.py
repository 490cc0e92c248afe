"""Classes of feature columns by the names of TensorFlow's inner modules, for libraries.

Libraries ask by them of what kind a column is. Columns are of the newer classes, and these of the
older abstract ones; nothing is of the older classes that could be made.
"""

from __future__ import annotations

from tfdist.estimators.columns.categorical import (
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    WeightedCategoricalColumn,
)
from tfdist.estimators.columns.crossed import CrossedColumn
from tfdist.estimators.columns.dense import (
    EmbeddingColumn,
    IndicatorColumn,
    SharedEmbeddingColumn,
)
from tfdist.estimators.columns.feature_column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
)
from tfdist.estimators.columns.numeric import BucketizedColumn, NumericColumn
from tfdist.estimators.columns.vocabulary import (
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
)

__all__ = [
    "BucketizedColumn", "CategoricalColumn", "CrossedColumn", "DenseColumn", "EmbeddingColumn",
    "FeatureColumn", "HashedCategoricalColumn", "IdentityCategoricalColumn", "IndicatorColumn",
    "NumericColumn", "SharedEmbeddingColumn", "VocabularyFileCategoricalColumn",
    "VocabularyListCategoricalColumn", "WeightedCategoricalColumn",
]  # fmt: skip

_FeatureColumn = FeatureColumn
_DenseColumn = DenseColumn
_CategoricalColumn = CategoricalColumn

# Those that could be made: no column is of them any more.
for _name in (
    "BucketizedColumn", "CrossedColumn", "EmbeddingColumn", "HashedCategoricalColumn",
    "IdentityCategoricalColumn", "IndicatorColumn", "NumericColumn", "SharedEmbeddingColumn",
    "VocabularyFileCategoricalColumn", "VocabularyListCategoricalColumn",
    "WeightedCategoricalColumn",
):  # fmt: skip
    globals()[f"_{_name}"] = type(f"_{_name}", (FeatureColumn,), {})
