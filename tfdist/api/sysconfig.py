"""tf.sysconfig: how TensorFlow was compiled; here nothing was."""

from tfdist.programs.missing import told
from tfdist.programs.system import *

__getattr__ = told("tf.sysconfig")
