"""tf.contrib.metrics: tf.metrics as they were before TensorFlow 1.0."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.contrib.metrics.auc_intervals import *
    from tfdist.models.contrib.metrics.kept_values import *
    from tfdist.models.contrib.metrics.legacy_metrics import *
    from tfdist.models.contrib.metrics.moments import *
    from tfdist.models.contrib.metrics.rates import *
    from tfdist.models.metrics.confusion import confusion_matrix
    from tfdist.ops.sparse.set_operations import (
        set_difference,
        set_intersection,
        set_size,
        set_union,
    )

__getattr__, __dir__ = lazy(__name__, "tf.contrib.metrics")
