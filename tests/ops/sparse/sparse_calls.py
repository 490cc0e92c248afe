"""Calls of tf.sparse, tf.sets, CTC and tf.ragged that real TensorFlow and ours make.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours but `tests/ops/differential.py`. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/sparse/sparse_calls.py > tests/ops/sparse/expected_sparse_1_15.json
"""

from __future__ import annotations

import os
import re
import sys

# Calls whose nodes, by name and type, static shapes, types and values must all be TensorFlow's. One
# expression a line, which goes on where the next one is indented; `s()` is a sparse [3, 4] with two
# elements, `t()` another one, `u()` the first with nothing known beforehand, `ids` of integers.
NODES = """
p(tf.sparse_add(s(), t()))
p(tf.sparse_add(s(), t(), thresh=2.5))
p(tf.sparse_add(u(), s()))
p(tf.sparse.add(s(), s(), threshold=0.5))
tf.sparse_add(s(), tf.ones([3, 4]))
tf.sparse_add(tf.ones([3, 4]), s())
tf.sparse_add(tf.ones([3, 4]), tf.ones([3, 4]))
p(tf.sparse_concat(1, [s(), t()]))
p(tf.sparse_concat(-1, [s(), u()]))
p(tf.sparse_concat(0, [s(), s(shape=[3, 5])], expand_nonconcat_dim=True))
p(tf.sparse_concat(0, [s(), s(shape=[3, 5])]))
p(tf.sparse_concat(0, [s()]))
tf.sparse_concat(0, s())
p(*tf.sparse_split(sp_input=s(), num_split=3, axis=1))
p(*tf.sparse_split(sp_input=s(), num_split=9, axis=1))
p(*tf.sparse_split(sp_input=s(), num_split=2, axis=5))
tf.sparse_split(s(), 2, 1)
p(tf.sparse_slice(s(), [0, 0], [2, 3]))
p(tf.sparse_slice(s(), [1, 0], [9, 9]))
p(tf.sparse_slice(s(), [1], [9, 9]))
tf.sparse_tensor_dense_matmul(s(), tf.ones([4, 2]))
tf.sparse_tensor_dense_matmul(s(), tf.ones([2, 3]), adjoint_a=True, adjoint_b=True)
tf.sparse_tensor_dense_matmul(u(), tf.ones([4, 2]))
tf.sparse_tensor_dense_matmul(s(), tf.ones([2, 2]))
tf.sparse_matmul(tf.ones([3, 2]), tf.ones([2, 3]), transpose_a=True, transpose_b=True)
p(s() * tf.constant([1., 2., 3., 4.]))
p(s() * 2.)
p(tf.ones([4]) * s())
p(s() / tf.ones([3, 4]))
p(s([4, 6]) / tf.constant(4))
p(s() * tf.ones([2, 4]))
s() + s()
tf.sparse_reduce_sum(s())
tf.sparse_reduce_sum(s(), [1], keepdims=True)
tf.sparse_reduce_sum(s(), -1, keep_dims=True)
tf.sparse_reduce_sum(s(), [])
tf.sparse_reduce_sum(s(), 5)
tf.sparse_reduce_sum(u(), 1)
tf.sparse_reduce_max(s([-1., -2.]), 1)
p(tf.sparse_reduce_sum_sparse(s(), 0, keepdims=True))
p(tf.sparse_reduce_max_sparse(s()))
p(tf.sparse_softmax(t()))
p(tf.sparse_softmax(tf.SparseTensor([[0], [1]], [1., 2.], [3])))
p(tf.sparse_maximum(s(), t()))
p(tf.sparse_minimum(s(), s([3., -1.])))
p(tf.sparse_maximum(s(), s(shape=[4, 4])))
p(tf.sparse_transpose(s(), [1, 0]))
tf.sparse_transpose(s(), [0])
p(tf.sparse_merge(ids, s(), 5))
p(tf.sparse_merge([ids, ids], s(), [5, 3]))
p(tf.sparse_merge(ids, s(), 5, already_sorted=True))
tf.sparse_merge([ids], s(), 5)
tf.sparse_merge(3, s(), 5)
tf.sparse_to_indicator(ids, 5)
p(tf.sparse_reset_shape(s()))
p(tf.sparse_reset_shape(s(), [5, 6]))
p(tf.sparse_reset_shape(s(), [2, 2]))
p(tf.sparse_reset_shape(s(), [5, 6, 7]))
p(tf.sparse.from_dense([[1, 0], [0, 2]]))
p(tf.sparse.eye(3, 2, dtype=tf.int32))
p(tf.sparse_reshape(s(), [4, -1]))
p(tf.sparse_reshape(s(), [-1, -1]))
p(tf.sparse_reshape(s(), [7]))
p(tf.sparse_reshape(s(), [7, -1]))
p(tf.sparse_reshape(s(), [[12]]))
p(tf.sparse.cross([tf.constant([[1, 2], [3, 4]]), words]))
p(tf.sparse.cross_hashed([tf.constant([[1, 2], [3, 4]]), words], num_buckets=1000))
tf.sparse.cross("a")
p(tf.sets.set_intersection(tf.constant([[1, 2], [3, 4]]), tf.constant([[2, 2], [3, 5]])))
p(tf.sets.set_difference(tf.constant([[1, 2], [3, 4]]), tf.constant([[2, 2], [3, 5]]),
    aminusb=False))
p(tf.sets.set_union(tf.constant([["b", "a"]]), tf.constant([["c", "a"]])))
p(tf.sets.set_union(tf.constant([[1, 2]] * 3), s([7, 1])))
p(tf.sets.set_difference(s([7, 1]), tf.constant([[1, 2]] * 3)))
p(tf.sets.set_union(s([7, 8]), t([7, 9, 8])))
p(tf.sets.set_union(s([7, 8]), t([7, 9, 8], shape=[9, 4])))
tf.sets.set_size(t([7, 9, 9]))
tf.sets.set_size([1, 2])
tf.sets.set_union(tf.constant([1, 2]), tf.constant([2, 2]))
tf.sets.set_union(tf.constant([[1., 2.]]), tf.constant([[2., 2.]]))
tf.nn.ctc_loss(labels, scores, [4, 3])
tf.nn.ctc_loss(labels, tf.transpose(scores, [1, 0, 2]), [4, 3], time_major=False)
tf.nn.ctc_loss(repeated, scores, [4, 3], preprocess_collapse_repeated=True)
tf.nn.ctc_loss(repeated, scores, [4, 3], ctc_merge_repeated=False)
tf.nn.ctc_loss(repeated, scores, [2, 3])
tf.nn.ctc_loss(repeated, scores, [1, 3], ignore_longer_outputs_than_inputs=True)
tf.nn.ctc_loss(repeated, scores, [1, 3])
tf.nn.ctc_loss(labels, scores, [9, 3])
tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [0], [2, 2]), scores, [4, 3])
tf.nn.ctc_loss(tf.constant([[1, 2]]), scores, [4, 3])
p(*tf.nn.ctc_greedy_decoder(scores, [4, 3])[0])
tf.nn.ctc_greedy_decoder(scores, [4, 3], merge_repeated=False)[1]
tf.nn.ctc_greedy_decoder(scores, [4, 9])[1]
p(*tf.nn.ctc_beam_search_decoder(scores, [4, 3])[0])
p(*tf.nn.ctc_beam_search_decoder_v2(scores, [4, 3], beam_width=4, top_paths=2)[0])
tf.nn.ctc_beam_search_decoder(scores, [4, 3], beam_width=4, top_paths=3)[1]
tf.nn.ctc_beam_search_decoder(scores, [4, 3], beam_width=2, top_paths=3)[1]
r(tf.ragged.constant([[1, 2], [], [3]]))
r(tf.ragged.constant([[[1], [2, 3]], []]))
r(tf.ragged.constant([["a"], ["b", "c"]], name="r"))
r(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)))
tf.ragged.constant([1, 2])
tf.ragged.constant([[1, [2]]])
tf.ragged.constant([[1, 2], [3]]).row_lengths()
tf.ragged.constant([[1, 2], [3]]).row_starts()
p(tf.ragged.constant([[[1], [2, 3]], []]).to_sparse())
r(tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]])))
r(tf.ragged.range([1, 3], [2, 7], 2))
"""

# Calls whose types and values must be TensorFlow's; the nodes and what is known of shapes are ours.
VALUES = """
p(tf.sparse_transpose(s()))
p(tf.sparse_transpose(u()))
p(tf.sparse.expand_dims(s()))
p(tf.sparse.expand_dims(s(), 1))
p(tf.sparse.expand_dims(s(), 3))
p(tf.sparse_reset_shape(u(), [5, 6]))
p(tf.sparse_reset_shape(u(), [2, 6]))
g(lambda v: tf.sparse_add(s(v), s(v, indices=[[0, 1], [1, 1]])).values, [1., 2.])
g(lambda v: tf.sparse_reduce_sum(s(v), 1), [1., 2.])
g(lambda v: tf.sparse_reduce_max(s(v), 1), [1., 2.])
g(lambda v: tf.sparse_softmax(s(v, indices=[[0, 1], [0, 2]])).values, [1., 2.])
g(lambda v: (s() / v).values, [1., 2., 3., 4.])
g(lambda v: (s(v) * tf.constant([1., 2., 3., 4.])).values, [1., 2.])
g(lambda v: tf.sparse_tensor_dense_matmul(s(), v), [[1.], [2.], [3.], [4.]])
g(lambda v: tf.sparse_matmul(v, tf.constant([[1.], [2.]]), transpose_a=True), [[1.], [2.]])
g(lambda v: tf.nn.ctc_loss(labels, v, [4, 3]), np.arange(24.).reshape(4, 2, 3) * 7 % 5)
tf.nn.ctc_unique_labels(tf.constant([[3, 4, 4, 3], [1, 1, 1, 0]]))
tf.nn.ctc_loss_v2(tf.constant([[1, 2], [2, 0]]), scores, [2, 1], [4, 3])
tf.nn.ctc_loss_v2(tf.constant([[1, 2], [2, 0]]), scores, [2, 0], [4, 3])
tf.nn.ctc_loss_v2(labels, scores, None, [4, 3], blank_index=-1)
tf.nn.ctc_loss_v2(tf.SparseTensor([[0, 0], [1, 0]], [0, 2], [2, 2]), scores, None, [4, 3],
    blank_index=1)
tf.nn.ctc_loss_v2(labels, scores, None, [4, 3])
r(tf.RaggedTensor.from_row_splits(tf.constant([3, 1, 4]), [0, 2, 3]))
r(tf.RaggedTensor.from_row_splits([3, 1, 4], unknown([0, 2, 5])))
r(tf.RaggedTensor.from_row_lengths([3, 1, 4], [2, 0, 1]))
r(tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2], nrows=4))
r(tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 2]))
r(tf.RaggedTensor.from_row_limits([3, 1, 4], [2, 3]))
r(tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]]))
r(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]]))
r(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[2, 1]))
r(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0))
r(tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 4])))
tf.ragged.constant([[1, 2], [3]]).to_tensor(-1)
tf.ragged.constant([[[1], [2, 3]], []]).to_tensor()
tf.ragged.constant([["a", "b"], ["c"]]).to_tensor()
tf.ragged.constant([[1, 2], [], [3]]).value_rowids()
tf.ragged.constant([[1, 2], [], [3]]).nrows()
tf.ragged.constant([[[1], [2, 3]], []]).bounding_shape()
tf.ragged.constant([[1, 2], [3]])[0]
tf.ragged.constant([[1, 2], [3]])[1, 0]
r(tf.ragged.constant([[1, 2], [], [3]])[1:])
r(tf.ragged.constant([[1, 2], [3]])[:, :1])
r(tf.ragged.constant([[1, 2], [3]])[:, -1:])
r(tf.ragged.constant([[1, 2], [3]]) + 1)
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5)
r(tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]))
"""

# Functions that calls use.
FUNCTIONS = {
    "s": "lambda values=(1., 2.), shape=(3, 4), indices=((0, 1), (2, 0)): "
    "tf.SparseTensor(indices, values, shape)",
    "t": "lambda values=(1., 3., -1.), shape=(3, 4): "
    "tf.SparseTensor([[0, 1], [0, 2], [1, 1]], values, shape)",
    "u": "lambda: tf.SparseTensor(tf.cast(unknown([[0, 1], [2, 0]], [None, None]), tf.int64), "
    "unknown([1., 2.], [None]), tf.cast(unknown([3, 4], [None]), tf.int64))",
    "p": "lambda *each: [part for x in each for part in (x.indices, x.values, x.dense_shape)]",
    "r": "lambda x: [x.flat_values] + list(x.nested_row_splits)",
    "g": "lambda f, x: (lambda t: tf.gradients(f(t), t))(tf.constant(np.array(x, np.float32)))",
}

# What other names stand for.
TENSORS = {
    "labels": "tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 2])",
    "repeated": "tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 0, 1], [2, 2])",
    "scores": "tf.constant((np.arange(24) * 7 % 5).astype(np.float32).reshape(4, 2, 3))",
    "ids": "s(np.array([1, 2]))",
    "words": "tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ['a', 'bcd', 'e' * 70], [2, 2])",
}


def calls(table):
    """Return the lines of a table."""
    return [line for line in table.replace("\n    ", " ").splitlines() if line]


def spelled_out(source):
    """Return a call with what its names stand for."""
    for name, tensor in TENSORS.items():
        source = re.sub(rf"\b{name}\b", tensor, source)
    functions = ", ".join(f"({function})" for function in FUNCTIONS.values())
    return f"(lambda {', '.join(FUNCTIONS)}: {source})({functions})"


def main():
    """Write what this Python's TensorFlow makes of everything."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from differential import say_all

    say_all({source: spelled_out(source) for source in calls(NODES + VALUES)})


if __name__ == "__main__":
    main()
