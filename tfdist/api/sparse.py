"""tf.sparse: tensors of which only some elements are there."""

from tfdist.ops.sparse_accumulators import SparseConditionalAccumulator
from tfdist.ops.sparse_dense import sparse_tensor_to_dense as to_dense
from tfdist.ops.sparse_tensor import SparseTensor
from tfdist.ops.sparse_tensor import sparse_placeholder as placeholder
from tfdist.ops.sparse_tensor import sparse_reorder as reorder
from tfdist.programs.missing import told

__getattr__ = told("tf.sparse")
