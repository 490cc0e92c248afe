"""tf.layers: layers as functions, and the classes behind them."""

from tfdist.models.base import *
from tfdist.models.convolutional import *
from tfdist.models.convolutional_others import *
from tfdist.models.core import *
from tfdist.models.input_spec import *
from tfdist.models.normalization import *
from tfdist.models.pooling import *
from tfdist.programs.missing import told

__getattr__ = told("tf.layers")
