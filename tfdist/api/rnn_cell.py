"""tf.nn.rnn_cell: cells of recurrent networks."""

from tfdist.models.rnn_basic_cells import *
from tfdist.models.rnn_block_cells import LSTMBlockCell
from tfdist.models.rnn_cell import RNNCell
from tfdist.models.rnn_dropout import *
from tfdist.models.rnn_lstm_cells import *
from tfdist.models.rnn_projections import *  # of tf.contrib.rnn; here in the first releases
from tfdist.models.rnn_projections import _linear
from tfdist.models.rnn_wrappers import *
from tfdist.ops import gather_tree as _gather_tree  # an op that graphs of others may have
from tfdist.programs.missing import told

__getattr__ = told("tf.nn.rnn_cell")
