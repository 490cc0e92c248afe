"""tf.keras.constraints: what weights are made to be after each step."""

from tfdist.networks.constraints import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.constraints")
