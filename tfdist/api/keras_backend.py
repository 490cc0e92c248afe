"""tf.keras.backend: functions of which layers, losses and programs are made."""

from tfdist.networks.backend_arrays import *
from tfdist.networks.backend_images import *
from tfdist.networks.backend_math import *
from tfdist.networks.crossentropy import (
    binary_crossentropy,
    categorical_crossentropy,
    sparse_categorical_crossentropy,
)
from tfdist.networks.phases import *
from tfdist.networks.rnn_loop import *
from tfdist.networks.sessions import *
from tfdist.networks.settings import *
from tfdist.networks.states import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.backend")
