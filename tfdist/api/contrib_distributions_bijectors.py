"""tf.contrib.distributions.bijectors: functions that can be taken back."""

from tfdist.models.contrib_bijectors import *
from tfdist.models.contrib_bijectors_composed import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.distributions.bijectors")
