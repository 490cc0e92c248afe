"""The samples of sparse tensors."""

from __future__ import annotations

import numpy as np

from .values import floats, i32, i64, ints, strings, text


def serialized(places, shape):
    """Return a sparse tensor with the number 7 at each place as three messages."""
    places, shape = np.array(places), np.array(shape)
    numbers = np.full(len(places), 7, np.int32)
    return [_message(9, places), _message(3, numbers), _message(9, shape)]


def _message(type_number, array):
    dims = b"".join([b"\x12\x02\x08" + bytes([dim]) for dim in array.shape])
    head = bytes([8, type_number, 0x12, len(dims)]) + dims
    return head + bytes([0x22, array.nbytes]) + array.tobytes()


def words(*rows):
    """Return an array of strings."""
    array = np.array(rows, object)
    array.reshape(-1)[:] = [word.encode() for word in array.reshape(-1)]
    return array


def crossed(sparse, dense, attributes):
    """Return a sample of the cross of sparse features and dense ones."""
    return (*([each[part] for each in sparse] for part in range(3)), dense, attributes)


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
ROWS = i32([[7, 9, 7], [4, 5, 6], [1, 1, 1]])
THREE, FOUR = i32([9, 1, 2]), i32([9, 3, 2, 1])
MATRIX = floats(5, 3)
INDICES, IDS = np.int32([4, 0, 2, 2]), np.int32([0, 0, 1, 3])
CELLS = np.int64([[0, 1], [2, 0], [2, 2]])
FILLED, SIZES = np.array([[0, 1], [0, 3], [2, 0]]), np.array([3, 4])
NUMBERS = np.array([1.5, -0.5, 2.5], np.float32)
MESSAGE = text(*serialized([[0, 1], [2, 0]], [3, 4]))
MESSAGES = np.stack([MESSAGE, text(*serialized([[4, 0]], [5, 2]))])
DEFAULT = np.float32(1.5)
WORDS = (np.int64([[0, 0], [0, 1], [2, 0]]), words("a", "b", "cc"), np.int64([3, 2]))
WORD_IDS = (np.int64([[0, 0], [1, 0], [2, 0], [2, 1]]), np.int64([5, -3, 7, 8]), np.int64([3, 2]))
DENSE_WORDS = words(["x", "y"], ["z", ""], ["q", "r"])
DENSE_IDS = np.int64([[1, 2], [3, 4], [5, 6]])
HASHED = {"hashed_output": True, "out_type": "int64", "internal_type": "int64"}
HASHED_1000 = dict(HASHED, num_buckets=1000, hash_key=0xDECAFCAFFE)
JOINED = {"hashed_output": False, "num_buckets": 0, "hash_key": 7, "out_type": "string",
          "internal_type": "string"}  # fmt: skip

SAMPLES = {
    # sparse/add.py
    "SparseAdd": [(*X, *Y, np.float32(0)), (*X, *Y, np.float32(0.3))],
    "SparseAddGrad": (floats(5), PLACES, OTHER, i64([[0, 1], [1, 1], [2, 0], [2, 2], [2, 3]])),
    "SparseTensorDenseAdd": (*X, floats(3, 4)),
    # sparse/concat_split.py
    "SparseConcat": [
        ([PLACES, OTHER], [F3, F4], [SHAPE, SHAPE], {"concat_dim": 1}),
        ([PLACES, OTHER], [F3, F4], [SHAPE, SHAPE], {"concat_dim": -2}),
    ],
    "SparseSplit": (np.int64(1), *X, {"num_split": 3}),
    "SparseSlice": [(*X, i64([1, 0]), i64([2, 3])), (*X, i64([2, 3]), SHAPE)],
    "SparseSliceGrad": (floats(2), PLACES, i64([2, 0]), i64([[0, 0], [0, 3]])),
    # sparse/matmul.py
    "SparseTensorDenseMatMul": [(*X, floats(4, 2)), (*X, floats(2, 3), TURNED)],
    "SparseMatMul": [
        (floats(2, 3), floats(3, 4)),
        (floats(3, 2), floats(4, 3), {"transpose_a": True, "transpose_b": True}),
    ],
    # sparse/elementwise.py
    "SparseDenseCwiseMul": [(*X, floats(4)), (*X, floats(3, 1)), (*X, np.float32(2))],
    "SparseDenseCwiseDiv": [(*X, floats(4) + 3), (*X, floats(3, 4) + 3)],
    "SparseDenseCwiseAdd": (*X, floats(3, 4)),
    # sparse/reductions.py
    "SparseReduceSum": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceSumSparse": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceMax": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseReduceMaxSparse": [(*X, ONE), (*SOLID, BOTH), (*SOLID, LAST, KEPT)],
    "SparseSoftmax": [X, SOLID],
    "SparseSparseMaximum": (*X, *Y),
    "SparseSparseMinimum": (*X, *Y),
    # sparse/set_operations.py
    "DenseToDenseSetOperation": [
        (ROWS, ROWS[:, 1:] - 1, UNION), (ROWS, ROWS[::-1], BOTH_SETS),
        (strings(["a", "b"]), strings(["b", "c"]), ONLY_A),
    ],
    "DenseToSparseSetOperation": [(ROWS, PLACES, THREE, SHAPE, op) for op in (UNION, ONLY_B)],
    "SparseToSparseSetOperation": [
        (PLACES, THREE, SHAPE, OTHER, FOUR, SHAPE, op) for op in (UNION, BOTH_SETS, ONLY_A)
    ],
    "SetSize": [(OTHER, i32([5, 6, 3, 3]), SHAPE), (SOLID[0], THREE, SOLID[2])],
    # sparse/segments.py
    "SparseSegmentSum": (MATRIX, INDICES, IDS),
    "SparseSegmentMean": (MATRIX, INDICES, IDS),
    "SparseSegmentSqrtN": (MATRIX, INDICES, IDS),
    "SparseSegmentSumWithNumSegments": (MATRIX, INDICES, IDS, np.int32(6)),
    "SparseSegmentMeanWithNumSegments": (MATRIX, INDICES, IDS, np.int32(6)),
    "SparseSegmentSqrtNWithNumSegments": (MATRIX, INDICES, IDS, np.int32(6)),
    "SparseSegmentMeanGrad": (floats(4, 3), INDICES, IDS, np.int32(6)),
    "SparseSegmentSqrtNGrad": (floats(4, 3), INDICES, IDS, np.int32(6)),
    # sparse/rows.py
    "SparseFillEmptyRows": (CELLS, floats(3), np.int64([4, 3]), np.float32(0.6)),
    "SparseFillEmptyRowsGrad": (np.int64([0, 2, 3]), floats(5)),
    "SparseReshape": (CELLS, np.int64([4, 3]), np.int64([2, -1, 3])),
    # sparse/sparse_tensor.py
    "SparseReorder": (np.array([[2, 0], [0, 3], [0, 1]]), np.array([1.5, -0.5, 2.5], np.float32),
                      np.array([3, 4])),
    # sparse/serialization.py, sparse/tensors_map.py
    "SerializeSparse": (FILLED, NUMBERS, SIZES),
    "SerializeManySparse": (FILLED, NUMBERS, SIZES),
    "DeserializeSparse": [(MESSAGE, {"dtype": "int32"}), (MESSAGES, {"dtype": "int32"})],
    "DeserializeManySparse": (MESSAGES, {"dtype": "int32"}),
    "AddSparseToTensorsMap": (FILLED, NUMBERS, SIZES),
    "AddManySparseToTensorsMap": (FILLED, NUMBERS, SIZES),
    # sparse/to_dense.py
    "SparseToDense": [(ints([[0, 1], [1, 2]]), ints([2, 3]), floats(2), DEFAULT),
                      (ints([1, 3]), ints([5]), DEFAULT, -DEFAULT)],
    # sparse/cross.py
    "SparseCross": [
        crossed([WORDS, WORD_IDS], [], HASHED_1000),
        crossed([WORDS], [DENSE_WORDS], HASHED_1000),
        crossed([WORD_IDS], [DENSE_IDS, DENSE_WORDS], dict(HASHED, num_buckets=0, hash_key=7)),
        crossed([WORDS], [DENSE_WORDS], JOINED),
    ],
}  # fmt: skip
