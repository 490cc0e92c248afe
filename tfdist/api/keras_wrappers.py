"""tf.keras.wrappers: models as other libraries want them."""

from tfdist.api import keras_wrappers_scikit_learn as scikit_learn
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.wrappers")
