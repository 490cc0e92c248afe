"""tf.distribute: of the strategies nothing; TensorFlow 1.14's other name for tf.train.Server."""

from tfdist.programs.missing import told
from tfdist.wire.server import Server

__all__ = ["Server"]

__getattr__ = told("tf.distribute")
