"""tf.contrib.rnn: cells of recurrent networks, and networks made of them."""

from tfdist.api.rnn_cell import *
from tfdist.api.rnn_cell import _linear
from tfdist.models.rnn_attention_cells import *
from tfdist.models.rnn_bidirectional import (
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    static_bidirectional_rnn,
)
from tfdist.models.rnn_block_cells import *
from tfdist.models.rnn_cell import LayerRNNCell
from tfdist.models.rnn_convolutional_cells import *
from tfdist.models.rnn_dynamic import transpose_batch_time
from tfdist.models.rnn_fused import *
from tfdist.models.rnn_gated_cells import *
from tfdist.models.rnn_independent_cells import *
from tfdist.models.rnn_normalized_cells import *
from tfdist.models.rnn_phased import *
from tfdist.models.rnn_static import *
from tfdist.models.rnn_steps import best_effort_input_batch_size
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.rnn")
