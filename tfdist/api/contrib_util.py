"""tf.contrib.util: tensors as messages, and what GraphDefs use."""

from tfdist.graph.tensor_proto import make_ndarray, make_tensor_proto
from tfdist.models.contrib_util import *
from tfdist.ops.tensor_kinds import get_static_value as constant_value
from tfdist.programs.missing import told

__getattr__ = told("tf.contrib.util")
