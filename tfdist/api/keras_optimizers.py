"""tf.keras.optimizers: optimizers, and learning rates that depend on the step."""

from tfdist.api import keras_schedules as schedules
from tfdist.networks.optimizers import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.optimizers")
