"""tf.keras.wrappers.scikit_learn: models with the methods of scikit-learn's estimators."""

from tfdist.networks.wrappers import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.wrappers.scikit_learn")
