"""tf.keras.preprocessing.text: texts made ready for models."""

from tfdist.networks.preprocessing_text import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.preprocessing.text")
