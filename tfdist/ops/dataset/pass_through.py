"""Datasets that only say how they are to be computed: here they hand elements on."""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset.dataset_value import TYPES, Dataset, dataset_op
from tfdist.ops.dataset.take_skip_repeat import Optimized

OPTIMIZE = dataset_op(
    "OptimizeDataset",
    "input_dataset: variant, optimizations: string",
    f"{TYPES}; optimization_configs: list(string) = []",
)
OPTIMIZE_V2 = dataset_op(
    "OptimizeDatasetV2",
    "input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, "
    "optimizations_default: string",
    f"{TYPES}; optimization_configs: list(string) = []",
)
OPTIONS = dataset_op(
    "OptionsDataset", "input_dataset: variant", f"serialized_options: string; {TYPES}"
)
FINALIZE = dataset_op(
    "FinalizeDataset", "input_dataset: variant", f"has_captured_ref: bool = False; {TYPES}"
)
REWRITE = dataset_op("RewriteDataset", "input_dataset: variant, rewrite_name: string")
BYTES_STATS = dataset_op("BytesProducedStatsDataset", "input_dataset: variant, tag: string")
LATENCY_STATS = dataset_op("LatencyStatsDataset", "input_dataset: variant, tag: string")
MODEL = dataset_op(
    "ModelDataset",
    "input_dataset: variant",
    f"algorithm: int = 0; cpu_budget: int = 0; {TYPES}",
)
MAX_INTRA_OP = dataset_op(
    "MaxIntraOpParallelismDataset", "input_dataset: variant, max_intra_op_parallelism: int64"
)
PRIVATE_POOL = dataset_op("PrivateThreadPoolDataset", "input_dataset: variant, num_threads: int64")
NON_SERIALIZABLE = dataset_op("NonSerializableDataset", "input_dataset: variant")
WRAP = OpDef("WrapDatasetVariant(input_handle: variant) -> output_handle: variant")
UNWRAP = OpDef("UnwrapDatasetVariant(input_handle: variant) -> output_handle: variant")
for _op in (WRAP, UNWRAP):
    _op.not_differentiable().shape(lambda input_handle: input_handle)


_FUSION = b"shuffle_and_repeat_fusion"


@OPTIMIZE.kernel
def optimize_kernel(
    input_dataset: Dataset, optimizations: Any, *, optimization_configs: Any
) -> Dataset:
    return Optimized(input_dataset) if _FUSION in optimizations.tolist() else input_dataset


@OPTIMIZE_V2.kernel
def optimize_v2_kernel(
    input_dataset: Dataset, enabled: Any, disabled: Any, default: Any, *, optimization_configs: Any
) -> Dataset:
    wanted = {*enabled.tolist(), *default.tolist()} - {*disabled.tolist()}
    return Optimized(input_dataset) if _FUSION in wanted else input_dataset


@OPTIONS.kernel
@BYTES_STATS.kernel
@LATENCY_STATS.kernel
@FINALIZE.kernel
@REWRITE.kernel
@MODEL.kernel
@MAX_INTRA_OP.kernel
@PRIVATE_POOL.kernel
@NON_SERIALIZABLE.kernel
@WRAP.kernel
@UNWRAP.kernel
def same_kernel(input_dataset: Dataset, *_: Any) -> Dataset:
    return input_dataset
