"""tf.contrib.tensorboard: what TensorBoard's plugins read."""

from types import SimpleNamespace

from tfdist.programs.missing import told
from tfdist.training import projector

plugins = SimpleNamespace(projector=projector)

__getattr__ = told("tf.contrib.tensorboard")
