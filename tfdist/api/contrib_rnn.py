"""tf.contrib.rnn: cells of recurrent networks, and networks made of them."""

from tfdist.api.rnn_cell import *
from tfdist.api.rnn_cell import _linear
from tfdist.models.rnn_bidirectional import (
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    static_bidirectional_rnn,
)
from tfdist.models.rnn_cell import LayerRNNCell
from tfdist.models.rnn_dynamic import transpose_batch_time
from tfdist.models.rnn_static import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.rnn")
