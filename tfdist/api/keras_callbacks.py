"""tf.keras.callbacks: what is called during training."""

from tfdist.networks.callbacks import *
from tfdist.networks.callbacks_files import *
from tfdist.networks.callbacks_rates import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.callbacks")
