"""tf.keras.preprocessing: data made ready for models."""

from tfdist.api import keras_preprocessing_image as image
from tfdist.api import keras_preprocessing_sequence as sequence
from tfdist.api import keras_preprocessing_text as text
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.preprocessing")
