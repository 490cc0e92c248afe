"""tf.feature_column: what becomes of features on their way into a model."""

from importlib import import_module
from typing import Any

from tfdist.programs.missing import told

_PACKAGE = "tfdist.estimators"

# Module -> the names that it gives; loaded when first asked for.
_GIVEN = {
    "column_layers": ("input_layer", "linear_model"),
    "columns": ("make_parse_example_spec",),
    "columns_categorical": (
        "categorical_column_with_hash_bucket",
        "categorical_column_with_identity",
        "weighted_categorical_column",
    ),
    "columns_crossed": ("crossed_column",),
    "columns_dense": ("embedding_column", "indicator_column", "shared_embedding_columns"),
    "columns_numeric": ("bucketized_column", "numeric_column"),
    "columns_vocabulary": (
        "categorical_column_with_vocabulary_file",
        "categorical_column_with_vocabulary_list",
    ),
}
ON_DEMAND = {name: f"{_PACKAGE}.{module}" for module, names in _GIVEN.items() for name in names}

_missing = told("tf.feature_column")


def __getattr__(name: str) -> Any:
    """Return what is loaded when first asked for."""
    if name not in ON_DEMAND:
        return _missing(name)
    found = globals()[name] = getattr(import_module(ON_DEMAND[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(ON_DEMAND)
