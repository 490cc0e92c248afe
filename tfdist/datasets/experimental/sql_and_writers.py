"""Datasets of what databases hold, and writers of what datasets give.

Source: TF 1.15 API documentation, tf.data.experimental.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.datasets import structure
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation

__all__ = ["SqlDataset", "StatsAggregator", "TFRecordWriter", "bytes_produced_stats",
           "from_variant", "get_structure", "latency_stats", "to_variant"]  # fmt: skip


class SqlDataset(Dataset):
    """The rows that a query of a database gives: tuples of scalars.

    Args:
      driver_name: "sqlite".
      data_source_name: name of the database's file.
      query: SQL.
      output_types: of the columns, a tuple.
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        given = {
            "driver_name": driver_name, "data_source_name": data_source_name, "query": query,
        }  # fmt: skip
        texts = [
            convert_to_tensor(value, dtypes.string, name=name) for name, value in given.items()
        ]
        found = structure.map_leaves(lambda dtype: TensorSpec([], dtype), output_types)
        super().__init__(raw.SqlDataset(*texts, **structure.flat_attrs(found)), found)


class TFRecordWriter:
    """Writes the strings of a dataset to a TFRecord file.

    Args:
      filename: string tensor.
      compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        text = "" if compression_type is None else compression_type
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression = convert_to_tensor(text, dtypes.string, name="compression_type")

    def write(self, dataset: Dataset) -> Operation:
        """Return an operation that writes all elements.

        Raises:
          TypeError: `dataset` is none, or its elements are no scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if not _is_text(dataset._structure):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{structure.show(dataset.output_shapes)} and types "
                f"{structure.show(dataset.output_types)}"
            )
        made: Operation = raw.DatasetToTFRecord(
            dataset._variant_tensor, self._filename, self._compression
        )
        return made


def _is_text(spec: Any) -> bool:
    """Return whether elements are scalar strings, as far as is known."""
    is_string = type(spec) is TensorSpec and spec.dtype is dtypes.string
    return is_string and spec.shape.is_compatible_with([])


class StatsAggregator:
    """Raise NotImplementedError: nothing is gathered here about pipelines.

    `%trace` and `tfdist.why()` tell of steps instead.
    """

    def __init__(self) -> None:
        raise NotImplementedError(
            "tf.data.experimental.StatsAggregator: nothing is gathered about pipelines here; a "
            "traced step tells how long it took, and tfdist.why() what it waits for"
        )


def bytes_produced_stats(tag: Any) -> Callable[[Dataset], Dataset]:
    """Return a stage that gives the same elements; without an aggregator nothing is gathered."""
    return lambda dataset: _noted(dataset, raw.BytesProducedStatsDataset, tag)


def latency_stats(tag: Any) -> Callable[[Dataset], Dataset]:
    """Return a stage that gives the same elements; without an aggregator nothing is gathered."""
    return lambda dataset: _noted(dataset, raw.LatencyStatsDataset, tag)


def _noted(dataset: Dataset, op_def: OpDef, tag: Any) -> Dataset:
    name = convert_to_tensor(tag, dtypes.string)
    tensor = op_def(dataset._variant_tensor, name, **structure.flat_attrs(dataset._structure))
    return dataset._with(tensor, dataset._structure)


def get_structure(dataset_or_iterator: Any) -> Any:
    """Return what is known of the elements of a dataset or iterator."""
    return dataset_or_iterator._structure


def from_variant(variant: Any, structure: Any) -> Dataset:
    """Return the dataset of a variant tensor whose elements have that structure."""
    return Dataset(variant, structure)


def to_variant(dataset: Dataset) -> Any:
    """Return the variant tensor of a dataset."""
    return dataset._variant_tensor
