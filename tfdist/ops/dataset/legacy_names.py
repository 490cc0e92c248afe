"""The names that ops had in TensorFlow 1.13 and 1.14: `Experimental` stood before them."""

from __future__ import annotations

from tfdist.graph.op_def import OpDef, lookup
from tfdist.ops.dataset import files as dataset_files
from tfdist.ops.dataset import flat_map as dataset_nested
from tfdist.ops.dataset import iterators
from tfdist.ops.dataset import map_filter as dataset_mapping
from tfdist.ops.dataset import parallel_calls as dataset_parallel
from tfdist.ops.dataset import parse_example as dataset_examples
from tfdist.ops.dataset import pass_through as dataset_passing
from tfdist.ops.dataset import rebatch as dataset_regrouping
from tfdist.ops.dataset import sources as dataset_sources
from tfdist.ops.dataset import sql_and_writers as dataset_outside
from tfdist.ops.dataset import zip_concatenate as dataset_joining

_NAMES = (
    "BytesProducedStatsDataset CSVDataset DatasetCardinality DatasetToTFRecord "
    "DenseToSparseBatchDataset DirectedInterleaveDataset GroupByReducerDataset "
    "GroupByWindowDataset IgnoreErrorsDataset IteratorGetDevice LatencyStatsDataset "
    "MapAndBatchDataset MapDataset MatchingFilesDataset MaxIntraOpParallelismDataset "
    "NonSerializableDataset ParallelInterleaveDataset ParseExampleDataset "
    "PrivateThreadPoolDataset RandomDataset RebatchDataset ScanDataset SlidingWindowDataset "
    "SqlDataset TakeWhileDataset UnbatchDataset UniqueDataset"
).split()
del dataset_examples, dataset_files, dataset_joining, dataset_mapping, dataset_nested
del dataset_outside, dataset_parallel, dataset_passing, dataset_regrouping, dataset_sources
del iterators


def also_experimental(name: str) -> OpDef:
    """Return the definition of an op by its earlier name, which does the same."""
    known = lookup(name)
    made = OpDef(
        f"Experimental{known.text}",
        keeps_inputs=known.keeps_inputs,
        takes_threads=known.takes_threads,
        may_run_on=known.may_run_on,
    ).not_differentiable()
    made.shape_rule, made.kernels = known.shape_rule, known.kernels
    return made


for _name in _NAMES:
    also_experimental(_name)
