"""Our calls and samples against real TensorFlow's: nodes, static shapes, types, values, errors.

Where the environment variable TFDIST_REAL_TENSORFLOW holds a command that runs a real TensorFlow's
Python, it is asked; elsewhere what 1.15.5 said is read from `expected_1_15.json`.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfdist.graph.build  # noqa: F401  from here on, ops can be called
from tests.ops.calls import CALLS, MESSAGES, VALUES
from tests.ops.differential import EXPECTED, calls, outcome, plain, run_real, static
from tests.ops.evaluate import evaluate
from tests.ops.test_every_op import MODULES, REGISTRY, Case, cases
from tfdist.base import dtypes
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import convert, scopes
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")


@cache
def real() -> dict[str, Any]:
    """Return what real TensorFlow says."""
    if REAL:
        return run_real(REAL, list(REGISTRY))
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


def own_names(module: ModuleType) -> list[str]:
    """Return the public names in a module that are no modules."""
    found = vars(module).items()
    return [name for name, value in found if name[0] != "_" and not isinstance(value, ModuleType)]


@cache
def ours() -> SimpleNamespace:
    """Return the `tf.` names that the ops make up, without a session or any runtime."""
    # tf.ragged.constant is another function than tf.constant, tf.sets.size than tf.size
    own = ("tfdist.ops.ragged.", "tfdist.ops.sparse.set_operations")
    modules = [import_module(name) for name in MODULES if not name.startswith(own)]
    names = {
        name: getattr(module, name)
        for module in sorted(modules, key=lambda module: hasattr(module, "__all__"))
        for name in getattr(module, "__all__", own_names(module))
    }
    types = {dtype.name: dtype for dtype in dtypes.ALL}
    others = (Graph, TensorShape, scopes.device, convert.convert_to_tensor)
    return SimpleNamespace(**names | types | {each.__name__: each for each in others})


def call(source: str) -> dict[str, Any]:
    return outcome(ours(), source, lambda graph, results: evaluate(results))


def compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Assert that both have the same outputs, or the same class of error."""
    for key in ("error", "run_error", "text"):
        assert found.get(key) == wanted.get(key), found.get("message")
    pairs = zip(found.get("outputs", ()), wanted.get("outputs", ()), strict=True)
    for ours_, theirs in pairs:
        assert ours_[:3] == theirs[:3], "they differ in type, static shape or shape"
        if len(theirs) > 3:
            compare_elements(ours_[0], ours_[3], theirs[3])


def compare_first_words(found: dict[str, Any], wanted: dict[str, Any], count: int = 4) -> None:
    """Assert that both failed, in the same class and the same first words, numbers aside."""
    assert "error" in wanted or "run_error" in wanted
    for key in ("error", "run_error"):
        assert found.get(key) == wanted.get(key), found
    for key in ("phrase", "run_phrase"):
        words = plain_words(wanted.get(key, ""))[:count]
        assert " ".join(words) in " ".join(plain_words(found.get(key, ""))), (found, wanted)


def plain_words(text: str) -> list[str]:
    """Return the words of a message without its numbers and its marks."""
    return re.sub(r"\d+", "#", re.sub(r"[\"'`,:;]", "", text).replace("[", " [")).split()


def compare_elements(dtype: str, found: Any, wanted: Any) -> None:
    if dtype in ("string", "bool") or "int" in dtype:
        assert found == wanted
    else:
        tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-8}.get(dtype, 2e-6)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("source", calls(CALLS))
def test_call_makes_the_nodes_and_values_of_tensorflow(source):
    found, wanted = call(source), real()["calls"][source]
    assert found.get("nodes", "").split(" | ") == wanted.get("nodes", "").split(" | ")
    compare(found, wanted)


@pytest.mark.parametrize("source", calls(VALUES))
def test_call_has_the_values_of_tensorflow(source):
    compare(call(source), real()["calls"][source])


@pytest.mark.parametrize("source", calls(MESSAGES))
def test_call_fails_with_the_phrase_of_tensorflow(source):
    found, wanted = call(source), real()["messages"][source]
    for key in ("error", "run_error"):
        assert found.get(key) == wanted.get(key)
    for key in ("phrase", "run_phrase"):
        assert wanted.get(key, "") in found.get(key, "")


# samples


def sampled() -> list[Any]:
    return [case for case in cases() if case.values[0].inputs]


@pytest.mark.parametrize("case", sampled())
def test_sample_has_the_values_of_tensorflow(case, request):
    wanted = real()["samples"].get(request.node.callspec.id)
    if wanted is None or case.op_def.name in GONE or request.node.callspec.id in NOT_ON_CPU:
        return
    assert "error" not in wanted, wanted["error"]
    with Graph().as_default():
        found = run(case)
    if case.op_def.name in LESS_IS_KNOWN:
        found["outputs"][0][1] = wanted["outputs"][0][1]
    if case.op_def.name in OWN_NUMBERS:
        found["outputs"][0][-1] = wanted["outputs"][0][-1]
    if case.op_def.name in OTHER_RANK:
        for outputs, theirs in zip(found["outputs"], wanted["outputs"], strict=True):
            outputs[1] = theirs[1]
    for outputs, theirs in zip(found["outputs"], wanted["outputs"], strict=True):
        del outputs[len(theirs) :]  # numbers by chance are not told
    count = COUNT.get(case.op_def.name)
    compare(*({**each, "outputs": each["outputs"][:count]} for each in (found, wanted)))


LESS_IS_KNOWN = {"DynamicStitch": "a shape rule sees the value of a list's first tensor only",
                 "ParallelDynamicStitch": "the same"}  # fmt: skip
OTHER_RANK = dict.fromkeys(
    ("UniqueV2", "UniqueWithCountsV2"), "TensorFlow 1.15 tells the static shape of a vector"
)
OWN_NUMBERS = {
    **dict.fromkeys(
        (
            "StatelessMultinomial",
            "StatelessRandomNormal",
            "StatelessRandomUniform",
            "StatelessRandomUniformInt",
            "StatelessTruncatedNormal",
        ),
        "random numbers are not TensorFlow's",
    ),
    **dict.fromkeys(
        ("DecodeGif", "EncodeJpeg", "EncodeJpegVariableQuality", "EncodePng"),
        "libraries of images differ in bytes, and in what they take for transparent",
    ),
}
GONE = dict.fromkeys(
    "TopK Conv3DBackpropFilter Conv3DBackpropInput BatchCholesky BatchCholeskyGrad BatchFFT "
    "BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D BatchMatrixBandPart "
    "BatchMatrixDeterminant BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag "
    "BatchNormWithGlobalNormalization "
    "BatchNormWithGlobalNormalizationGrad "
    "BatchMatrixInverse BatchMatrixSolve BatchMatrixSolveLs BatchMatrixTriangularSolve "
    "BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd SelfAdjointEig".split(),
    "removed from the graphs of 1.x: only old files have it",
)
NOT_ON_CPU = {"Conv2DBackpropInput-2", "Conv2DBackpropFilter-2", "MaxPoolGradGradWithArgmax-0"}
# Of these the first outputs only: the others have numbers for GPUs, or none, or any signs.
COUNT = {
    "FractionalAvgPool": 1, "FractionalMaxPool": 1,  # it tells one element too few of sequences
    "FusedBatchNormV3": 5, "FusedBatchNormGrad": 3, "FusedBatchNormGradV2": 3,
    "FusedBatchNormGradV3": 3, "SelfAdjointEigV2": 1, "Svd": 1,
}  # fmt: skip


def run(case: Case) -> dict[str, Any]:
    op = case.build(case.flat)
    outputs = [static(tensor) for tensor in op.outputs]
    has_no_state = not (op.op_def.is_stateful and op.op_def.kernels["CPU"].takes_context)
    if op.type in ("HistogramSummary", "Print") or has_no_state:
        for output, value in zip(outputs, case.run(op), strict=True):
            output += plain(value)
    return {"outputs": outputs}


# signatures


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_signature_is_that_of_tensorflow(name):
    """Inputs, outputs and attributes are the same; types and attributes may be missing here."""
    wanted = real()["signatures"].get(name)
    if wanted is None:  # an op newer than that TensorFlow, or private to a runtime
        assert name in NOT_IN_1_15
        return
    found = REGISTRY[name].signature
    inputs = [f"{arg.name}: {kind(arg)}" for arg in found.inputs]
    assert (inputs == wanted["inputs"]) == (name not in LATER)
    assert [f"{arg.name}: {kind(arg)}" for arg in found.outputs] == wanted["outputs"]
    check_attributes(REGISTRY[name], wanted["attrs"])


# Made while a step is planned, and in no file; and what Dask holds.
OWN = {"_DeviceCopy", "_Fused", "_Loop", "_RemoteTarget", "DaskDataset"}
OF_2_X = {
    "AnonymousIteratorV3", "AnonymousSeedGenerator", "AssertCardinalityDataset", "CSVDatasetV2",
    "DeleteSeedGenerator", "DisableCopyOnRead", "DummyMemoryCache", "DummySeedGenerator",
    "FinalizeDataset",
    "LegacyParallelInterleaveDatasetV2", "ListDataset", "OptimizeDatasetV2", "OptionsDataset",
    "ParallelBatchDataset", "ParallelFilterDataset", "ParallelInterleaveDatasetV3",
    "ParallelInterleaveDatasetV4", "ParallelMapDatasetV2", "ParseExampleDatasetV2",
    "RandomDatasetV2", "RebatchDatasetV2", "RewriteDataset", "ShuffleAndRepeatDatasetV2",
    "ShuffleDatasetV3", "StatelessCase", "ToBool",
}  # fmt: skip
NOT_IN_1_15 = OWN | OF_2_X
LATER = {"TensorListGetItem": "its shape may be int64 in TensorFlow 2, and int32 only before"}
NEWER_ATTRS = {
    "Tshape", "drop_remainder", "leakyrelu_alpha", "resize_if_index_out_of_bounds",
    "stop_on_empty_dataset", "validate_shape",
}  # fmt: skip


def kind(arg: Any) -> str:
    """Return the type of an input or output as `differential.argument` writes it."""
    text = arg.type_list or (arg.type if isinstance(arg.type, str) else arg.type.name)
    text = f"Ref({text})" if arg.is_ref else text
    return f"{arg.number}*{text}" if arg.number else text


def check_attributes(op_def: OpDef, wanted: dict[str, Any]) -> None:
    attrs = op_def.signature.attrs
    assert set(attrs) - NEWER_ATTRS <= set(wanted)
    for name, (type_, default, allowed) in wanted.items():
        if name not in attrs:
            assert default is not None, f"{name} has no default there, so it cannot be left out"
            continue
        assert attrs[name].type == type_
        assert attrs[name].has_default == (default is not None), name
        ours_ = {getattr(each, "name", each) for each in attrs[name].allowed}
        theirs = set(allowed.split())
        more = MORE_TYPES | MORE_TYPES_OF.get(op_def.name, set())
        assert decoded(ours_) <= theirs | more or not theirs, name
        if type_ in ("int", "bool", "string", "type") and default is not None:
            assert decoded({getattr(attrs[name].default, "name", attrs[name].default)}) == {default}


# Later versions have more types in many ops, and kernels made of NumPy functions take them all.
MORE_TYPES = {"bool", "float16", "bfloat16", "int8", "int16", "uint8", "uint16", "uint32", "uint64"}

MORE_TYPES_OF = {
    **{name: {"float64"} for name in ("LRN", "LRNGrad", "MaxPool3D", "MaxPool3DGrad")},
    **{name: {"int32"} for name in ("Conv2D", "Conv2DBackpropInput")},
}


def decoded(values: set[Any]) -> set[Any]:
    return {each.decode() if isinstance(each, bytes) else each for each in values}
