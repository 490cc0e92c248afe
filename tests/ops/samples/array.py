"""The samples of arrays."""

from __future__ import annotations

import numpy as np

from .values import floats, ints, spread, strings

F3, F23, F234 = floats(3), floats(2, 3), floats(2, 3, 4)
I6 = ints([4, 1, 5, 0, 3, 2])
ONE = np.float32(1.5)
S3 = strings("ab", "cde", "f")
PADS = ints([[1, 2], [0, 1]])
MIRRORED = [(ints([[1, 2], [2, 1]]), {"mode": "REFLECT"}),
            (ints([[1, 2], [0, 3]]), {"mode": "SYMMETRIC"})]  # fmt: skip
BOUNDS = (ints([1, 0, 0, 2]), ints([2, 0, 0, -1]), ints([1, 1, 1, -1]))
MASKS = {"begin_mask": 8, "end_mask": 8, "ellipsis_mask": 2, "new_axis_mask": 4,
         "shrink_axis_mask": 1}  # fmt: skip
F34 = floats(3, 4)
ROWS = np.int64([[1, 2, 1, 3], [1, 2, 1, 3], [0, 2, 0, 1]])
SEQUENCES = (np.int64([[0, 0], [0, 1], [1, 0]]), ints([4, 5, 6]), np.int64([2, 3]),
             np.int64([[0, 0], [1, 0], [1, 1]]), ints([5, 6, 4]), np.int64([2, 4]))  # fmt: skip
X = spread(2, 5, 6, 3)
Y = spread(2, 5, 6, 4, start=0.1)  # what a convolution of X with W gives, with strides of 1
I23 = ints([[7, 8, -9], [4, 5, 6]])
C23 = (F23 + 1j * floats(2, 3, start=0.93)).astype(np.complex64)
TRUE23 = np.array([[True, False, True], [False, False, True]])

SAMPLES = {
    # array/constants.py
    "Const": ({"value": F23, "dtype": "float32"}),
    "PlaceholderWithDefault": (F23, {"shape": [None, 3]}),
    # array/shape.py
    "Shape": [(F23,), (F23, {"out_type": "int64"})],
    "ShapeN": ([F23, F23 + 1],),
    "Size": (F23,),
    "Rank": (F23,),
    # array/reshape.py
    "Reshape": [(F234, ints([4, -1])), (F23, ints([6])), (S3, ints([3, 1]))],
    "ExpandDims": [(F23, ints(-2)), (ONE, ints(0))],
    "Squeeze": [(floats(2, 1, 3, 1),), (floats(2, 1, 3, 1), {"squeeze_dims": [-1]})],
    # array/transpose.py
    "Transpose": (F234, ints([2, 0, 1])),
    "ConjugateTranspose": (F234.astype(np.complex64), ints([2, 0, 1])),
    # array/broadcast.py
    "BroadcastTo": (floats(2, 1), ints([4, 2, 3])),
    "BroadcastArgs": (ints([2, 1]), ints([4, 1, 3])),
    # array/slice.py
    "Slice": (F234, ints([0, 1, 1]), ints([2, -1, 2])),
    # array/strided_slice.py
    "StridedSlice": [(floats(2, 3, 4, 5), *BOUNDS, MASKS),
                     (F23, ints([0, 2]), ints([1, 0]), ints([1, -1])),
                     (I6, ints([1]), ints([5]), ints([2]))],
    "StridedSliceGrad": (ints([2, 3, 4, 5]), *BOUNDS, floats(3, 4, 1, 5), MASKS),
    # array/concat.py
    "ConcatV2": [([F23, floats(2, 4)], ints(-1)), ([F23, floats(4, 3)], ints(0))],
    "ConcatOffset": (ints(1), [ints([2, 3]), ints([2, 4])]),
    "Concat": (ints(1), [F23, floats(2, 4)]),
    "Pack": [([F23, F23 + 1, F23 - 1, F23 * 2], {"axis": -2}), ([ONE, -ONE],)],
    "Unpack": [(F234, {"num": 3, "axis": 1}), (F3, {"num": 3})],
    # array/split.py
    "Split": (ints(1), floats(3, 4), {"num_split": 2}),
    "SplitV": (floats(2, 5), np.array([2, -1]), ints(1), {"num_split": 2}),
    # array/fill.py
    "Fill": [(ints([2, 3]), ONE), (ints([2]), strings("x"))],
    "ZerosLike": [(F23,), (S3,)],
    "OnesLike": (F23,),
    "OneHot": [(np.array([[2, 0, -1]]), ints(4), ONE, -ONE, {"axis": 0}),
               (np.array([2, 0, 5]), ints(4), ONE, -ONE)],
    # array/range.py
    "Range": [(ints(2), ints(9), ints(3)), (np.float32(3), np.float32(0.5), np.float32(-1))],
    "LinSpace": (np.float32(1), np.float32(3), ints(5)),
    # array/tile_roll.py
    "Tile": [(F23, ints([2, 1])), (F3, ints([0]))],
    "ReverseV2": (F234, ints([0, -1])),
    "ReverseSequence": (F234, np.array([4, 0, 2]), {"seq_dim": 2, "batch_dim": 1}),
    "Roll": (F23, ints([1, -1]), ints([0, 1])),
    "Bitcast": [(F23, {"type": "int32"}), (F23, {"type": "uint8"})],
    # array/pad.py
    "Pad": (F23, PADS),
    "PadV2": (F23, PADS, ONE),
    "MirrorPad": [(floats(3, 4), *rest) for rest in MIRRORED],
    "MirrorPadGrad": [(floats(6, 7), *rest) for rest in MIRRORED],
    # array/gather.py
    "Gather": (floats(4, 3), ints([[3, 0]])),
    "GatherV2": [(floats(4, 3), ints([[3, 0]]), ints(0)),
                 (F234, ints([[2, 0, 1, 2, 0]]), ints(1)), (S3, ints([2, 0]), ints(0))],
    "GatherNd": [(F234, ints([[1, 2], [0, 1]])), (F23, ints([[[1, 2]], [[1, 0]], [[1, 2]]]))],
    "ScatterNd": (ints([[4], [0], [4]]), floats(3, 2), ints([5, 2])),
    "TensorScatterUpdate": (floats(5, 2), ints([[4], [0], [1]]), floats(3, 2)),
    "TensorScatterAdd": (floats(5, 2), ints([[4], [0], [4]]), floats(3, 2)),
    "TensorScatterSub": (floats(5, 2), ints([[4], [0], [4]]), floats(3, 2)),
    "InvertPermutation": (I6,),
    # array/dynamic_partition.py
    "DynamicPartition": (floats(4, 2), ints([2, 0, 2, 1]), {"num_partitions": 3}),
    "DynamicStitch": ([ints([[3, 0]]), ints(1), ints([2])],
                      [floats(1, 2, 4), floats(4), floats(1, 4) * 2]),
    "Unique": [(ints([5, 3, 5, 5, 4]),), (S3,)],
    "UniqueWithCounts": (ints([5, 3, 5, 5, 4]),),
    "ListDiff": (ints([5, 3, 5, 4]), ints([3, 7, 8])),
    "ParallelDynamicStitch": ([np.int32([0, 4]), np.int32([[1, 2, 3]])],
                              [floats(2, 5), floats(1, 3, 5)]),
    # array/inplace.py
    "Empty": (ints([2, 0, 3]), {"dtype": "float32", "init": True}),
    "InplaceUpdate": [(F34, ints([2, 0]), floats(2, 4)), (F3, ints([-1]), floats(1))],
    "InplaceAdd": [(F34, ints([1, 1]), floats(2, 4)), (F3, ints([2, 2]), floats(2))],
    "InplaceSub": [(F34, ints([1, 1]), floats(2, 4)), (F3, ints([0, 2]), floats(2))],
    "DeepCopy": (F23,),
    # array/scatter_nd.py
    "ScatterNdNonAliasingAdd": [
        (F3, ints([[2], [0], [2]]), floats(3, start=0.55)),
        (F34, ints([[2], [0]]), floats(2, 4, start=0.55)),
    ],
    # array/parallel_stack.py
    "ParallelConcat": ([floats(1, 3), floats(1, 3, start=0.55)], {"shape": [2, 3]}),
    # array/unique.py
    "UniqueV2": [(ROWS, np.int64([0])), (ROWS, np.int64([1])), (ROWS[0], np.int64([]))],
    "UniqueWithCountsV2": [(ROWS, np.int64([-1]), {"out_idx": "int64"}), (ROWS[2], ints([0]))],
    # array/sort.py
    "LowerBound": (np.float32([[1, 3, 5, 7], [2, 4, 4, 6]]), np.float32([[3, 0, 9], [4, 5, 7]])),
    "UpperBound": (np.float32([[1, 3, 5, 7], [2, 4, 4, 6]]), np.float32([[3, 0, 9], [4, 5, 7]])),
    "NthElement": [(F23, ints(1)), (floats(2, 4, 3), ints(0), {"reverse": True})],
    # array/repeat.py, array/edit_distance.py
    "UnravelIndex": [(ints([22, 41, 37]), ints([7, 6])), (ints(37), ints([7, 6]))],
    "EditDistance": [SEQUENCES, (*SEQUENCES, {"normalize": False})],
    # array/space_to_depth.py
    "SpaceToDepth": (X[:, :4], {"block_size": 2}),
    "DepthToSpace": (Y, {"block_size": 2}),
    # array/cast.py
    "Cast": [(F23, {"DstT": "float64"}), (F23 * 9, {"DstT": "int32"}), (I23, {"DstT": "bool"}),
             (TRUE23, {"DstT": "float32"}), (C23, {"DstT": "float32"})],
}  # fmt: skip
