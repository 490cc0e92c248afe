"""tf.nn.rnn_cell: cells of recurrent networks."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.models.rnn.basic_cells import *
    from tfdist.models.rnn.block_cells import LSTMBlockCell
    from tfdist.models.rnn.dropout_wrapper import *
    from tfdist.models.rnn.lstm_cells import *
    from tfdist.models.rnn.projections import *  # of tf.contrib.rnn; here in the first releases
    from tfdist.models.rnn.projections import _linear
    from tfdist.models.rnn.rnn_cell import RNNCell
    from tfdist.models.rnn.wrappers import *

__getattr__, __dir__ = lazy(__name__, "tf.nn.rnn_cell")
