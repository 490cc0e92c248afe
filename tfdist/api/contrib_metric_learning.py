"""tf.contrib.losses.metric_learning: embeddings of one label near each other."""

from tfdist.models.metric_learning import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.losses.metric_learning")
