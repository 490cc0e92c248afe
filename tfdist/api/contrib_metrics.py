"""tf.contrib.metrics: tf.metrics as they were before TensorFlow 1.0."""

from tfdist.models.confusion import confusion_matrix
from tfdist.models.contrib_metrics_intervals import *
from tfdist.models.contrib_metrics_kept import *
from tfdist.models.contrib_metrics_moments import *
from tfdist.models.contrib_metrics_rates import *
from tfdist.models.earlier_metrics import *
from tfdist.ops.set_operations import set_difference, set_intersection, set_size, set_union
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.metrics")
