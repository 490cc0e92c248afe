"""tf.nn: what neural networks are made of."""

from tfdist.api import contrib_legacy_seq2seq as seq2seq  # its name in the first releases
from tfdist.api import rnn_cell
from tfdist.models.rnn_bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn
from tfdist.models.rnn_dynamic import dynamic_rnn
from tfdist.models.rnn_raw import raw_rnn
from tfdist.models.rnn_static import static_rnn, static_state_saving_rnn
from tfdist.ops.candidate_sampling_learned import *
from tfdist.ops.ctc_decoding import *
from tfdist.ops.ctc_loss import *
from tfdist.ops.ctc_loss_dense import *
from tfdist.ops.elementwise import sigmoid, tanh
from tfdist.ops.embedding import *
from tfdist.ops.embedding_sparse import *
from tfdist.ops.morphology import *
from tfdist.ops.nn import *
from tfdist.ops.pooling_fractional import *
from tfdist.ops.repeating import collapse_repeated
from tfdist.programs.missing import told

rnn, bidirectional_rnn = static_rnn, static_bidirectional_rnn  # names of the first releases
state_saving_rnn = static_state_saving_rnn

__getattr__ = told("tf.nn")
