"""tf.contrib.metrics: tf.metrics as they were before TensorFlow 1.0."""

from tfdist.models.confusion import confusion_matrix
from tfdist.models.earlier_metrics import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.metrics")
