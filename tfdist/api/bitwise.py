"""tf.bitwise: integers bit by bit."""

from tfdist.ops.bitwise import *
from tfdist.programs.missing import told

__getattr__ = told("tf.bitwise")
