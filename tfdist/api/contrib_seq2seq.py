"""tf.contrib.seq2seq: decoders, attention, beam search, and losses of sequences."""

from tfdist.models.rnn_losses import sequence_loss
from tfdist.models.seq2seq_attention import *
from tfdist.models.seq2seq_beams import *
from tfdist.models.seq2seq_custom_helpers import *
from tfdist.models.seq2seq_decoder import *
from tfdist.models.seq2seq_helpers import *
from tfdist.models.seq2seq_monotonic import *
from tfdist.models.seq2seq_scheduled import *
from tfdist.models.seq2seq_wrapper import *
from tfdist.ops.gather_tree import gather_tree
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.seq2seq")
