"""tf.contrib.rnn: cells of recurrent networks, and networks made of them."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.nn.rnn_cell import *
    from tfdist.api.nn.rnn_cell import _linear
    from tfdist.models.contrib.normalized_cells import *
    from tfdist.models.rnn.attention_cells import *
    from tfdist.models.rnn.bidirectional import (
        stack_bidirectional_dynamic_rnn,
        stack_bidirectional_rnn,
        static_bidirectional_rnn,
    )
    from tfdist.models.rnn.block_cells import *
    from tfdist.models.rnn.convolutional_cells import *
    from tfdist.models.rnn.dynamic_rnn import transpose_batch_time
    from tfdist.models.rnn.fused import *
    from tfdist.models.rnn.gated_cells import *
    from tfdist.models.rnn.independent_cells import *
    from tfdist.models.rnn.phased_lstm import *
    from tfdist.models.rnn.rnn_cell import LayerRNNCell
    from tfdist.models.rnn.static_rnn import *
    from tfdist.models.rnn.step import best_effort_input_batch_size

__getattr__, __dir__ = lazy(__name__, "tf.contrib.rnn")
