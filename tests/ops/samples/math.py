"""The samples of arithmetic, reductions, segments, quantised numbers."""

from __future__ import annotations

import numpy as np

from .values import floats, ints, strings


def positive(*shape):
    """Return different float32 numbers from 0.5 to 1.5."""
    return (np.abs(floats(*shape)) / 2 + 0.5).astype(np.float32)


F3, F23, F234 = floats(3, start=0.7), floats(2, 3), floats(2, 3, 4)
P3, P23 = positive(3), positive(2, 3)
SMALL = F23 / 2
COLUMN = floats(2, 1, start=0.9)
OTHER = floats(2, 3, start=0.55)
I23, I3 = ints([[7, 8, -9], [4, 5, 6]]), ints([2, -3, 4])
C23 = (F23 + 1j * floats(2, 3, start=0.93)).astype(np.complex64)
S23, S3 = strings(["ab", "c", "d"], ["a", "", "x"]), strings("c", "c", "x")
TRUE23 = np.array([[True, False, True], [False, False, True]])
TRUE2 = np.array([True, False])
BOTH = [(F23, F3), (COLUMN, OTHER), (F23, OTHER)]  # broadcasting one way, both ways, not at all
POSITIVE = [(P23, P3), (P23, positive(2, 1) + 1)]
ONE_AXIS = [(F23, ints(1)), (F23, ints([-1]), {"keep_dims": True}), (F234, ints([0, 2])),
            (F23, ints([0, 1]))]  # fmt: skip
SHIFTS = ints([2, 3, 1])
LOW, HIGH = np.float32(-0.45), np.float32(0.55)
LOWS, HIGHS = np.float32([-0.45, 0.0, -1.0]), np.float32([0.55, 0.5, 0.75])
QINT8 = np.array([[(0,), (3,), (-128,)], [(127,), (-1,), (40,)]], [("qint8", np.int8)])
FEW = floats(3)
A23 = (np.abs(F23) + 0.5).astype(np.float32)
IDS = ints([0, 0, 2])
TRUE28 = np.array([[True, False, False, True, True, False, True, False]] * 2)

SAMPLES = {
    # math/arithmetic.py
    "Add": [*BOTH, (I23, I3), (S23, S3)],
    "AddV2": [*BOTH, (I23, I3), (C23, C23)],
    "Sub": [*BOTH, (I23, I3)],
    "Mul": [*BOTH, (I23, I3), (C23, C23[0])],
    "MulNoNan": BOTH,
    "Div": [*BOTH, (I23, I3)],
    "RealDiv": [*BOTH, (C23, C23[0])],
    "DivNoNan": BOTH,
    "FloorDiv": [*BOTH, (I23, I3)],
    "TruncateDiv": [*BOTH, (I23, I3)],
    "FloorMod": [(OTHER * 3 + np.float32(0.1), P3), (I23, I3)],
    "Mod": [(OTHER * 3 + np.float32(0.1), P3), (I23, I3)],
    "TruncateMod": [(OTHER * 3 + np.float32(0.1), P3), (I23, I3)],
    "Pow": [*POSITIVE, (I23, ints([1, 2, 3]))],
    "Maximum": [*BOTH, (I23, I3)],
    "Minimum": [*BOTH, (I23, I3)],
    "SquaredDifference": [*BOTH, (I23, I3)],
    "Xlogy": POSITIVE,
    "Xdivy": POSITIVE,
    "Atan2": POSITIVE,
    "AddN": [([F23, OTHER, F23 * 2],), ([F23],), ([np.float32(1), np.float32(2)],),
             ([F23, OTHER],)],
    "AccumulateNV2": ([F23, OTHER], {"shape": [2, 3]}),
    # math/elementwise.py
    "Neg": [(F23,), (I23,)],
    "Abs": [(F23,), (I23,)],
    "Sign": [(F23,), (I23,)],
    "Square": [(F23,), (C23,)],
    "Sqrt": [(P23,), (C23,)],
    "SqrtGrad": (P23, F23),
    "Rsqrt": (P23,),
    "RsqrtGrad": (P23, F23),
    "Reciprocal": [(F23,), (C23,)],
    "ReciprocalGrad": (P23, F23),
    "Inv": (P23,),
    "Exp": [(F23,), (C23,)],
    "Expm1": (F23,),
    "Log": [(P23,), (C23,)],
    "Log1p": (P23,),
    "Sin": [(F23,), (C23,)],
    "Cos": (F23,),
    "Tan": (F23,),
    "Sinh": (F23,),
    "Cosh": (F23,),
    "Asin": (SMALL,),
    "Acos": (SMALL,),
    "Atan": (F23,),
    "Asinh": (F23,),
    "Acosh": (P23 + 1,),
    "Atanh": (SMALL,),
    "Tanh": [(F23,), (C23,)],
    "TanhGrad": (SMALL, F23),
    "Sigmoid": [(F23,), (C23,)],
    "SigmoidGrad": (P23 / 2, F23),
    "Floor": (F23,),
    "Ceil": (F23,),
    "Rint": (F23 * 3,),
    "Round": [(F23 * 3,), (I23,)],
    "IsNan": (np.array([1, np.nan, -np.inf], np.float32),),
    "IsInf": (np.array([1, np.nan, -np.inf], np.float32),),
    "IsFinite": (np.array([1, np.nan, -np.inf], np.float32),),
    "Erf": (F23,),
    "Erfc": (F23,),
    "Lgamma": (P23 * 3,),
    "Digamma": (P23 * 3,),
    "InvGrad": (floats(2, 3) + 1, F23),
    # math/complex_parts.py
    "Complex": [(F23, OTHER, {"Tout": "complex64"}), (F23, F3, {"Tout": "complex64"})],
    "Real": (C23, {"Tout": "float32"}),
    "Imag": (C23, {"Tout": "float32"}),
    "Angle": (C23, {"Tout": "float32"}),
    "ComplexAbs": (C23, {"Tout": "float32"}),
    "Conj": (C23,),
    # math/comparison.py
    "Equal": [(I23, ints([7, 5, 6])), (S23, S3), (C23, C23)],
    "NotEqual": [(I23, ints([7, 5, 6])), (S23, S3)],
    "Less": (I23, ints([7, 5, 7])),
    "LessEqual": (I23, ints([7, 5, 7])),
    "Greater": (I23, ints([7, 5, 5])),
    "GreaterEqual": (I23, ints([7, 5, 5])),
    "LogicalAnd": (TRUE23, TRUE23[0]),
    "LogicalOr": (TRUE23, TRUE23[0]),
    "LogicalNot": (TRUE23,),
    "ApproximateEqual": (F23, F23 + np.float32(0.01), {"tolerance": 0.1}),
    "Select": [(TRUE23, F23, OTHER), (TRUE2, F23, OTHER), (np.bool_(False), F23, OTHER),
               (TRUE23, S23, S23)],
    "SelectV2": [(TRUE23, F3, OTHER), (TRUE23[0], COLUMN, np.float32(1))],
    "Where": [(TRUE23,), (I23,), (F23,)],
    # math/reductions.py
    "Sum": [*ONE_AXIS, (I23, ints(0))],
    "Mean": [*ONE_AXIS, (I23, ints(0))],
    "Prod": [*ONE_AXIS, (I23, ints(0)), (F23 * 0, ints(1))],
    "Max": [*ONE_AXIS, (I23, ints(0))],
    "Min": [*ONE_AXIS, (I23, ints(0))],
    "EuclideanNorm": ONE_AXIS,
    "All": [(TRUE23, ints(0)), (TRUE23, ints([0, 1]), {"keep_dims": True})],
    "Any": [(TRUE23, ints(0)), (TRUE23, ints([0, 1]), {"keep_dims": True})],
    "ArgMax": [(F23, ints(1)), (I23, ints(0), {"output_type": "int32"}), (F234, ints(-1))],
    "ArgMin": [(F23, ints(1)), (I23, ints(0), {"output_type": "int32"})],
    # math/cumulative.py
    "Cumsum": [(F23, ints(1)), (F234, ints(-2), {"exclusive": True}),
               (F23, ints(0), {"reverse": True, "exclusive": True})],
    "Cumprod": [(F23, ints(1)), (F234, ints(-2), {"exclusive": True}),
                (F23, ints(0), {"reverse": True, "exclusive": True})],
    # math/matmul.py
    "MatMul": [(F23, floats(3, 4)), (F23, floats(4, 3), {"transpose_b": True}),
               (F23, floats(2, 4), {"transpose_a": True}),
               (F23, floats(4, 2), {"transpose_a": True, "transpose_b": True}),
               (C23, C23, {"transpose_b": True})],
    "BatchMatMul": [(F234, floats(2, 4, 5)), (F234, floats(2, 5, 4), {"adj_y": True})],
    "BatchMatMulV2": [(F234, floats(2, 4, 5)), (F234, floats(5, 4), {"adj_y": True}),
                      (floats(6, 1, 4, 5), floats(3, 4, 7), {"adj_x": True}),
                      (F234, floats(2, 5, 3), {"adj_x": True, "adj_y": True})],
    # math/top_k.py
    "TopKV2": [(F23, ints(2)), (F234, ints(3))],
    "TopK": (F23, {"k": 2}),
    "InTopKV2": (F23, ints([2, 0]), ints(2)),
    "InTopK": (F23, ints([2, 0]), {"k": 2}),
    # math/clip.py
    "ClipByValue": [(F23, np.float32(-0.3), np.float32(0.4)), (F23, F23 - 1, F23 - 0.5)],
    # math/bitwise.py
    **{
        name: [(I23, SHIFTS), (ints([[5], [9]]), SHIFTS)]
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
    },
    "Invert": (I23,),
    "PopulationCount": (I23,),
    "CompareAndBitpack": [(floats(2, 16), np.float32(0.1)), (TRUE28, np.bool_(False))],
    # math/quantize.py
    "QuantizeV2": [(F23, LOW, HIGH, {"T": "quint8"}),
                   (F23, LOW, HIGH, {"T": "qint8", "mode": "SCALED"}),
                   (F23, LOW, HIGH, {"T": "qint16", "mode": "MIN_FIRST"})],
    "Dequantize": [(QINT8, LOW, HIGH), (QINT8, LOW, HIGH, {"mode": "SCALED"})],
    "QuantizeAndDequantizeV2": (F23, LOW, HIGH, {"range_given": True, "num_bits": 5}),
    "QuantizeAndDequantizeV3": (F23, LOW, HIGH, ints(5), {"signed_input": False}),
    # math/fake_quant.py
    "FakeQuantWithMinMaxArgs": (F23, {"min": -0.45, "max": 0.55}),
    "FakeQuantWithMinMaxArgsGradient": (floats(2, 3, start=0.5), F23, {"min": -0.45, "max": 0.55}),
    "FakeQuantWithMinMaxVars": (F23, LOW, HIGH, {"num_bits": 4}),
    "FakeQuantWithMinMaxVarsGradient": (floats(2, 3, start=0.5), F23, LOW, HIGH),
    "FakeQuantWithMinMaxVarsPerChannel": (F23, LOWS, HIGHS, {"narrow_range": True}),
    "FakeQuantWithMinMaxVarsPerChannelGradient": (floats(2, 3, start=0.5), F23, LOWS, HIGHS),
    # math/special_functions.py, math/bessel.py
    "Igamma": [(A23, A23[::-1] + 1), (A23 * 9, A23[0])],
    "Igammac": [(A23, A23[::-1] + 1), (A23 * 9, A23[0])],
    "IgammaGradA": [(A23, A23[::-1] + 1), (A23 * 9, A23[0])],
    "Betainc": [(A23, A23[::-1] + 1, A23 / 2), (np.float32(2.5), A23 + 3, A23 / 2),
                (A23, np.float32(1.5), np.float32(0.25))],
    "Zeta": [(A23 + 1, A23), (A23[0] + 2, A23 * 9)],
    "Polygamma": (ints(1).astype(np.float32), A23 * 3),
    "NextAfter": [(F23, FEW), (FEW, F23)],
    "BesselI0e": [(F23,), (F23 * 99,)],
    "BesselI1e": [(F23,), (F23 * 99,)],
    # math/histograms.py
    "Bincount": [(ints([3, 1, 7, 3]), ints(5), ints([2, 3, 4, 5])),
                 (ints([[3, 1], [0, 3]]), ints(5), floats(0))],
    "HistogramFixedWidth": (F23, np.array([-0.5, 0.75], np.float32), ints(5)),
    # math/cumulative_logsumexp.py
    "CumulativeLogsumexp": [(F23, ints(1)), (F234, ints(-2), {"reverse": True})],
    # math/segments.py
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
    # math/bucketize.py
    "Bucketize": [
        (np.float32([[0.5, 1.5, 9.0], [2.5, 2.4, -1.0]]), {"boundaries": [1.5, 2.5]}),
        (np.int32([3, -2, 4]), {"boundaries": [-2.0, 3.5]}),
    ],
}  # fmt: skip
