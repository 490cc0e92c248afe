"""tf.feature_column: what becomes of features on their way into a model."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.columns.categorical import (
        categorical_column_with_hash_bucket,
        categorical_column_with_identity,
        weighted_categorical_column,
    )
    from tfdist.estimators.columns.crossed import (
        crossed_column,
    )
    from tfdist.estimators.columns.dense import (
        embedding_column,
        indicator_column,
        shared_embedding_columns,
    )
    from tfdist.estimators.columns.feature_column import (
        make_parse_example_spec,
    )
    from tfdist.estimators.columns.layers import (
        input_layer,
        linear_model,
    )
    from tfdist.estimators.columns.numeric import (
        bucketized_column,
        numeric_column,
    )
    from tfdist.estimators.columns.vocabulary import (
        categorical_column_with_vocabulary_file,
        categorical_column_with_vocabulary_list,
    )

__getattr__, __dir__ = lazy(__name__, "tf.feature_column")
