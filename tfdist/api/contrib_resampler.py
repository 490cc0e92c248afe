"""tf.contrib.resampler: images looked at in any places."""

from tfdist.ops.resampler import resampler
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.resampler")
