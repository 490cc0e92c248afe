"""tf.keras.models: networks, and networks from what tells of them."""

from tfdist.networks.cloning import *
from tfdist.networks.loading import *
from tfdist.networks.model import *
from tfdist.networks.saving import *
from tfdist.networks.sequential import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.models")
