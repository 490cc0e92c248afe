"""tf.contrib.layers: layers as functions, regularizers, initializers, summaries."""

from tfdist.models.contrib_convolutions import *
from tfdist.models.contrib_initializers import *
from tfdist.models.contrib_layers import *
from tfdist.models.contrib_normalization import *
from tfdist.models.contrib_summaries import *
from tfdist.models.regularizers import *
from tfdist.programs.missing import told
from tfdist.training.optimize_loss import *

__getattr__ = told("tf.contrib.layers")
