"""tf.contrib.sparsemax: softmax's neighbour that gives zeros."""

from tfdist.models.contrib_sparsemax import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.sparsemax")
