"""tf.metrics: what a model achieves, added up over batches in local variables."""

from tfdist.models.metrics_auc import *
from tfdist.models.metrics_counts import *
from tfdist.models.metrics_matrices import *
from tfdist.models.metrics_means import *
from tfdist.models.metrics_ranked import *
from tfdist.models.metrics_thresholds import *
from tfdist.models.threshold_counts import *
from tfdist.programs.missing import told

__getattr__ = told("tf.metrics")
