"""tf.ragged: tensors whose rows are of different lengths."""

from tfdist.ops.ragged_functions import *
from tfdist.ops.ragged_operators import map_flat_values
from tfdist.ops.ragged_stacks import *
from tfdist.ops.ragged_values import RaggedTensorValue, constant_value
from tfdist.programs.missing import told

__getattr__ = told("tf.ragged")
