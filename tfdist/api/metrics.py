"""tf.metrics: what a model achieves, added up over batches in local variables."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.metrics.auc import *
    from tfdist.models.metrics.counts import *
    from tfdist.models.metrics.matrices import *
    from tfdist.models.metrics.means import *
    from tfdist.models.metrics.ranked import *
    from tfdist.models.metrics.threshold_counts import *
    from tfdist.models.metrics.thresholds import *

__getattr__, __dir__ = lazy(__name__, "tf.metrics")
