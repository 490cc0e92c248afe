"""Datasets that only say how they are to be computed: here they hand elements on."""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import OpDef
from tfdist.ops.dataset import TYPES, Dataset, check, dataset_op

PREFETCH = dataset_op(
    "PrefetchDataset",
    "input_dataset: variant, buffer_size: int64",
    f"{TYPES}; slack_period: int = 0; legacy_autotune: bool = True",
)
OPTIMIZE = dataset_op(
    "OptimizeDataset",
    "input_dataset: variant, optimizations: string",
    f"{TYPES}; optimization_configs: list(string) = []",
)
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


@PREFETCH.kernel
def prefetch_kernel(input_dataset: Dataset, buffer_size: Any) -> Dataset:
    """Hand elements on: nothing is computed before somebody asks."""
    check(
        buffer_size >= -1,
        "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning",
    )
    return input_dataset


@OPTIMIZE.kernel
@MODEL.kernel
@MAX_INTRA_OP.kernel
@PRIVATE_POOL.kernel
@NON_SERIALIZABLE.kernel
@WRAP.kernel
@UNWRAP.kernel
def same_kernel(input_dataset: Dataset, _: Any = None) -> Dataset:
    return input_dataset
