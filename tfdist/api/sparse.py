"""tf.sparse: tensors of which only some elements are there."""

from tfdist.ops.sparse_accumulators import SparseConditionalAccumulator
from tfdist.ops.sparse_dense import sparse_tensor_to_dense as to_dense
from tfdist.ops.sparse_rows import sparse_fill_empty_rows as fill_empty_rows
from tfdist.ops.sparse_rows import sparse_reshape as reshape
from tfdist.ops.sparse_rows import sparse_retain as retain
from tfdist.ops.sparse_segments import sparse_segment_mean as segment_mean
from tfdist.ops.sparse_segments import sparse_segment_sqrt_n as segment_sqrt_n
from tfdist.ops.sparse_segments import sparse_segment_sum as segment_sum
from tfdist.ops.sparse_tensor import SparseTensor
from tfdist.ops.sparse_tensor import sparse_placeholder as placeholder
from tfdist.ops.sparse_tensor import sparse_reorder as reorder
from tfdist.programs.missing import told

__getattr__ = told("tf.sparse")
