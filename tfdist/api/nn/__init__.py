"""tf.nn: what neural networks are made of."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.contrib import legacy_seq2seq as seq2seq  # its name in the first releases
    from tfdist.api.nn import rnn_cell
    from tfdist.models.losses.replicas import *
    from tfdist.models.rnn.bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn
    from tfdist.models.rnn.bidirectional import static_bidirectional_rnn as bidirectional_rnn
    from tfdist.models.rnn.dynamic_rnn import dynamic_rnn
    from tfdist.models.rnn.raw_rnn import raw_rnn
    from tfdist.models.rnn.static_rnn import static_rnn, static_state_saving_rnn
    from tfdist.models.rnn.static_rnn import static_rnn as rnn
    from tfdist.models.rnn.static_rnn import static_state_saving_rnn as state_saving_rnn
    from tfdist.ops.array.repeat import collapse_repeated
    from tfdist.ops.convolution.morphology import *
    from tfdist.ops.math.elementwise import sigmoid, tanh
    from tfdist.ops.nn.ctc_decode import *
    from tfdist.ops.nn.ctc_loss import *
    from tfdist.ops.nn.dense_ctc_loss import *
    from tfdist.ops.nn.embedding_lookup import *
    from tfdist.ops.nn.embedding_lookup_sparse import *
    from tfdist.ops.nn.functions import *
    from tfdist.ops.nn.learned_candidate_sampling import *
    from tfdist.ops.pooling.fractional import *

__getattr__, __dir__ = lazy(__name__, "tf.nn")
