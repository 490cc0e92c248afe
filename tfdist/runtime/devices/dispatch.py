"""Which ops have kernels that NumPy's dispatch brings to a card: all they call, CuPy answers.

Each was run on all its samples on a card, and with arrays that answer dispatch and refuse to become
NumPy's (tests/runtime/devices/test_cupy.py); what is not here works through the host.
"""

from __future__ import annotations

DISPATCHED = frozenset(
    """
    Abs AccumulateNV2 Acos Acosh Add AddN AddV2 All Angle Any ApproximateEqual ArgMax ArgMin
    Asin Asinh Atan Atan2 Atanh BatchMatMul BatchMatMulV2 BiasAdd BiasAddGrad BiasAddV1 Bitcast
    BroadcastTo Cast Ceil CheckNumerics Cholesky ClipByValue ComplexAbs Concat ConcatV2 Conj
    ConjugateTranspose Cos Cosh Cross Cumprod Cumsum DepthToSpace DiagPart Div DivNoNan
    DynamicPartition DynamicStitch Elu EluGrad EnsureShape Equal Erf EuclideanNorm Exp
    ExpandDims Expm1 Fill Floor FloorDiv FloorMod Gather Greater GreaterEqual Identity IdentityN
    Imag Inv InvGrad IsFinite IsInf IsNan L2Loss LeakyRelu LeakyReluGrad Less LessEqual Log
    Log1p LogicalAnd LogicalNot LogicalOr MatMul MatrixDeterminant MatrixDiagPart
    MatrixInverse MatrixSolve Max Maximum Mean Min Minimum MirrorPad Mod Mul
    MulNoNan Neg NotEqual OnesLike Pack Pad PadV2 PlaceholderWithDefault Pow PreventGradient
    Prod Qr Rank Real RealDiv Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Reshape
    ReverseSequence ReverseV2 Rint Roll Round Rsqrt RsqrtGrad SelectV2 Selu SeluGrad Shape
    ShapeN Sigmoid SigmoidGrad Sign Sin Sinh Size Slice Snapshot Softplus SoftplusGrad Softsign
    SoftsignGrad SpaceToDepth Split Sqrt SqrtGrad Square SquaredDifference Squeeze
    StopGradient StridedSlice StridedSliceGrad Sub Sum Tan Tanh TanhGrad Transpose TruncateDiv
    TruncateMod Unpack Where Xdivy Xlogy ZerosLike
    """.split()
)

# The same for ops that change a variable, which has its array where it was put.
STATE = frozenset(
    """
    ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradV2 ApplyAdam ApplyAddSign
    ApplyCenteredRMSProp ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyRMSProp Assign
    AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp
    IsVariableInitialized ReadVariableOp ResourceApplyAdaMax ResourceApplyAdadelta
    ResourceApplyAdagrad ResourceApplyAdagradV2 ResourceApplyAdam ResourceApplyAdamWithAmsgrad
    ResourceApplyAddSign ResourceApplyCenteredRMSProp ResourceApplyGradientDescent
    ResourceApplyKerasMomentum ResourceApplyMomentum ResourceApplyPowerSign ResourceApplyRMSProp
    VarIsInitializedOp VariableShape
    """.split()
)

# Op -> which of its inputs kernels read as Python numbers, and so want in the host's memory:
# shapes, axes, where slices begin, as in TensorFlow's kernels for GPUs.
HOST_INPUTS = {
    op: frozenset(map(int, inputs.split()))
    for ops, inputs in (
        ("All Any ArgMax ArgMin BroadcastTo ConcatV2 ConjugateTranspose Cumprod Cumsum", "1"),
        ("EuclideanNorm ExpandDims Max Mean Min MirrorPad Pad PadV2 Prod Reshape", "1"),
        ("ReverseV2 Sum Transpose", "1"),
        ("Concat Fill Split", "0"),
        ("Roll Slice", "1 2"),
        ("StridedSlice", "1 2 3"),
        ("StridedSliceGrad", "0 1 2 3"),
    )
    for op in ops.split()
}
