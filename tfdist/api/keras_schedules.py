"""tf.keras.optimizers.schedules: learning rates that depend on the step."""

from tfdist.networks.schedules import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.optimizers.schedules")
