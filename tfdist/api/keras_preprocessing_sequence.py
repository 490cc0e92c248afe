"""tf.keras.preprocessing.sequence: sequences made ready for models."""

from tfdist.networks.preprocessing_sequence import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.preprocessing.sequence")
