"""tf.keras.utils: helpers of programs that train models."""

from tfdist.networks.progress import *
from tfdist.networks.serialization import *
from tfdist.networks.utils import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.utils")
