"""tf.contrib.legacy_seq2seq: losses of sequences that are lists of steps."""

from tfdist.models.rnn_losses import legacy_sequence_loss as sequence_loss
from tfdist.models.rnn_losses import sequence_loss_by_example
from tfdist.programs.missing import told

__all__ = ["sequence_loss", "sequence_loss_by_example"]

__getattr__ = told("tf.contrib.legacy_seq2seq")
