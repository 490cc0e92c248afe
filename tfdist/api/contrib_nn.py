"""tf.contrib.nn: functions of networks that stayed at the side."""

from tfdist.models.contrib_nn import *
from tfdist.ops.convolution_transposed import conv1d_transpose
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.nn")
