"""tf.contrib.predictor: models as Python functions."""

from tfdist.programs.missing import told
from tfdist.training.saved_model_predictor import from_estimator, from_saved_model

__getattr__ = told("tf.contrib.predictor")
