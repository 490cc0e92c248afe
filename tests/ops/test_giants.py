"""Kernels that may make much of little ask whether there is room for it.

An op with an input or attribute that is called shape, size, count and the like either asks, or is
told here with the reason why it need not.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import tests.ops.test_every_op as every_op
from tfdist.base.room import ROOM, NoRoomError
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import REGISTRY, OpDef
from tfdist.ops.array.tile_roll import _tiled
from tfdist.plan.compiling.sizes import BOUNDED, SIZES

ASKS = """
AllCandidateSampler BatchMatrixDiag Bincount BroadcastTo CombinedNonMaxSuppression CropAndResize
CropAndResizeGradImage Diag EditDistance Empty ExtractGlimpse ExtractImagePatches
ExtractVolumePatches Fill FixedUnigramCandidateSampler HistogramFixedWidth IRFFT IRFFT2D IRFFT3D
ImageProjectiveTransform ImageProjectiveTransformV2 LinSpace LogUniformCandidateSampler MatrixDiag
MatrixDiagV2 MirrorPad Multinomial OneHot Pad PadV2 ParameterizedTruncatedNormal RFFT RFFT2D
RFFT3D RaggedRange RandomGamma
RandomPoissonV2 RandomStandardNormal RandomUniform RandomUniformInt ResizeArea ResizeBicubic
ResizeBilinear ResizeNearestNeighbor ResizeNearestNeighborGrad ScaleAndTranslate ScatterNd
SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SetSize SpaceToBatch SpaceToBatchND
SparseFillEmptyRows SparseReduceMax SparseReduceSum SparseSegmentMeanWithNumSegments
SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments SparseTensorDenseMatMul
SparseToDense StatelessMultinomial StatelessRandomNormal StatelessRandomUniform
StatelessRandomUniformInt StatelessTruncatedNormal StridedSliceGrad Tile TruncatedNormal
UniformCandidateSampler UnsortedSegmentJoin UnsortedSegmentMax UnsortedSegmentMin
UnsortedSegmentProd UnsortedSegmentSum
""".split()
_SAMPLES = {}
for _case in every_op.cases(ASKS):
    _SAMPLES.setdefault(_case.values[0].op_def.name, []).append(_case.values[0])


@pytest.fixture
def no_room(monkeypatch):
    monkeypatch.setattr(ROOM, "bytes", -1)


@pytest.mark.parametrize("name", ASKS)
def test_a_kernel_asks_before_it_makes_a_giant(no_room, name):
    for case in _SAMPLES[name]:
        with Graph().as_default(), np.errstate(all="ignore"), pytest.raises(NoRoomError):
            case.run(case.build(case.flat))


def kernel_of(name: str) -> Any:
    return REGISTRY[name].kernels["CPU"].function


def test_what_is_compressed_is_inflated_as_far_as_there_is_room(monkeypatch):
    bomb, context = np.array(zlib.compress(bytes(1 << 24)), object), every_op.Context()
    inflated = kernel_of("DecodeCompressed")(context, bomb, compression_type=b"ZLIB")
    assert np.asarray(inflated)[()] == bytes(1 << 24)
    monkeypatch.setattr(ROOM, "bytes", 1 << 22)
    with pytest.raises(NoRoomError):
        kernel_of("DecodeCompressed")(context, bomb, compression_type=b"ZLIB")


@pytest.mark.parametrize("length", [0, 1, 3, 400])
@pytest.mark.parametrize("times", [0, 1, 2, 255, 256, 1000])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiles(rows, length, times):
    values = np.arange(rows * length).reshape(rows, length)
    for each in ([1, times], [2, times], [times, 1]):
        np.testing.assert_array_equal(_tiled(values, each), np.tile(values, each))


def sizes_of(op_def: OpDef) -> set[str]:
    """Return the inputs of an op whose values tell sizes, by their names."""
    return SIZES & {arg.name for arg in op_def.signature.inputs}


NEED_NOT = {
    **dict.fromkeys(
        ("RandomCrop", "Reshape", "Slice", "SparseReshape"),
        "gives no more elements than it takes",
    ),
    **dict.fromkeys(
        ("BatchToSpace", "BatchToSpaceND", "MirrorPadGrad", "SparseSlice", "TileGrad"),
        "cuts off, or sums up, what it takes",
    ),
    **dict.fromkeys(
        (
            "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3DBackpropFilterV2",
            "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropFilter",
            "DepthwiseConv2dNativeBackpropInput",
        ),
        "the sizes must fit the gradient's and the strides",
    ),
    **dict.fromkeys(
        (
            "NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3",
            "NonMaxSuppressionWithOverlaps",
        ),
        "selects from the boxes that there are",
    ),
    **dict.fromkeys(("NonMaxSuppressionV4", "NonMaxSuppressionV5"), "pads with a few bytes a box"),
    **dict.fromkeys(
        ("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"), "makes a box, no image"
    ),
    **dict.fromkeys(
        ("ConcatOffset", "SparseSplit"), "gives what it takes, and a few numbers for each result"
    ),
    **dict.fromkeys(("Reverse", "UnravelIndex"), "the dims are axes, or bounds of numbers"),
    **dict.fromkeys(("BarrierTakeMany",), "takes what is there"),
    **dict.fromkeys(
        (
            "NonDeterministicInts", "StatefulRandomBinomial", "StatefulStandardNormalV2",
            "StatefulTruncatedNormal", "StatefulUniform", "StatefulUniformFullInt",
            "StatefulUniformInt", "TensorArray", "TensorArrayV2", "TensorArrayV3",
            "TensorListReserve", "TensorListResize", "TensorListScatterV2", "RandomPoisson",
        ),
        "asks, but has no sample that could tell",
    ),
    "Range": "asks for long ones only: the quick answer counts for short ones",
}  # fmt: skip


def test_whoever_takes_a_size_asks_or_need_not():
    sized = {name for name, op_def in REGISTRY.items() if sizes_of(op_def) and op_def.kernels}
    sized = {name for name in sized if "Dataset" not in name}  # which run no kernel a step
    assert sized - set(ASKS) - set(NEED_NOT) == set(), "let the kernel call base.room.check_room"


def test_what_is_told_is_true():
    assert set(NEED_NOT) & set(ASKS) == set()
    assert set(NEED_NOT) | BOUNDED <= set(REGISTRY)
    assert {name for name in NEED_NOT if not sizes_of(REGISTRY[name])} == set()


def test_a_long_range_asks(no_room):
    start, limit, delta = np.int32([0, 1 << 20, 1])
    with pytest.raises(NoRoomError):
        kernel_of("Range")(start, limit, delta)
