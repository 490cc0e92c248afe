"""tf.contrib.crf: conditional random fields of a chain."""

from tfdist.models.crf import *
from tfdist.models.crf_cells import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.crf")
