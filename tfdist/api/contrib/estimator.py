"""tf.contrib.estimator: heads, what is added to estimators, and optimizers for them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.canned.contrib_heads import (
        binary_classification_head,
        logistic_regression_head,
        multi_class_head,
        multi_label_head,
        poisson_regression_head,
        regression_head,
    )
    from tfdist.estimators.extenders import add_metrics, forward_features
    from tfdist.training.optimizers.contrib.norm_clipping import clip_gradients_by_norm

__getattr__, __dir__ = lazy(__name__, "tf.contrib.estimator")
