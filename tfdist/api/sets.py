"""tf.sets: sets in the rows of tensors."""

from tfdist.ops.set_operations import *
from tfdist.programs.missing import told

__getattr__ = told("tf.sets")
