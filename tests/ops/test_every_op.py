"""The contract of an op, checked for every op of the registry on its samples.

The shape rule agrees with the kernel however little is known of the inputs; the kernel gives the
promised types and leaves its inputs alone; the gradient agrees with finite differences. A new op
needs a line in the table of its folder in `samples/`, and nothing here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfdist.graph.build
import tfdist.ops
from tests.ops.evaluate import evaluate
from tests.ops.samples import SAMPLES, TABLES, samples_of
from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.errors import OpError
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import REGISTRY, Known, OpDef, raw
from tfdist.graph.op_registry import read_index
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.framework import framework_test_ops
from tfdist.ops.optimizer_ops import training_ops
from tfdist.ops.summary import writer_ops
from tfdist.runtime.resources.session_tensors import SessionTensors
from tfdist.runtime.resources.tensors_map import TensorsMap

MODULES = [module.name for module in pkgutil.walk_packages(tfdist.ops.__path__, "tfdist.ops.")]
for _name in MODULES:
    importlib.import_module(_name)

_VARIABLES = "changes a variable: tests/session runs it"
_QUEUES = "waits for a queue: tests/runtime and tests/session run it"
_TABLES = "works on a lookup table: lookup/test_lookup.py runs it"
_WAITING = "waits for other steps: tests/ops/queues/test_waiting.py runs it"
_TRANSFER = "moves a tensor between devices: tests/runtime runs it"
_ARRAYS = "works on an array of the step: tensor_array/test_tensor_array.py runs it"
_READERS = (
    "reads or writes files: io/test_reading.py and tests/runtime/resources/test_readers.py run it"
)
_CHECKPOINTS = "reads or writes files: tests/formats/checkpoint/test_checkpoint.py runs it"
_SEQUENCES = "has an input for each feature: io/test_reading.py runs it"
_STACKS = "works on a stack of the step: test_stack.py runs it"
_FUNCTIONS = "calls a function of the process that made it: functions/test_py_func.py runs it"
_LISTS = "makes or takes no arrays: tensor_list/test_tensor_list.py runs it"
_OPTIONALS = "makes or takes no arrays: functions/test_functions.py runs it"
_SPARSE = "takes what other nodes have left: sparse/test_sparse.py runs it"
_CALLS = "calls functions of the graph, which replace it: functions/test_functions.py runs them"

_PRINTS = "writes a line: math/test_bits.py looks at it"
_SESSIONS = "keeps what it has in its session: tests/session/test_session_handles.py runs it"
_STEPS = "changes variables: tests/training/optimizers/test_optimizer_differential.py runs it"
_DATASETS = "makes or takes no arrays: tests/datasets runs it"

_MUTEXES = "waits for other steps: control_flow/test_critical_section.py runs it"
_GENERATORS = "changes a variable: test_generator.py runs it"
_WRITERS = "writes files: tests/models/contrib/test_contrib_graphs.py runs it"

_BUILT = "is of TensorFlow's own tests: framework/test_framework_test_ops.py builds it"

# Ops without a sample, and why.
_FLOW = "belongs to a branch or a loop: tests/runtime/test_control_flow.py"
WITHOUT_SAMPLE = {
    **{
        name: _DATASETS
        for name in REGISTRY
        if any(kind in name for kind in ("Dataset", "Iterator", "MemoryCache", "SeedGenerator"))
    },
    **{op_def.name: _STEPS for op_def in training_ops.OPS},
    **{op_def.name: _WRITERS for op_def in writer_ops.OPS},
    **{op_def.name: _BUILT for op_def in framework_test_ops.OPS},
    **dict.fromkeys(
        ("DevicePlacementOp", "KernelLabel", "KernelLabelRequired", "ResourceCreateOp",
         "ResourceInitializedOp", "ResourceUsingOp", "StubResourceHandleOp", "TestAttr"), _BUILT),
    **dict.fromkeys(("ConsumeMutexLock", "MutexLock", "MutexV2"), _MUTEXES),
    **dict.fromkeys(
        ("NonDeterministicInts", "RngSkip", "StatefulRandomBinomial", "StatefulStandardNormalV2",
         "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformFullInt",
         "StatefulUniformInt"), _GENERATORS),
    "Placeholder": "only tells that it must be fed",
    "PrintV2": _PRINTS,
    **dict.fromkeys(
        ("GenerateVocabRemapping", "LoadAndRemapMatrix"),
        "reads files: tests/training/saving/test_warm_starting.py"),
    **dict.fromkeys(
        ("DeleteSessionTensor", "GetSessionHandle", "GetSessionTensor",
         "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"), _SESSIONS),
    "AudioSummary": "is AudioSummaryV2 of graphs that TensorFlow 1.15 does not build any more",
    "TensorSummary": "tells its node's name: tests/training/events/test_summaries.py",
    "ImageSummary": "libraries of PNG write other bytes: tests/training/events/test_summaries.py",
    **dict.fromkeys(
        ("ApplyGradientDescent", "Assign", "AssignAdd", "AssignSub", "CountUpTo",
         "IsVariableInitialized",
         "RefIdentity", "RefSelect", "ScatterAdd", "ScatterDiv", "ScatterMax", "ScatterMin",
         "ScatterMul", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate", "ScatterSub",
         "ScatterUpdate", "StridedSliceAssign", "Variable", "VariableV2",
         "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "DestroyResourceOp",
         "ReadVariableOp", "ResourceApplyGradientDescent", "ResourceCountUpTo", "ResourceGather",
         "ResourceGatherNd", "ResourceScatterAdd", "ResourceScatterDiv", "ResourceScatterMax",
         "ResourceScatterMin", "ResourceScatterMul", "ResourceScatterNdAdd",
         "ResourceScatterNdSub", "ResourceScatterNdUpdate", "ResourceScatterSub",
         "ResourceScatterUpdate", "ResourceStridedSliceAssign", "VarHandleOp",
         "VarIsInitializedOp", "VariableShape"),
        _VARIABLES),
    **dict.fromkeys(
        ("FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "PriorityQueue",
         "PriorityQueueV2", "QueueClose", "QueueCloseV2", "QueueDequeue", "QueueDequeueMany",
         "QueueDequeueManyV2", "QueueDequeueUpTo", "QueueDequeueUpToV2", "QueueDequeueV2",
         "QueueEnqueue", "QueueEnqueueMany", "QueueEnqueueManyV2", "QueueEnqueueV2",
         "QueueIsClosed", "QueueIsClosedV2", "QueueSize", "QueueSizeV2", "RandomShuffleQueue",
         "RandomShuffleQueueV2", "FakeQueue"), _QUEUES),
    **dict.fromkeys(
        ("HashTable", "HashTableV2", "InitializeTable", "InitializeTableFromTextFile",
         "InitializeTableFromTextFileV2", "InitializeTableV2", "LookupTableExport",
         "LookupTableExportV2", "LookupTableFind", "LookupTableFindV2", "LookupTableImport",
         "LookupTableImportV2", "LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2",
         "LookupTableSize", "LookupTableSizeV2", "MutableDenseHashTable",
         "MutableDenseHashTableV2", "MutableHashTable", "MutableHashTableOfTensors",
         "MutableHashTableOfTensorsV2", "MutableHashTableV2"), _TABLES),
    **dict.fromkeys(
        ("AccumulatorApplyGradient", "AccumulatorNumAccumulated", "AccumulatorSetGlobalStep",
         "AccumulatorTakeGradient", "Barrier", "BarrierClose", "BarrierIncompleteSize",
         "BarrierInsertMany", "BarrierReadySize", "BarrierTakeMany", "ConditionalAccumulator",
         "MapClear", "MapIncompleteSize", "MapPeek", "MapSize", "MapStage", "MapUnstage",
         "MapUnstageNoKey", "OrderedMapClear", "OrderedMapIncompleteSize", "OrderedMapPeek",
         "OrderedMapSize", "OrderedMapStage", "OrderedMapUnstage", "OrderedMapUnstageNoKey",
         "ResourceAccumulatorApplyGradient", "ResourceAccumulatorNumAccumulated",
         "ResourceAccumulatorSetGlobalStep", "ResourceAccumulatorTakeGradient",
         "ResourceConditionalAccumulator", "SparseAccumulatorApplyGradient",
         "SparseAccumulatorTakeGradient", "SparseConditionalAccumulator", "Stage", "StageClear",
         "StagePeek", "StageSize", "Unstage"), _WAITING),
    **dict.fromkeys(
        ("FixedLengthRecordReader", "FixedLengthRecordReaderV2", "IdentityReader",
         "IdentityReaderV2", "MatchingFiles", "ReadFile", "ReaderNumRecordsProduced",
         "ReaderNumRecordsProducedV2", "ReaderNumWorkUnitsCompleted",
         "ReaderNumWorkUnitsCompletedV2", "ReaderRead", "ReaderReadUpTo", "ReaderReadUpToV2",
         "ReaderReadV2", "ReaderReset", "ReaderResetV2", "ReaderRestoreState",
         "ReaderRestoreStateV2", "ReaderSerializeState", "ReaderSerializeStateV2",
         "TFRecordReader", "TFRecordReaderV2", "TextLineReader", "TextLineReaderV2",
         "WholeFileReader", "WholeFileReaderV2", "WriteFile"), _READERS),
    **dict.fromkeys(
        ("DisableCopyOnRead", "MergeV2Checkpoints", "Restore", "RestoreSlice", "RestoreV2", "Save",
         "SaveSlices", "SaveV2"), _CHECKPOINTS),
    **dict.fromkeys(("ParseSequenceExample", "ParseSingleSequenceExample"), _SEQUENCES),
    "RecordInput": _READERS.replace("io/test_reading.py", "io/test_record_input.py"),
    "TakeManySparseFromTensorsMap": _SPARSE,
    **dict.fromkeys(("EagerPyFunc", "PyFunc", "PyFuncStateless"), _FUNCTIONS),
    **dict.fromkeys(
        ("Case", "If", "PartitionedCall", "RemoteCall", "StatefulPartitionedCall", "StatelessCase",
         "StatelessIf", "StatelessWhile", "SymbolicGradient", "While", "_If", "_RemoteTarget",
         "_While"), _CALLS),
    **dict.fromkeys(
        ("OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone"), _OPTIONALS),
    **dict.fromkeys(
        ("Stack", "StackClose", "StackCloseV2", "StackPop", "StackPopV2", "StackPush",
         "StackPushV2", "StackV2"), _STACKS),
    **dict.fromkeys(
        ("TensorArray", "TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3",
         "TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3", "TensorArrayGather",
         "TensorArrayGatherV2", "TensorArrayGatherV3", "TensorArrayGrad", "TensorArrayGradV2",
         "TensorArrayGradV3", "TensorArrayGradWithShape", "TensorArrayPack", "TensorArrayRead",
         "TensorArrayReadV2", "TensorArrayReadV3", "TensorArrayScatter", "TensorArrayScatterV2",
         "TensorArrayScatterV3", "TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3",
         "TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3", "TensorArrayUnpack",
         "TensorArrayV2", "TensorArrayV3", "TensorArrayWrite", "TensorArrayWriteV2",
         "TensorArrayWriteV3"), _ARRAYS),
    **dict.fromkeys(
        ("EmptyTensorList", "TensorListConcat", "TensorListConcatLists", "TensorListConcatV2",
         "TensorListElementShape", "TensorListFromTensor", "TensorListGather", "TensorListGetItem",
         "TensorListLength", "TensorListPopBack", "TensorListPushBack", "TensorListPushBackBatch",
         "TensorListReserve", "TensorListResize", "TensorListScatter",
         "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem",
         "TensorListSplit", "TensorListStack"), _LISTS),
    **dict.fromkeys(
        (
            "DestroyTemporaryVariable", "TemporaryVariable", "_FusedConv2D", "_FusedMatMul",
            "_UnaryOpsComposition",
        ),
        "made by TensorFlow's optimizer only: test_rewritten_ops.py runs it"),
    **dict.fromkeys(
        ("Abort", "AdjustContrast", "PlaceholderV2", "QuantizeAndDequantize", "RandomCrop",
         "RandomPoisson", "TileGrad"), "TensorFlow 1.15 builds none: test_legacy_ops.py"),
    "TensorStridedSliceUpdate":
        "is the end of TensorFlow 1.15's process: variables/test_sliced_assignment.py runs it",
    **dict.fromkeys(("_Recv", "_Send", "_HostRecv", "_HostSend", "_DeviceCopy"), _TRANSFER),
    **dict.fromkeys(
        ("ControlTrigger", "Enter", "Exit", "LoopCond", "Merge", "NextIteration", "RefEnter",
         "RefExit", "RefMerge", "RefNextIteration", "RefSwitch", "Switch", "_Loop"), _FLOW),
    "_Fused": "stands for others, while a step is compiled: plan/compiling/test_fused_loop.py",
}  # fmt: skip

# Ops whose gradient is not the slope of their kernel, and why.
NOT_THE_SLOPE = {
    **dict.fromkeys(
        ("CropAndResize", "ResizeBicubic", "ResizeBilinear"),
        "gives float32 only, too coarse for differences: image/test_images.py looks at it",
    ),
    "ScaleAndTranslate": "gives float32, too coarse for differences: test_legacy_ops.py has it",
    **dict.fromkeys(
        ("MatrixDiagPartV2", "MatrixDiagV2"),
        "leaves the padding out, as in TensorFlow: test_legacy_ops.py looks at it",
    ),
    "CTCLoss": "takes the gradient of its first output only: nn/test_ctc.py looks at it",
    **dict.fromkeys(
        ("BlockLSTM", "GRUBlockCell", "LSTMBlockCell"),
        "gives float32 only, of the state and the output: tests/models/seq2seq/test_seq2seq.py",
    ),
    **dict.fromkeys(
        ("ImageProjectiveTransform", "ImageProjectiveTransformV2"),
        "goes through the inverse, as TensorFlow's: tests/models/contrib/test_contrib_graphs.py",
    ),
    "PreventGradient": "raises an error instead",
    "RandomGamma": "is that of samples whose rank stays the same: math/test_bits.py looks at it",
    **dict.fromkeys(
        (
            "FakeQuantWithMinMaxArgs",
            "FakeQuantWithMinMaxVars",
            "FakeQuantWithMinMaxVarsPerChannel",
            "QuantizeAndDequantizeV2",
            "QuantizeAndDequantizeV3",
        ),
        "is that of the number before it was rounded: math/test_bits.py looks at it",
    ),
    **dict.fromkeys(
        ("Cholesky", "MatrixSolveLs", "Qr", "SelfAdjointEigV2", "Svd"),
        "is half above the diagonal, or not there for some: linalg/test_linalg.py looks at it",
    ),
    **dict.fromkeys(
        ("Betainc", "NextAfter", "Polygamma", "Zeta"),
        "flows to some inputs only, as in TensorFlow: test_spectra.py looks at it",
    ),
    **dict.fromkeys(
        ("IRFFT", "IRFFT2D", "RFFT", "RFFT2D"),
        "is float32 only, too coarse for differences: test_spectra.py looks at it",
    ),
    "SparseDenseCwiseAdd": "raises an error instead",
    "SparseMatMul": "takes float32, too coarse for differences: sparse/test_sparse_calls.py",
    **dict.fromkeys(
        (
            "FusedBatchNorm",
            "FusedBatchNormV2",
            "FusedBatchNormV3",
            "FusedBatchNormGrad",
            "FusedBatchNormGradV2",
            "FusedBatchNormGradV3",
        ),
        "takes the moments for part of y only, as in TensorFlow: nn/test_nn.py looks at it",
    ),
}

# Ops through which a gradient is asked for in vain, as in TensorFlow 1.x: a LookupError tells it.
WITHOUT_GRADIENT = {
    "BatchCholesky", "BatchCholeskyGrad", "BatchFFT", "BatchFFT2D", "BatchFFT3D", "BatchIFFT",
    "BatchIFFT2D", "BatchIFFT3D", "BatchMatrixDeterminant", "BatchMatrixInverse",
    "BatchMatrixSolve", "BatchMatrixSolveLs", "BatchMatrixTriangularSolve", "BatchSelfAdjointEig",
    "BatchSelfAdjointEigV2", "BatchSvd", "Bincount", "CholeskyGrad", "HistogramFixedWidth",
    "IRFFT3D", "IgammaGradA", "Lu", "MatrixLogarithm", "Mfcc", "RFFT3D", "SelfAdjointEig",
    "AudioSpectrogram", "EncodeWav",
    "DeepCopy", "InplaceAdd", "InplaceSub", "InplaceUpdate", "ParallelConcat",
    "ScaleAndTranslateGrad", "UniqueV2", "UniqueWithCountsV2",
    "SparseReduceMax", "SparseReduceMaxSparse", "SparseReduceSumSparse", "SparseSplit",
}  # fmt: skip


class Context:
    """What a stateful kernel may ask of the task it runs on."""

    node_name = "node"

    def __init__(self) -> None:
        self.logs: list[str] = []
        self.resources: dict[tuple[str, str], Any] = {}

    def rng(self, seed: int, seed2: int) -> np.random.Generator:
        return np.random.default_rng([seed, seed2])

    def reserve(self, blocks: int) -> int:
        return 0

    def own_name(self) -> str:
        return self.node_name

    def log(self, text: str) -> None:
        self.logs.append(text)

    def check(self) -> None:
        pass

    def resource(self, kind: str, container: bytes, name: str, make: Callable[[Any], Any]) -> Any:
        import itertools

        key = (kind, name)
        if key not in self.resources:
            kinds = {
                "counter": itertools.count,
                "session tensors": SessionTensors,
                "tensors map": TensorsMap,
            }
            self.resources[key] = make(kinds[kind])
        return self.resources[key]


class Case(NamedTuple):
    """An op with one sample."""

    op_def: OpDef
    inputs: tuple[Any, ...]  # an array per input, a list of arrays for a list input
    attrs: dict[str, Any]

    @property
    def flat(self) -> list[np.ndarray[Any, Any]]:
        return flatten(self.inputs)

    def build(self, values: list[Any]) -> Operation:
        """Return the node with `values` as its inputs, which stand as `flat` does."""
        rest = iter(values)
        grouped = [
            [next(rest) for _ in each] if isinstance(each, list) else next(rest)
            for each in self.inputs
        ]
        made = self.op_def(*grouped, **self.attrs)
        first = made[0] if isinstance(made, list | tuple) else made
        return first.op if isinstance(first, Tensor) else first

    def run(self, op: Operation) -> list[Any]:
        """Return what the kernel of `op` makes of the inputs."""
        rule = self.op_def.kernels["CPU"]
        keywords = {key: op._attrs[key] for key in rule.keywords}
        context = [Context()] if rule.takes_context else []
        result = rule.function(*context, *self.inputs, **keywords)
        return [result] if self.op_def.has_one_output else list(result or ())


def flatten(inputs: tuple[Any, ...]) -> list[Any]:
    return [each for one in inputs for each in (one if isinstance(one, list) else [one])]


def read_only(value: Any) -> Any:
    """Return a copy of a sample's value that a kernel cannot write to."""
    if isinstance(value, list):
        return [read_only(each) for each in value]
    array = np.array(value)
    array.flags.writeable = False
    return array[()] if array.ndim == 0 and array.dtype != object else array


def cases(names: Any = SAMPLES) -> Iterator[Any]:
    for name in names:
        if name in REGISTRY:
            for number, (inputs, attrs) in enumerate(samples_of(name)):
                case = Case(REGISTRY[name], tuple(map(read_only, inputs)), dict(attrs))
                yield pytest.param(case, id=f"{name}-{number}")


EVERY_CASE = pytest.mark.parametrize("case", list(cases()))


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with Graph().as_default() as own:
        yield own


def placeholder(array: Any, shape: Any) -> Tensor:
    return raw.Placeholder(dtype=np.asarray(array).dtype, shape=shape)


def test_every_op_has_a_sample():
    covered = set(SAMPLES) | set(WITHOUT_SAMPLE)
    assert set(REGISTRY) - covered == set(), "add a line to its table in tests/ops/samples for each"


def test_every_sample_has_an_op():
    assert covered_twice() == set()
    assert set(SAMPLES) - set(REGISTRY) == set()


def test_a_sample_stands_in_the_table_of_its_ops_folder():
    modules = read_index()
    tables = {name: table.__name__.rpartition(".")[2] for table in TABLES for name in table.SAMPLES}
    assert tables == {name: modules[name].split(".")[2] for name in SAMPLES}


def covered_twice() -> set[str]:
    return set(SAMPLES) & set(WITHOUT_SAMPLE)


# shapes and types


def check(op: Operation, results: list[Any]) -> None:
    """Assert that `results` have the types and shapes that the outputs of `op` promise."""
    assert len(results) == len(op.outputs)
    for tensor, value in zip(op.outputs, results, strict=True):
        if isinstance(value, bytes):
            assert (tensor.dtype, tensor.plain_shape) in [("string", ()), ("string", None)]
            continue
        assert isinstance(value, np.ndarray | np.generic)
        assert value.dtype == np.dtype(tensor.dtype.as_numpy_dtype), tensor
        assert shapes.compatible(tensor.plain_shape, value.shape), (tensor, value.shape)


@EVERY_CASE
def test_shape_and_type_agree_with_the_kernel(case):
    """With constants as inputs, with placeholders, and with each mixture of both."""
    op = case.build(case.flat)
    results = case.run(op)
    check(op, results)
    for values in blurred(case.flat):
        check(case.build(values), results)


def blurred(arrays: list[Any]) -> Iterator[list[Any]]:
    """Yield `arrays` as tensors of which less and less is known, all at once and one by one."""
    for blur in (
        lambda array: placeholder(array, np.shape(array)),
        lambda array: placeholder(array, [None] * np.ndim(array)),
        lambda array: placeholder(array, None),
    ):
        yield [blur(array) for array in arrays]
        for position in range(len(arrays)) if len(arrays) > 1 else ():
            yield [blur(a) if i == position else a for i, a in enumerate(arrays)]
            yield [blur(a) if i != position else a for i, a in enumerate(arrays)]


@EVERY_CASE
def test_a_full_shape_is_told(case):
    """What the kernel gives is known beforehand where inputs are constants: TensorFlow tells it."""
    op = case.build(case.flat)
    if op.type in SHAPE_DEPENDS_ON_VALUES:
        return
    assert [t.plain_shape for t in op.outputs] == [np.shape(r) for r in case.run(op)]


# Ops whose shape TensorFlow does not tell either, even for constants.
SHAPE_DEPENDS_ON_VALUES = {
    "DecodeWav",
    "DecodeAndCropJpeg", "DecodeBmp", "DecodeGif", "DecodeJpeg", "DecodePng", "NonMaxSuppression",
    "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionWithOverlaps",
    "AddManySparseToTensorsMap", "BroadcastGradientArgs", "ComputeAccidentalHits", "DecodeRaw",
    "DeserializeManySparse", "Fact",
    "DeserializeSparse", "DynamicPartition", "DynamicStitch", "ListDiff", "ParallelDynamicStitch",
    "ParseExample", "ParseSingleExample", "ParseTensor", "PlaceholderWithDefault", "SegmentMax",
    "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "SerializeManySparse",
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "SetSize", "SparseAdd", "SparseCross",
    "SparseFillEmptyRows", "SparseReduceMaxSparse", "SparseReduceSumSparse", "SparseSlice",
    "SparseSparseMaximum", "SparseSparseMinimum", "SparseSplit", "SparseToSparseSetOperation",
    "CTCBeamSearchDecoder", "CTCGreedyDecoder", "RaggedRange", "SparseSegmentMean",
    "SparseSegmentSqrtN", "SparseSegmentSum", "Unique",
    "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "Where",
    "StringNGrams", "StringSplit", "StringSplitV2", "UnicodeDecode", "UnicodeDecodeWithOffsets",
}  # fmt: skip


@EVERY_CASE
def test_inputs_stay_as_they_are(case):
    before = [np.array(each) for each in case.flat]
    results = case.run(case.build(case.flat))
    for array, old in zip(case.flat, before, strict=True):
        np.testing.assert_array_equal(array, old)
    assert results is not case.inputs


# other types


ANY_TYPE = [dtype for dtype in dtypes.ALL if not dtype.is_quantized]  # few kernels take these


def other_types(case: Case) -> Iterator[dict[str, DType]]:
    """Yield for each type that an attribute of the op may have: the attribute and the type."""
    for attr in case.op_def.signature.attrs.values() if case.inputs else ():
        if attr.type == "type":
            for dtype in attr.allowed or ANY_TYPE:
                yield {attr.name: dtype}


def converted(value: Any, dtype: DType) -> Any:
    """Return `value` in another type; TypeError if it has no meaning there."""
    if isinstance(value, list):
        return [converted(each, dtype) for each in value]
    old = np.asarray(value).dtype
    if (old.kind == "O") != (dtype is dtypes.string) or not dtype.is_numpy_compatible:
        raise TypeError
    if dtype.is_bool or (old.kind == "c" and not dtype.is_complex):
        raise TypeError
    return read_only(np.asarray(value).astype(dtype.as_numpy_dtype))


@EVERY_CASE
def test_other_types_keep_the_promise(case):
    """The kernel gives the promised types for each type that the signature allows."""
    for types in other_types(case):
        try:
            other = with_types(case, types)
        except TypeError:
            continue
        with np.errstate(all="ignore"):
            try:
                op = other.build(other.flat)
                results = other.run(op)
            except (ValueError, OpError):  # a value that fits one type only, or no such kernel
                continue
            check(op, results)


def with_types(case: Case, types: dict[str, DType]) -> Case:
    ((name, dtype),) = types.items()
    args = case.op_def.signature.inputs
    if not any(arg.type == name for arg in args):
        return case._replace(attrs={**case.attrs, name: dtype})
    inputs = [
        converted(value, dtype) if arg.type == name else value
        for arg, value in zip(args, case.inputs, strict=True)
    ]
    return case._replace(inputs=tuple(inputs))


# kernels for single nodes


def in_all_types(case: Case) -> Iterator[Case]:
    """Yield the case, and the case in every other type that the op takes and has a kernel for."""
    yield case
    for types in other_types(case):
        try:
            other = with_types(case, types)
            other.run(other.build(other.flat))
        except (TypeError, ValueError, OpError):
            continue
        yield other


def known(op: Operation) -> Known:
    return Known(
        tuple(tensor.plain_shape for tensor in op.inputs),
        tuple(tensor.dtype for tensor in op.inputs),
        tuple(tensor.op._attrs.get("value") for tensor in op.inputs),
        op._attrs,
    )


@pytest.mark.parametrize("case", list(cases(n for n in SAMPLES if REGISTRY[n].specialized)))
def test_a_kernel_for_one_node_gives_the_same_bits(case):
    """However much is known beforehand, and whatever the type."""
    for typed in in_all_types(case):
        results = typed.run(typed.build(typed.flat))
        for values in (typed.flat, *blurred(typed.flat)):
            kernel = case.op_def.specialized(known(typed.build(values)))
            if kernel is not None:
                found = kernel(*typed.flat)
                found = [found] if case.op_def.has_one_output else found
                for one, other in zip(found, results, strict=True):
                    same_bits(one, other)


def same_bits(one: Any, other: Any) -> None:
    if other.dtype == object:
        assert (one.shape, one.tolist()) == (other.shape, other.tolist())
        return
    assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


# gradients


def with_gradient(name: str) -> bool:
    op_def = REGISTRY.get(name)
    return bool(op_def and op_def.gradient_rule) and name not in NOT_THE_SLOPE


def in_float64(case: Case) -> Case | None:
    """Return the case with its floats as float64; None if the op does not take them."""
    wide = [widened(value) for value in case.inputs]
    attrs = {key: widened_type(value) for key, value in case.attrs.items()}
    case = case._replace(inputs=tuple(wide), attrs=attrs)
    return case if any(is_float(array) for array in case.flat) else None


def is_float(array: Any) -> bool:
    return np.asarray(array).dtype.kind in "fc"


def widened(value: Any) -> Any:
    if isinstance(value, list):
        return [widened(each) for each in value]
    if not is_float(value):
        return value
    kind = np.asarray(value).dtype.kind
    return read_only(np.asarray(value).astype(np.float64 if kind == "f" else np.complex128))


def widened_type(value: Any) -> Any:
    return {"float32": "float64", "complex64": "complex128"}.get(value, value) if isinstance(
        value, str) else value  # fmt: skip


@pytest.mark.parametrize("case", list(cases(filter(with_gradient, SAMPLES))))
def test_gradient_agrees_with_differences(case):
    case = in_float64(case)
    if case is None:
        return
    op = case.build(case.flat)
    rng = np.random.default_rng(0)
    weights = [random_like(rng, result) for result in case.run(op)]
    compare_with_slopes(case, op, weights)
    if sum(weight is not None for weight in weights) > 1:  # nothing depends on the first output
        compare_with_slopes(case, op, [None, *weights[1:]])


def compare_with_slopes(case: Case, op: Operation, weights: list[Any]) -> None:
    found = gradients(op, weights)
    for position, array in enumerate(case.flat):
        if is_float(array):
            wanted = slope(case, position, weights)
            given = np.zeros_like(wanted) if found[position] is None else found[position]
            message = f"gradient of input {position}"
            np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-7, err_msg=message)


def random_like(rng: np.random.Generator, value: Any) -> Any:
    """Return what the gradient of an output is taken to be; None for outputs that have none."""
    if not is_float(value):
        return None
    drawn = rng.normal(size=np.shape(value))
    is_complex = np.asarray(value).dtype.kind == "c"
    return drawn + 1j * rng.normal(size=np.shape(value)) if is_complex else drawn


def gradients(op: Operation, weights: list[Any]) -> list[Any]:
    """Return the values of what the gradient rule of `op` makes of `weights`."""
    tensors = [
        None if w is None else raw.Const(value=np.asarray(w), dtype=w.dtype) for w in weights
    ]
    result = op.op_def.gradient_rule(op, *tensors)
    results = list(result) if isinstance(result, list | tuple) else [result]
    assert len(results) == len(op.inputs), "one gradient for each input"
    return [dense(op.inputs[i], each) for i, each in enumerate(results)]


def dense(tensor: Tensor, gradient: Any) -> Any:
    if gradient is None:
        return None
    if not hasattr(gradient, "indices"):
        assert shapes.compatible(gradient.plain_shape, tensor.plain_shape)
        return evaluate(gradient)
    total = np.zeros(tensor.shape.as_list())
    np.add.at(total, evaluate(gradient.indices), evaluate(gradient.values))
    return total


def slope(case: Case, position: int, weights: list[Any]) -> Any:
    """Return how the weighted sum of the outputs changes with each element of one input.

    A complex element changes in two directions: the result is d/d(real) + i d/d(imaginary).
    """
    array = np.array(case.flat[position])
    result = np.zeros_like(array)
    steps = [1.0, 1j] if array.dtype.kind == "c" else [1.0]
    for place in np.ndindex(array.shape):
        for step in steps:
            ends = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * step * 1e-6
                ends.append(weighted_sum(case, position, moved, weights))
            result[place] += step * (ends[0] - ends[1]) / 2e-6
    return result


def weighted_sum(case: Case, position: int, array: Any, weights: list[Any]) -> float:
    values = [array if i == position else each for i, each in enumerate(case.flat)]
    rest = iter(values)
    inputs = tuple(
        [next(rest) for _ in each] if isinstance(each, list) else next(rest) for each in case.inputs
    )
    moved = case._replace(inputs=inputs)
    with Graph().as_default():
        results = moved.run(moved.build(moved.flat))
    pairs = zip(results, weights, strict=True)
    return sum(float(np.sum(np.real(np.conj(w) * r))) for r, w in pairs if w is not None)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name in REGISTRY])
def test_a_gradient_is_there_or_denied(name):
    """An op of floats has a gradient rule, or says that it is not differentiable."""
    op_def = REGISTRY[name]
    if name in WITHOUT_GRADIENT:
        assert op_def.differentiable
        assert not op_def.gradient_rule
    elif any(is_float(array) for inputs, _ in samples_of(name) for array in flatten(inputs)):
        assert op_def.gradient_rule or not op_def.differentiable
