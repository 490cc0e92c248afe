"""tf.autograph: functions that decide by tensors."""

from tfdist.api import autograph_experimental as experimental
from tfdist.programs.autograph import set_verbosity, to_code, to_graph, trace
from tfdist.programs.missing import told

__getattr__ = told("tf.autograph")
