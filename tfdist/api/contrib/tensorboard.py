"""tf.contrib.tensorboard: what TensorBoard's plugins read."""

# mypy: implicit-reexport

from tfdist.programs.missing import space, told
from tfdist.training.events import projector

plugins = space("tf.contrib.tensorboard.plugins", projector=projector)

__getattr__ = told("tf.contrib.tensorboard")
