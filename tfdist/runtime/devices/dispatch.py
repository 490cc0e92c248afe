"""Which ops have kernels that NumPy's dispatch brings to a card: all they call, CuPy answers.

Each was run on all its samples with arrays that answer dispatch and refuse to become NumPy's
(tests/runtime/devices/test_cupy.py); what is not here works through the host. On a card itself none
of them has run yet.
"""

from __future__ import annotations

DISPATCHED = frozenset(
    """
    Abs AccumulateNV2 Acos Acosh Add AddN AddV2 All Angle Any ApproximateEqual ArgMax ArgMin Asin
    Asinh Atan Atan2 Atanh BatchMatMul BatchMatMulV2 BiasAdd BiasAddGrad BiasAddV1 Bitcast
    BroadcastTo Cast Ceil CheckNumerics ClipByValue ComplexAbs Concat ConcatV2 Conj
    ConjugateTranspose Cos Cosh Cumprod Cumsum DiagPart Div DivNoNan DynamicPartition
    DynamicStitch Elu EluGrad Equal Exp ExpandDims Expm1 Fill Floor FloorDiv FloorMod Gather
    Greater GreaterEqual Identity IdentityN Imag Inv IsFinite IsInf IsNan L2Loss LeakyRelu
    LeakyReluGrad Less LessEqual Log Log1p LogicalAnd LogicalNot LogicalOr MatMul MatrixDiagPart
    Max Maximum Mean Min Minimum MirrorPad Mod Mul MulNoNan Neg NotEqual OnesLike Pack Pad PadV2
    PlaceholderWithDefault Pow PreventGradient Prod Rank Real RealDiv Reciprocal ReciprocalGrad
    Relu Relu6 Relu6Grad ReluGrad Reshape ReverseSequence ReverseV2 Rint Roll Round Rsqrt RsqrtGrad
    Selu SeluGrad Shape ShapeN Sigmoid SigmoidGrad Sign Sin Sinh Size Slice Snapshot Softplus
    SoftplusGrad Softsign SoftsignGrad Split Sqrt SqrtGrad Square SquaredDifference Squeeze
    StopGradient StridedSlice StridedSliceGrad Sub Sum Tan Tanh TanhGrad Transpose
    TruncateDiv TruncateMod Unpack Where Xdivy Xlogy ZerosLike
    """.split()
)

# The same for ops that change a variable, which has its array where it was put.
STATE = frozenset(
    """
    ApplyGradientDescent Assign AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp
    AssignVariableOp IsVariableInitialized ReadVariableOp ResourceApplyGradientDescent
    VarIsInitializedOp VariableShape
    """.split()
)
