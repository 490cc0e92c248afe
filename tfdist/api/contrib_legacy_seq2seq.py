"""tf.contrib.legacy_seq2seq: networks from lists of steps to lists of steps, and their losses."""

from tfdist.models.rnn_losses import legacy_sequence_loss as sequence_loss
from tfdist.models.rnn_losses import sequence_loss_by_example
from tfdist.models.seq2seq_legacy import *
from tfdist.models.seq2seq_legacy_decoders import *
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.legacy_seq2seq")
