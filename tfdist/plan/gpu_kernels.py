"""Which ops have kernels for GPUs, and for which types: what TensorFlow 1.15 has.

One line of the table is a group of ops: the attribute that counts, the types that it may be, the
ops. An op that is not here runs on CPUs only: strings, files, queues and readers, datasets, Python
functions, summaries, checkpoints, sparse updates, most of what changes integers. The types of a
line are those of TensorFlow's kernels with inputs or outputs in the host's memory too: its int32
arithmetic "on a GPU" is such.

Source: the TensorFlow 1.15 guide "Use a GPU"; the "Registered kernels" that its placement errors
list, as in public reports of them (github.com/tensorflow/tensorflow issues 9506, 8916, 20370).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph.records import Node

_FLOATS = "half float double"
_COMPLEX = "complex64 complex128"
_ARITHMETIC = f"{_FLOATS} int32 int64 {_COMPLEX}"
_SMALL = "uint8 uint16 int8 int16"
_ORDERED = f"{_FLOATS} int32 int64 uint8 int8 int16"
_NUMBERS = f"{_FLOATS} bfloat16 {_SMALL} int32 int64 {_COMPLEX} bool"
_STATE = f"{_FLOATS} int64 {_COMPLEX} bool"  # but int32: its variables are on CPUs
_ANY = ""

_Table = tuple[tuple[str, str, str], ...]

_FLOW: _Table = (
    ("", _ANY, "NoOp ControlTrigger LoopCond Switch Merge Enter Exit NextIteration RefSwitch"),
    ("", _ANY, "RefMerge RefEnter RefExit RefNextIteration Identity IdentityN RefIdentity"),
    ("", _ANY, "Placeholder PlaceholderV2 PlaceholderWithDefault StopGradient PreventGradient"),
    ("", _ANY, "If While StatelessIf StatelessWhile PartitionedCall StatefulPartitionedCall"),
    ("", _ANY, "SymbolicGradient _Arg _Retval _Send _Recv _HostSend _HostRecv _DeviceCopy Assert"),
    ("", _ANY, "BroadcastArgs BroadcastGradientArgs ConcatOffset InvertPermutation FakeParam"),
    ("dtype", _NUMBERS, "Const"),
)

_STATES: _Table = (
    ("dtype", _STATE, "Variable VariableV2 TemporaryVariable VarHandleOp AssignVariableOp"),
    ("dtype", _STATE, "IsVariableInitialized"),
    ("", _ANY, "VarIsInitializedOp VariableShape DestroyResourceOp"),
    ("dtype", _NUMBERS, "ReadVariableOp"),
    ("T", _STATE, "Assign DestroyTemporaryVariable"),
    ("T", f"{_FLOATS} int64", "AssignAdd AssignSub"),
    ("dtype", f"{_FLOATS} int64", "AssignAddVariableOp AssignSubVariableOp"),
    ("T", _FLOATS, "ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin ScatterMax"),
    ("T", _FLOATS, "ScatterUpdate ScatterNdAdd ScatterNdSub ScatterNdUpdate"),
    ("dtype", _FLOATS, "ResourceGather ResourceScatterAdd ResourceScatterSub"),
    ("dtype", _FLOATS, "ResourceScatterMul ResourceScatterDiv ResourceScatterMin"),
    ("dtype", _FLOATS, "ResourceScatterMax ResourceScatterUpdate ResourceGatherNd"),
    ("T", _FLOATS, "ResourceScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub"),
    ("T", _NUMBERS, "ResourceStridedSliceAssign"),
    ("T", _FLOATS, "ApplyGradientDescent ApplyMomentum ApplyAdagrad ApplyAdagradV2 ApplyAdadelta"),
    ("T", _FLOATS, "ApplyAdam ApplyAdaMax ApplyRMSProp ApplyCenteredRMSProp ApplyAddSign"),
    ("T", _FLOATS, "ApplyPowerSign ResourceApplyPowerSign ResourceApplyAddSign"),
    ("T", _FLOATS, "ResourceApplyGradientDescent ResourceApplyMomentum ResourceApplyAdagrad"),
    ("T", _FLOATS, "ResourceApplyAdagradV2 ResourceApplyKerasMomentum ResourceApplyAdadelta"),
    ("T", _FLOATS, "ResourceApplyAdam ResourceApplyAdamWithAmsgrad ResourceApplyAdaMax"),
    ("T", _FLOATS, "ResourceApplyRMSProp ResourceApplyCenteredRMSProp"),
    ("", _ANY, "TensorArrayV2 TensorArrayGradV2 TensorArraySizeV2 TensorArrayCloseV2"),
    ("", _ANY, "TensorArrayV3 TensorArrayGradV3 TensorArraySizeV3 TensorArrayCloseV3"),
    ("", _ANY, "TensorArrayGradWithShape"),
    ("T", _NUMBERS, "TensorArrayWriteV2 TensorArrayScatterV2 TensorArraySplitV2"),
    ("dtype", _NUMBERS, "TensorArrayReadV2 TensorArrayGatherV2 TensorArrayConcatV2"),
    ("T", _NUMBERS, "TensorArrayWriteV3"),
    ("dtype", _NUMBERS, "TensorArrayReadV3 TensorArrayGatherV3 TensorArrayConcatV3"),
    ("T", _NUMBERS, "TensorArrayScatterV3 TensorArraySplitV3"),
    ("", _ANY, "Stack StackV2 StackPush StackPushV2 StackPop StackPopV2 StackClose StackCloseV2"),
    ("", _ANY, "Stage Unstage StagePeek StageSize StageClear"),
    ("", _ANY, "MapStage MapUnstage MapUnstageNoKey MapPeek MapSize MapIncompleteSize MapClear"),
    ("", _ANY, "OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey OrderedMapPeek"),
    ("", _ANY, "OrderedMapSize OrderedMapIncompleteSize OrderedMapClear"),
)

_ELEMENTWISE: _Table = (
    ("T", _ARITHMETIC, "Add AddV2 Sub AddN AccumulateNV2"),
    ("T", f"{_ARITHMETIC} {_SMALL}", "Mul Div"),
    ("T", f"{_FLOATS} int32 int64 uint8 uint16 int16", "FloorDiv TruncateDiv"),
    ("T", f"{_FLOATS} {_COMPLEX} int64 uint8 uint16 int16", "RealDiv"),
    ("T", f"{_FLOATS} {_COMPLEX}", "DivNoNan MulNoNan Xdivy Xlogy"),
    ("T", "int32", "Mod FloorMod TruncateMod"),
    ("T", f"{_FLOATS} int32 int64", "Neg Abs Sign Square SquaredDifference Maximum Minimum"),
    ("T", f"{_FLOATS} int64", "Pow"),
    ("T", f"{_FLOATS} {_COMPLEX}", "Exp Expm1 Log Log1p Sqrt SqrtGrad Rsqrt RsqrtGrad Sigmoid"),
    ("T", f"{_FLOATS} {_COMPLEX}", "SigmoidGrad Tanh TanhGrad Inv InvGrad Reciprocal"),
    ("T", f"{_FLOATS} {_COMPLEX}", "ReciprocalGrad Sin Cos Sinh Cosh Asinh Acosh Atanh"),
    ("T", _FLOATS, "Tan Asin Acos Atan Atan2 Lgamma Digamma Erf Erfc Ceil Floor Rint"),
    ("T", f"{_FLOATS} int32 int64", "Round"),
    ("T", _FLOATS, "IsNan IsInf IsFinite CheckNumerics"),
    ("T", _ORDERED, "Less LessEqual Greater GreaterEqual"),
    ("T", f"{_ORDERED} {_COMPLEX} bool", "Equal NotEqual ApproximateEqual"),
    ("", _ANY, "LogicalAnd LogicalOr LogicalNot"),
    ("T", "uint8 uint16 uint32 uint64 int8 int16 int32 int64", "BitwiseAnd BitwiseOr BitwiseXor"),
    ("T", "uint8 uint16 uint32 uint64 int8 int16 int32 int64", "Invert LeftShift RightShift"),
    ("T", _COMPLEX, "Real Imag Conj Angle ComplexAbs"),
    ("", _ANY, "Complex"),
    ("SrcT DstT", _NUMBERS, "Cast"),
    ("T", f"{_FLOATS} int32 int64 {_COMPLEX} bool", "Select SelectV2"),
    ("T", f"{_FLOATS} int32 int64", "ClipByValue"),
    ("T", _NUMBERS, "Bitcast"),
)

_ARRAYS: _Table = (
    ("T", _NUMBERS, "Shape ShapeN Size Rank Reshape ExpandDims Squeeze Snapshot"),
    ("out_type", "int32 int64", "Shape Size"),
    ("T", _NUMBERS, "ZerosLike OnesLike Fill Concat ConcatV2 Slice StridedSlice StridedSliceGrad"),
    ("T", _NUMBERS, "StridedSliceAssign Transpose ConjugateTranspose BroadcastTo Pack Unpack"),
    ("T", f"{_FLOATS} int32 int64 {_COMPLEX} bool", "Split SplitV Roll"),
    ("T", f"{_FLOATS} int16 {_COMPLEX}", "Tile TileGrad"),
    ("T", f"{_FLOATS} uint8 int32 {_COMPLEX}", "Pad PadV2 MirrorPad MirrorPadGrad"),
    ("T", f"{_NUMBERS}", "Reverse ReverseV2 ReverseSequence OneHot EnsureShape"),
    ("Tparams", f"{_FLOATS} int64 bool {_COMPLEX}", "Gather GatherV2 GatherNd"),
    (
        "T",
        f"{_FLOATS} {_COMPLEX}",
        "ScatterNd TensorScatterUpdate TensorScatterAdd TensorScatterSub",
    ),
    ("T", f"{_FLOATS} int32 int64 bool {_COMPLEX}", "DynamicStitch ParallelDynamicStitch"),
    ("T", f"{_FLOATS} {_COMPLEX}", "DynamicPartition"),
    ("T", f"{_NUMBERS}", "Where"),
    ("Tidx", "float double int32 int64", "Range"),
    ("T", "float double", "LinSpace"),
    ("T", f"{_FLOATS} {_COMPLEX}", "Diag DiagPart"),
    ("T", f"{_NUMBERS}", "MatrixDiag MatrixDiagPart MatrixSetDiag MatrixBandPart"),
    ("T", _ORDERED, "TopK TopKV2 Cross"),
    ("T", _FLOATS, "SpaceToBatch SpaceToBatchND BatchToSpace BatchToSpaceND"),
    ("T", _FLOATS, "SpaceToDepth DepthToSpace"),
)

_SUMS: _Table = (
    ("T", f"{_FLOATS} int32 {_COMPLEX}", "Sum Prod Mean"),
    ("T", f"{_FLOATS} int32 int64", "Max Min"),
    ("", _ANY, "All Any"),
    ("T", f"{_FLOATS} {_COMPLEX}", "EuclideanNorm"),
    ("T", _FLOATS, "ArgMax ArgMin Cumsum Cumprod L2Loss"),
    ("T", f"{_FLOATS} {_COMPLEX}", "MatMul BatchMatMul BatchMatMulV2"),
    ("T", f"{_FLOATS} int32", "UnsortedSegmentSum"),
    ("T", _FLOATS, "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd SegmentSum"),
    ("T", f"float double {_COMPLEX}", "SparseTensorDenseMatMul MatrixInverse MatrixSolve"),
    (
        "T",
        "float double",
        "Cholesky MatrixDeterminant MatrixTriangularSolve Qr Svd SelfAdjointEigV2",
    ),
)

_NETWORKS: _Table = (
    ("T", f"{_FLOATS} int32", "BiasAdd BiasAddV1 BiasAddGrad"),
    ("T", _FLOATS, "Relu ReluGrad Relu6 Relu6Grad LeakyRelu LeakyReluGrad Elu EluGrad Selu"),
    ("T", _FLOATS, "SeluGrad Softplus SoftplusGrad Softsign SoftsignGrad Softmax LogSoftmax"),
    ("T", _FLOATS, "SoftmaxCrossEntropyWithLogits Conv2D Conv2DBackpropInput"),
    ("T", "half float", "SparseSoftmaxCrossEntropyWithLogits"),
    ("T", _FLOATS, "Conv2DBackpropFilter Conv3D Conv3DBackpropInputV2 Conv3DBackpropFilterV2"),
    ("T", _FLOATS, "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput"),
    ("T", _FLOATS, "DepthwiseConv2dNativeBackpropFilter MaxPool MaxPoolV2 MaxPoolGrad"),
    ("T", _FLOATS, "MaxPoolGradV2 MaxPoolGradGrad MaxPoolWithArgmax MaxPoolGradWithArgmax"),
    ("T", _FLOATS, "AvgPool AvgPoolGrad MaxPool3D MaxPool3DGrad AvgPool3D AvgPool3DGrad"),
    ("T", "float", "FusedBatchNorm FusedBatchNormGrad"),
    ("T", "half float", "FusedBatchNormV2 FusedBatchNormGradV2 FusedBatchNormV3"),
    ("T", "half float", "FusedBatchNormGradV3"),
    ("T", "half float", "LRN LRNGrad"),
    ("dtype", _FLOATS, "RandomUniform RandomStandardNormal TruncatedNormal"),
    ("Tout", "int32 int64", "RandomUniformInt"),
    ("T", _FLOATS, "Multinomial"),
    ("dtype", _FLOATS, "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal"),
    ("T", _NUMBERS, "ResizeBilinear ResizeNearestNeighbor CropAndResize"),
)


class _Line(NamedTuple):
    attrs: tuple[str, ...]
    types: frozenset[DType]  # empty for all


@cache
def _table() -> Mapping[str, tuple[_Line, ...]]:
    found: dict[str, tuple[_Line, ...]] = {}
    for attrs, types, ops in (*_FLOW, *_STATES, *_ELEMENTWISE, *_ARRAYS, *_SUMS, *_NETWORKS):
        line = _Line(tuple(attrs.split()), frozenset(map(dtypes.as_dtype, types.split())))
        for op in ops.split():
            found[op] = (*found.get(op, ()), line)
    return found


def runs_on_gpu(node: Node) -> bool:
    """Return whether TensorFlow has a GPU kernel for `node`."""
    lines = _table().get(node.op)
    return lines is not None and all(
        attr not in node.attrs or node.attrs[attr].base_dtype in line.types
        for line in lines
        for attr in line.attrs
    )


def kernel_label(node: Node) -> str:
    """Return the label of the kernel that a node wants, "" for the usual one."""
    label: bytes = node.attrs.get("_kernel", b"")
    return label.decode(errors="replace")


def kernel_types(node: Node) -> frozenset[str]:
    """Return the types of device that have a kernel for `node`."""
    label = kernel_label(node)
    if label:
        return frozenset({"CPU"} if label in node.op_def.labelled else ())
    types = frozenset(node.op_def.kernels)
    return types | {"GPU"} if "CPU" in types and runs_on_gpu(node) else types


def gpu_types(op: str) -> dict[str, list[str]] | None:
    """Return for each attribute that counts which types an op's GPU kernels have; None for none."""
    lines = _table().get(op)
    if lines is None:
        return None
    return {
        attr: [dtype.name for dtype in sorted(line.types, key=lambda each: each.as_datatype_enum)]
        for line in lines
        for attr in line.attrs
    }


def shortcoming(node: Node, kind: str = "GPU") -> str:
    """Return which kernel `node` lacks: "VariableV2 has no GPU kernel for int32"."""
    lines = _table().get(node.op, ()) if kind == "GPU" else ()
    wrong = [
        node.attrs[attr].base_dtype.name
        for line in lines
        for attr in line.attrs
        if attr in node.attrs and node.attrs[attr].base_dtype not in line.types
    ]
    types = f" for {', '.join(wrong)}" if wrong else ""
    return f"{node.op} has no {kind} kernel{types}"


def registered_kernels(node: Node) -> list[str]:
    """Return the registered kernels of an op as TensorFlow's errors list them, one line a type."""
    told = [
        f"device='GPU'; {attr} in [{_enum_name(dtype)}]"
        for line in _table().get(node.op, ())
        for attr in line.attrs
        for dtype in sorted(line.types, key=lambda dtype: dtype.as_datatype_enum)
    ]
    everywhere = ["device='GPU'"] if node.op in _table() else []
    own = [f"device={kind!r}" for kind in sorted(node.op_def.kernels)]
    labelled = [f"device='CPU'; label={label!r}" for label in node.op_def.labelled]
    return [*own, *labelled, *(told or everywhere)] or ["<no registered kernels>"]


_ENUM_NAMES = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE"}


def _enum_name(dtype: DType) -> str:
    return f"DT_{_ENUM_NAMES.get(dtype.name, dtype.name.upper())}"
