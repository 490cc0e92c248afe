"""One line of inputs for every op: what `test_every_op.py` and `differential.py` feed it.

The form, also of `samples_math.py`: op name -> a tuple with one value per input of the signature (a
list of values for a list input), with a dict of attributes as its last element if any are needed:

    "AddV2": (F23, F3),
    "Pack": ([F23, F23 + 1], {"axis": 1}),

Several samples of one op stand in a list of such tuples. Values are arrays of the sample's own
dtype; the contract repeats each sample in the other types that the signature allows, checks the
gradient in float64, and blurs the shapes. So: never square (swapped axes would pass unseen), no
size that occurs twice, floats away from kinks, ties and poles of the function.

(This file is also read by Python 3.7, the one that real TensorFlow 1.15 runs on, and imports
nothing of ours.)
"""

from __future__ import annotations

import numpy as np


def floats(*shape, start=0.3):
    """Return different float32 numbers, of both signs, in no order."""
    count = int(np.prod(shape))
    values = start + np.arange(count) * 0.37 % 1.9 - 0.8
    return values.astype(np.float32).reshape(shape)


def ints(*values):
    """Return an int32 array; a single value gives rank 0."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def strings(*values):
    """Return an array of strings; a single value gives rank 0."""
    array = np.array(values, object)
    array.reshape(-1)[:] = [value.encode() for value in array.reshape(-1)]
    return array.reshape(()) if array.size == 1 else array


F3, F23, F234 = floats(3), floats(2, 3), floats(2, 3, 4)
I6, I23 = ints([4, 1, 5, 0, 3, 2]), ints([[7, 8, 9], [4, 5, 6]])
ONE = np.float32(1.5)
S3 = strings("ab", "cde", "f")
IDS = ints([0, 0, 2])
PADS = ints([[1, 2], [0, 1]])
MIRRORED = [(ints([[1, 2], [2, 1]]), {"mode": "REFLECT"}),
            (ints([[1, 2], [0, 3]]), {"mode": "SYMMETRIC"})]  # fmt: skip
BOUNDS = (ints([1, 0, 0, 2]), ints([2, 0, 0, -1]), ints([1, 1, 1, -1]))
SUMMARY = "\n\x08\n\x01a\x15\x00\x00\x00@"  # of the tag a, whose value is 2.0
MASKS = {"begin_mask": 8, "end_mask": 8, "ellipsis_mask": 2, "new_axis_mask": 4,
         "shrink_axis_mask": 1}  # fmt: skip

SAMPLES = {
    # constants.py
    "Const": ({"value": F23, "dtype": "float32"}),
    "PlaceholderWithDefault": (F23, {"shape": [None, 3]}),
    # shaping.py
    "Shape": [(F23,), (F23, {"out_type": "int64"})],
    "ShapeN": ([F23, F23 + 1],),
    "Size": (F23,),
    "Rank": (F23,),
    "Reshape": [(F234, ints([4, -1])), (F23, ints([6])), (S3, ints([3, 1]))],
    "ExpandDims": [(F23, ints(-2)), (ONE, ints(0))],
    "Snapshot": (F23,),
    "Squeeze": [(floats(2, 1, 3, 1),), (floats(2, 1, 3, 1), {"squeeze_dims": [-1]})],
    # transposing.py
    "Transpose": (F234, ints([2, 0, 1])),
    "ConjugateTranspose": (F234.astype(np.complex64), ints([2, 0, 1])),
    # broadcasting.py
    "BroadcastTo": (floats(2, 1), ints([4, 2, 3])),
    "BroadcastArgs": (ints([2, 1]), ints([4, 1, 3])),
    # slicing.py
    "Slice": (F234, ints([0, 1, 1]), ints([2, -1, 2])),
    "StridedSlice": [(floats(2, 3, 4, 5), *BOUNDS, MASKS),
                     (F23, ints([0, 2]), ints([1, 0]), ints([1, -1])),
                     (I6, ints([1]), ints([5]), ints([2]))],
    "StridedSliceGrad": (ints([2, 3, 4, 5]), *BOUNDS, floats(3, 4, 1, 5), MASKS),
    # joining.py
    "ConcatV2": [([F23, floats(2, 4)], ints(-1)), ([F23, floats(4, 3)], ints(0))],
    "ConcatOffset": (ints(1), [ints([2, 3]), ints([2, 4])]),
    "Concat": (ints(1), [F23, floats(2, 4)]),
    "Pack": [([F23, F23 + 1, F23 - 1, F23 * 2], {"axis": -2}), ([ONE, -ONE],)],
    "Unpack": [(F234, {"num": 3, "axis": 1}), (F3, {"num": 3})],
    # splitting.py
    "Split": (ints(1), floats(3, 4), {"num_split": 2}),
    "SplitV": (floats(2, 5), np.array([2, -1]), ints(1), {"num_split": 2}),
    # filling.py
    "Fill": [(ints([2, 3]), ONE), (ints([2]), strings("x"))],
    "ZerosLike": [(F23,), (S3,)],
    "OnesLike": (F23,),
    "OneHot": [(np.array([[2, 0, -1]]), ints(4), ONE, -ONE, {"axis": 0}),
               (np.array([2, 0, 5]), ints(4), ONE, -ONE)],
    # sequences.py
    "Range": [(ints(2), ints(9), ints(3)), (np.float32(3), np.float32(0.5), np.float32(-1))],
    "LinSpace": (np.float32(1), np.float32(3), ints(5)),
    # arrays.py
    "Tile": [(F23, ints([2, 1])), (F3, ints([0]))],
    "ReverseV2": (F234, ints([0, -1])),
    "ReverseSequence": (F234, np.array([4, 0, 2]), {"seq_dim": 2, "batch_dim": 1}),
    "Roll": (F23, ints([1, -1]), ints([0, 1])),
    "Bitcast": [(F23, {"type": "int32"}), (F23, {"type": "uint8"})],
    # padding.py
    "Pad": (F23, PADS),
    "PadV2": (F23, PADS, ONE),
    "MirrorPad": [(floats(3, 4), *rest) for rest in MIRRORED],
    "MirrorPadGrad": [(floats(6, 7), *rest) for rest in MIRRORED],
    # diagonals.py
    "MatrixDiag": (F23,),
    "MatrixDiagPart": (F234,),
    "MatrixSetDiag": (F234, floats(2, 3)),
    "MatrixBandPart": (F234, np.int64(1), np.int64(-1)),
    "Diag": (F23,),
    "DiagPart": (floats(2, 3, 2, 3),),
    # gathering.py
    "Gather": (floats(4, 3), ints([[3, 0]])),
    "GatherV2": [(floats(4, 3), ints([[3, 0]]), ints(0)),
                 (F234, ints([[2, 0, 1, 2, 0]]), ints(1)), (S3, ints([2, 0]), ints(0))],
    "GatherNd": [(F234, ints([[1, 2], [0, 1]])), (F23, ints([[[1, 2]], [[1, 0]], [[1, 2]]]))],
    "ScatterNd": (ints([[4], [0], [4]]), floats(3, 2), ints([5, 2])),
    "TensorScatterUpdate": (floats(5, 2), ints([[4], [0], [1]]), floats(3, 2)),
    "TensorScatterAdd": (floats(5, 2), ints([[4], [0], [4]]), floats(3, 2)),
    "TensorScatterSub": (floats(5, 2), ints([[4], [0], [4]]), floats(3, 2)),
    "InvertPermutation": (I6,),
    "SparseToDense": [(ints([[0, 1], [1, 2]]), ints([2, 3]), floats(2), ONE),
                      (ints([1, 3]), ints([5]), ONE, -ONE)],
    # segments.py
    "SegmentSum": (floats(3, 4), IDS),
    "SegmentMean": (floats(3, 4), IDS),
    "SegmentMax": (floats(3, 4), IDS),
    "SegmentMin": (floats(3, 4), IDS),
    "SegmentProd": (floats(3, 4), IDS),
    "UnsortedSegmentSum": [(floats(3, 4), ints([3, -1, 3]), ints(5)),
                           (floats(3, 2, 4), ints([[3, 0], [3, -1], [1, 2]]), ints(5))],
    "UnsortedSegmentMax": (floats(4, 3), ints([1, -1, 0, 1]), ints(2)),
    "UnsortedSegmentMin": (floats(4, 3), ints([1, -1, 0, 1]), ints(2)),
    "UnsortedSegmentProd": (floats(3, 4), ints([3, -1, 3]), ints(5)),
    # partitions.py
    "DynamicPartition": (floats(4, 2), ints([2, 0, 2, 1]), {"num_partitions": 3}),
    "DynamicStitch": ([ints([[3, 0]]), ints(1), ints([2])],
                      [floats(1, 2, 4), floats(4), floats(1, 4) * 2]),
    "Unique": [(ints([5, 3, 5, 5, 4]),), (S3,)],
    "UniqueWithCounts": (ints([5, 3, 5, 5, 4]),),
    "ListDiff": (ints([5, 3, 5, 4]), ints([3, 7, 8])),
    # strings.py, string_numbers.py
    "StringJoin": ([S3, strings("-"), strings("x", "y", "z")], {"separator": "."}),
    "ReduceJoin": [(strings(["a", "b", "c"], ["d", "e", "f"]), ints([1, 0]), {"separator": "."}),
                   (strings(["a", "b", "c"], ["d", "e", "f"]), ints(0), {"keep_dims": True})],
    "Substr": [(strings("hello", "world", "again"), ints([1, 2, -3]), ints([3, 1, 9])),
               (strings("h\u00e9llo"), ints(1), ints(2), {"unit": "UTF8_CHAR"})],
    "StringStrip": (strings("  a b\n", "c"),),
    "StringLower": (strings("aBC", "De"),),
    "StringUpper": (strings("aBc", "De"),),
    "EncodeBase64": [(strings("hello?>", "x"),), (strings("hello?>", "x"), {"pad": True})],
    "DecodeBase64": (strings("aGVsbG8_Pg", "eA=="),),
    "RegexReplace": (strings("a1b22", "c"), strings("([0-9])+"), strings(r"<\1\0>")),
    "StaticRegexReplace": (strings("a1b22", "c"), {"pattern": "[0-9]", "rewrite": "#",
                                                   "replace_global": False}),
    "RegexFullMatch": (strings("a1", "b"), strings("[a-z][0-9]")),
    "StaticRegexFullMatch": (strings("a1", "b"), {"pattern": "[a-z][0-9]"}),
    "StringLength": [(strings("abc", "\u00e9"),), (strings("\u00e9", "ab"), {"unit": "UTF8_CHAR"})],
    "AsString": [(F3,), (F3, {"precision": 2, "scientific": True}), (F3 * 1e6, {"shortest": True}),
                 (ints([1, -20, 3]), {"width": 5, "fill": "0"})],
    "StringToNumber": [(strings("1.5", " 2 ", "-1e3", "0x10", "inf"),),
                       (strings("15", " -2"), {"out_type": "int64"})],
    "DecodeRaw": [(strings("abcd", "efgh"), {"out_type": "int16", "little_endian": False}),
                  (strings("abcd"), {"out_type": "uint8"})],
    # control.py
    "NoOp": (),
    "Identity": [(F23,), (S3,)],
    "IdentityN": ([F23, ints([1, 2])],),
    "GuaranteeConst": (F23,),
    "StopGradient": (F23,),
    "PreventGradient": (F23,),
    "EnsureShape": (F23, {"shape": [None, 3]}),
    # watching.py
    "Print": [(F23, [ints([1, 2]), S3], {"message": "m"}), (F23, [], {"first_n": 1})],
    "Assert": (np.bool_(True), [ints([1, 2]), S3]),
    "CheckNumerics": (F23, {"message": "m"}),
    # calls.py
    "ToBool": [(ONE,), (F23,), (strings("a"),)],
    "FakeParam": ({"dtype": "float32", "shape": [2, 3]}),
    # random.py
    "RandomUniform": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "RandomStandardNormal": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "TruncatedNormal": (ints([2, 3]), {"dtype": "float32", "seed": 1}),
    "RandomUniformInt": (ints([2, 3]), ints(3), ints(9), {"seed": 1}),
    "RandomShuffle": (F23, {"seed": 1}),
    # random_distributions.py
    "Multinomial": (F23, ints(4), {"seed": 1}),
    "StatelessMultinomial": (F23, ints(4), np.int64([1, 2])),
    "RandomGamma": (ints([2, 3]), F3 + 1, {"seed": 1}),
    "RandomPoissonV2": (ints([2, 3]), F3 + 1, {"seed": 1}),
    # random_truncated.py
    "ParameterizedTruncatedNormal": (ints([2, 3]), F3[:2], F3[:1] + 2, F3[:1] - 3, F3[:1] + 3,
                                     {"seed": 1}),
    # summaries.py, summary_media.py, summary_tensors.py
    "ScalarSummary": [(strings("a"), ONE), (S3, F3)],
    "HistogramSummary": (strings("a"), F234),
    "MergeSummary": ([strings(SUMMARY), strings("", SUMMARY.replace("a", "b"))],),
    "AudioSummaryV2": [(strings("a"), F234, np.float32(8000)),
                       (strings("a"), F23, np.float32(8000.7), {"max_outputs": 1})],
    "TensorSummaryV2": [(strings("a"), F23, strings("")), (strings("a"), S3, strings(""))],
}  # fmt: skip

try:
    from tests.ops.samples_bits import SAMPLES as _BITS
    from tests.ops.samples_checkpoints import SAMPLES as _CHECKPOINTS
    from tests.ops.samples_columns import SAMPLES as _COLUMNS
    from tests.ops.samples_image import SAMPLES as _IMAGE
    from tests.ops.samples_later import SAMPLES as _LATER
    from tests.ops.samples_linalg import SAMPLES as _LINALG
    from tests.ops.samples_math import SAMPLES as _MATH
    from tests.ops.samples_nn import SAMPLES as _NN
    from tests.ops.samples_reading import SAMPLES as _READING
    from tests.ops.samples_recurrent import SAMPLES as _RECURRENT
    from tests.ops.samples_single import SAMPLES as _SINGLE
    from tests.ops.samples_sparse import SAMPLES as _SPARSE
    from tests.ops.samples_sparse_rows import SAMPLES as _SPARSE_ROWS
    from tests.ops.samples_strings import SAMPLES as _STRINGS
except ImportError:  # another Python runs this file, by its path
    try:
        from samples_bits import SAMPLES as _BITS
        from samples_checkpoints import SAMPLES as _CHECKPOINTS
        from samples_columns import SAMPLES as _COLUMNS
        from samples_image import SAMPLES as _IMAGE
        from samples_later import SAMPLES as _LATER
        from samples_linalg import SAMPLES as _LINALG
        from samples_math import SAMPLES as _MATH
        from samples_nn import SAMPLES as _NN
        from samples_reading import SAMPLES as _READING
        from samples_recurrent import SAMPLES as _RECURRENT
        from samples_single import SAMPLES as _SINGLE
        from samples_sparse import SAMPLES as _SPARSE
        from samples_sparse_rows import SAMPLES as _SPARSE_ROWS
        from samples_strings import SAMPLES as _STRINGS
    except ImportError:
        _COLUMNS = _LATER = _SINGLE = {}
        _BITS = _CHECKPOINTS = _IMAGE = _LINALG = _MATH = _NN = _READING = _RECURRENT = _SPARSE = (
            _SPARSE_ROWS
        ) = _STRINGS = {}

SAMPLES.update(
    _BITS,
    **_CHECKPOINTS,
    **_COLUMNS,
    **_IMAGE,
    **_LATER,
    **_LINALG,
    **_MATH,
    **_NN,
    **_READING,
    **_RECURRENT,
    **_SINGLE,
    **_SPARSE,
    **_SPARSE_ROWS,
    **_STRINGS,
)


def samples_of(name):
    """Return (inputs, attributes) of each sample of the op `name`."""
    found = SAMPLES[name]
    for sample in found if isinstance(found, list) else [found]:
        sample = sample if isinstance(sample, tuple) else (sample,)
        has_attributes = bool(sample) and isinstance(sample[-1], dict)
        yield (sample[:-1], sample[-1]) if has_attributes else (sample, {})
