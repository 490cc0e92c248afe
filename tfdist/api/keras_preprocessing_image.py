"""tf.keras.preprocessing.image: images made ready for models."""

from tfdist.networks.preprocessing_image import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.preprocessing.image")
