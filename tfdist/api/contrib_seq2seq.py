"""tf.contrib.seq2seq: losses of sequences."""

from tfdist.models.rnn_losses import sequence_loss
from tfdist.programs.missing import told

__all__ = ["sequence_loss"]

__getattr__ = told("tf.contrib.seq2seq")
