"""tf.contrib.cudnn_rnn: cells with the variables of Nvidia's networks."""

from tfdist.models.rnn_cudnn import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.cudnn_rnn")
