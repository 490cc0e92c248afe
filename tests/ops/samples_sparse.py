"""The samples of sparse tensors; the form is prescribed at the top of `samples.py`."""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def i32(values):
    """Return an array of int32."""
    return np.array(values, np.int32)


def i64(values):
    """Return an array of int64."""
    return np.array(values, np.int64)


def f32(values):
    """Return an array of float32."""
    return np.array(values, np.float32)


def strings(*values):
    """Return an array of strings."""
    array = np.array(values, object)
    array.reshape(-1)[:] = [value.encode() for value in array.reshape(-1)]
    return array


F3, F4 = floats(3), floats(4, start=0.9)
PLACES, OTHER = i64([[0, 1], [2, 0], [2, 3]]), i64([[0, 1], [1, 1], [2, 2], [2, 3]])
SHAPE = i64([3, 4])
X, Y = (PLACES, F3, SHAPE), (OTHER, F4, SHAPE)
SOLID = (i64([[0, 1, 1], [2, 0, 0], [2, 0, 1]]), F3, i64([3, 2, 2]))
ONE, BOTH, LAST = np.int32(1), i32([0, -1]), i32([2])
KEPT = {"keep_dims": True}
TURNED = {"adjoint_a": True, "adjoint_b": True}

UNION, ONLY_A = {"set_operation": "union"}, {"set_operation": "a-b"}
BOTH_SETS, ONLY_B = {"set_operation": "intersection"}, {"set_operation": "b-a"}
LABELS = i64([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]]), i32([0, 0, 1, 2, 1, 1])
SCORES = (3 * np.sin(7 * np.arange(96))).astype(np.float32).reshape(8, 3, 4)
ROWS = i32([[7, 9, 7], [4, 5, 6], [1, 1, 1]])
THREE, FOUR = i32([9, 1, 2]), i32([9, 3, 2, 1])

SAMPLES = {
    # sparse_sums.py
    "SparseAdd": [(*X, *Y, np.float32(0)), (*X, *Y, np.float32(0.3))],
    "SparseAddGrad": (floats(5), PLACES, OTHER, i64([[0, 1], [1, 1], [2, 0], [2, 2], [2, 3]])),
    "SparseTensorDenseAdd": (*X, floats(3, 4)),
    # sparse_joining.py
    "SparseConcat": [
        ([PLACES, OTHER], [F3, F4], [SHAPE, SHAPE], {"concat_dim": 1}),
        ([PLACES, OTHER], [F3, F4], [SHAPE, SHAPE], {"concat_dim": -2}),
    ],
    "SparseSplit": (np.int64(1), *X, {"num_split": 3}),
    "SparseSlice": [(*X, i64([1, 0]), i64([2, 3])), (*X, i64([2, 3]), SHAPE)],
    "SparseSliceGrad": (floats(2), PLACES, i64([2, 0]), i64([[0, 0], [0, 3]])),
    # sparse_products.py
    "SparseTensorDenseMatMul": [(*X, floats(4, 2)), (*X, floats(2, 3), TURNED)],
    "SparseMatMul": [
        (floats(2, 3), floats(3, 4)),
        (floats(3, 2), floats(4, 3), {"transpose_a": True, "transpose_b": True}),
    ],
    # sparse_elementwise.py
    "SparseDenseCwiseMul": [(*X, floats(4)), (*X, floats(3, 1)), (*X, np.float32(2))],
    "SparseDenseCwiseDiv": [(*X, floats(4) + 3), (*X, floats(3, 4) + 3)],
    "SparseDenseCwiseAdd": (*X, floats(3, 4)),
    # sparse_reductions.py
    "SparseReduceSum": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceSumSparse": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceMax": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceMaxSparse": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseSoftmax": [X, SOLID],
    "SparseSparseMaximum": (*X, *Y),
    "SparseSparseMinimum": (*X, *Y),
    # set_operations.py
    "DenseToDenseSetOperation": [
        (ROWS, ROWS[:, 1:] - 1, UNION), (ROWS, ROWS[::-1], BOTH_SETS),
        (strings(["a", "b"]), strings(["b", "c"]), ONLY_A),
    ],
    "DenseToSparseSetOperation": [(ROWS, PLACES, THREE, SHAPE, op) for op in (UNION, ONLY_B)],
    "SparseToSparseSetOperation": [
        (PLACES, THREE, SHAPE, OTHER, FOUR, SHAPE, op) for op in (UNION, BOTH_SETS, ONLY_A)
    ],
    # ctc_loss.py
    "CTCLoss": [
        (2 * floats(5, 3, 4), *LABELS, i32([5, 3, 4])),
        (2 * floats(5, 3, 4), *LABELS, i32([4, 5, 2]), {"ctc_merge_repeated": False}),
        (2 * floats(5, 3, 4), *LABELS, i32([1, 5, 5]),
         {"ignore_longer_outputs_than_inputs": True, "preprocess_collapse_repeated": True}),
    ],
    # ctc_decoding.py
    "CTCGreedyDecoder": [
        (SCORES, i32([8, 2, 5])), (SCORES, i32([0, 8, 8]), {"merge_repeated": True})
    ],
    "CTCBeamSearchDecoder": [
        (SCORES, i32([8, 2, 5]), {"beam_width": 5, "top_paths": 3, "merge_repeated": False}),
        (SCORES, i32([0, 8, 8]), {"beam_width": 9, "top_paths": 1}),
    ],
    # ragged_ops.py
    "RaggedTensorToSparse": [
        ([i64([0, 1, 3])], F3), ([i64([0, 2, 2]), i64([0, 2, 3])], floats(3, 2)),
    ],
    "RaggedRange": [
        (i32([1, 5]), i32([6, 2]), i32([2, -1])),
        (np.float32(0), f32([2.5, -1, 1]), np.float32(1)),
    ],
    "SetSize": [(OTHER, i32([5, 6, 3, 3]), SHAPE), (SOLID[0], THREE, SOLID[2])],
}  # fmt: skip
