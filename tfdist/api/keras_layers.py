"""tf.keras.layers: what networks are made of."""

from tfdist.networks.layers import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.layers")
