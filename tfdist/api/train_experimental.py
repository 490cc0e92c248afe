"""tf.train.experimental: Python's own state in checkpoints, and scaled losses."""

from tfdist.programs.missing import told
from tfdist.training.loss_scale import *
from tfdist.training.loss_scale_optimizer import *
from tfdist.training.trackable import PythonState

__getattr__ = told("tf.train.experimental")
