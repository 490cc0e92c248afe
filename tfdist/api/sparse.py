"""tf.sparse: tensors of which only some elements are there."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.ops.queues.sparse_accumulators import SparseConditionalAccumulator
    from tfdist.ops.sparse.add import sparse_add as add
    from tfdist.ops.sparse.concat_split import sparse_concat as concat
    from tfdist.ops.sparse.concat_split import sparse_slice as slice
    from tfdist.ops.sparse.concat_split import sparse_split as split
    from tfdist.ops.sparse.conversions import sparse_expand_dims as expand_dims
    from tfdist.ops.sparse.conversions import sparse_eye as eye
    from tfdist.ops.sparse.conversions import sparse_from_dense as from_dense
    from tfdist.ops.sparse.conversions import sparse_mask as mask
    from tfdist.ops.sparse.conversions import sparse_merge as merge
    from tfdist.ops.sparse.conversions import sparse_reset_shape as reset_shape
    from tfdist.ops.sparse.conversions import sparse_to_indicator as to_indicator
    from tfdist.ops.sparse.conversions import sparse_transpose as transpose
    from tfdist.ops.sparse.cross import sparse_cross as cross
    from tfdist.ops.sparse.cross import sparse_cross_hashed as cross_hashed
    from tfdist.ops.sparse.matmul import sparse_tensor_dense_matmul as matmul
    from tfdist.ops.sparse.matmul import sparse_tensor_dense_matmul as sparse_dense_matmul
    from tfdist.ops.sparse.reductions import sparse_maximum as maximum
    from tfdist.ops.sparse.reductions import sparse_minimum as minimum
    from tfdist.ops.sparse.reductions import sparse_reduce_max as reduce_max
    from tfdist.ops.sparse.reductions import sparse_reduce_max_sparse as reduce_max_sparse
    from tfdist.ops.sparse.reductions import sparse_reduce_sum as reduce_sum
    from tfdist.ops.sparse.reductions import sparse_reduce_sum_sparse as reduce_sum_sparse
    from tfdist.ops.sparse.reductions import sparse_softmax as softmax
    from tfdist.ops.sparse.rows import sparse_fill_empty_rows as fill_empty_rows
    from tfdist.ops.sparse.rows import sparse_reshape as reshape
    from tfdist.ops.sparse.rows import sparse_retain as retain
    from tfdist.ops.sparse.segments import sparse_segment_mean as segment_mean
    from tfdist.ops.sparse.segments import sparse_segment_sqrt_n as segment_sqrt_n
    from tfdist.ops.sparse.segments import sparse_segment_sum as segment_sum
    from tfdist.ops.sparse.sparse_tensor import SparseTensor
    from tfdist.ops.sparse.sparse_tensor import sparse_placeholder as placeholder
    from tfdist.ops.sparse.sparse_tensor import sparse_reorder as reorder
    from tfdist.ops.sparse.to_dense import sparse_tensor_to_dense as to_dense

__getattr__, __dir__ = lazy(__name__, "tf.sparse")
