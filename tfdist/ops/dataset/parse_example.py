"""Elements that are taken apart: batches of serialized `Example`s to batches of their features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.base.dtypes import DType
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import DataLossError, InvalidArgumentError, OpError
from tfdist.graph.items import Failure
from tfdist.ops.dataset.batch import Grouped
from tfdist.ops.dataset.dataset_value import (
    TYPES,
    Dataset,
    Element,
    Item,
    Iteration,
    check,
    dataset_op,
    failure_of,
)
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.io.parse_example_ops import Wanted, parsed_batch
from tfdist.ops.sparse.serialization import HeldTensor

_PARSED = "{float32,int64,string}"
_INPUTS = "input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense"
_KEYS = (
    "sparse_keys: list(string) >=0; dense_keys: list(string) >=0; "
    f"sparse_types: list(type) {_PARSED} >=0; Tdense: list(type) {_PARSED} >=0; "
    f"dense_shapes: list(shape) >=0; {TYPES}"
)

PARSE_EXAMPLE = dataset_op("ParseExampleDataset", _INPUTS, f"{_KEYS}; sloppy: bool = False")
PARSE_EXAMPLE_V2 = dataset_op(
    "ParseExampleDatasetV2", _INPUTS, f"{_KEYS}; deterministic: string = 'default'"
)
DENSE_TO_SPARSE = dataset_op(
    "DenseToSparseBatchDataset", "input_dataset: variant, batch_size: int64, row_shape: int64"
)


class ParsedExamples(Dataset):
    """The features of serialized examples, in the order of their keys."""

    def __init__(self, source: Dataset, wanted: Wanted) -> None:
        self._source, self._wanted = source, wanted

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        for item in self._source.items(iteration):
            if item.__class__ is tuple:
                try:
                    item = self._parsed(item[0])
                except (OpError, ValueError, TypeError) as error:
                    item = failure_of(error)
            yield item

    def cardinality(self) -> int:
        """See `Dataset`."""
        return self._source.cardinality()

    def _parsed(self, serialized: Any) -> Element:
        if np.ndim(serialized) != 1:
            raise InvalidArgumentError("Input serialized must be a vector of strings")
        wanted = self._wanted
        found = parsed_batch(serialized, np.zeros(0, object), wanted)
        count = len(wanted.sparse)
        sparse = [_held(found[place : 3 * count : count]) for place in range(count)]
        keys = [each.key for each in wanted.sparse] + [each.key for each in wanted.dense]
        by_key = dict(zip(keys, [*sparse, *found[3 * count :]], strict=True))
        return tuple([by_key[key] for key in sorted(by_key)])


def _held(parts: list[Any]) -> Any:
    """Return indices, values and shape of a sparse tensor as a vector of variants."""
    found = np.empty(3, object)
    found[:] = [HeldTensor(part) for part in parts]
    return found


@PARSE_EXAMPLE.kernel
@PARSE_EXAMPLE_V2.kernel
def parse_example_kernel(
    input_dataset: Dataset,
    num_parallel_calls: Any,
    dense_defaults: list[Any],
    *,
    sparse_keys: list[bytes],
    sparse_types: list[DType],
    dense_keys: list[bytes],
    Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> Dataset:
    defaults = [as_elements(default) for default in dense_defaults]
    wanted = Wanted(sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, defaults)
    return ParsedExamples(input_dataset, wanted)


class SparseBatch(Grouped):
    """Groups of elements of different sizes as sparse tensors.

    Args:
      source: the elements, of one component.
      size: of a group.
      row: the dense shape of an element in a batch; -1 stands for the largest there is.
    """

    def __init__(self, source: Dataset, size: int, row: list[int]) -> None:
        super().__init__(source, size, False)
        self._row = row

    def joined(self, group: Any) -> Element:
        """See `Grouped`."""
        arrays = [np.asarray(part) for (part,) in group]
        for array in arrays:
            self._check(array.shape)
        largest = [max(sizes) for sizes in zip(*(a.shape for a in arrays), strict=True)]
        row = [most if dim < 0 else dim for dim, most in zip(self._row, largest, strict=True)]
        places = [
            np.insert(np.indices(array.shape).reshape(array.ndim, -1).T, 0, number, axis=1)
            for number, array in enumerate(arrays)
        ]
        values = np.concatenate([array.reshape(-1) for array in arrays])
        shape = np.array([len(arrays), *row], np.int64)
        return (_held([np.concatenate(places).astype(np.int64), values, shape]),)

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != len(self._row):
            raise InvalidArgumentError(
                f"Input element had shape ({list(shape)}) that is incompatible with the row shape "
                f"({self._row})."
            )
        for dim, most in zip(shape, self._row, strict=True):
            if 0 <= most < dim:
                raise DataLossError(
                    f"Input element had shape ({list(shape)}) that is larger than the row shape "
                    f"({self._row})."
                )


@DENSE_TO_SPARSE.kernel
def dense_to_sparse_kernel(input_dataset: Dataset, batch_size: Any, row_shape: Any) -> Dataset:
    check(batch_size > 0, "Batch size must be greater than zero.")
    return SparseBatch(input_dataset, int(batch_size), [int(dim) for dim in row_shape])


# slices of a sparse tensor

SLICES = dataset_op(
    "SparseTensorSliceDataset",
    "indices: int64, values: Tvalues, dense_shape: int64",
    "Tvalues: type",
    stateful=True,
)


class SparseSlices(Dataset):
    """Indices, values and shape of each row of a sparse tensor, whose indices are sorted."""

    def __init__(self, indices: Any, values: Any, shape: Any) -> None:
        self._indices, self._values, self._shape = indices, values, shape

    def items(self, iteration: Iteration) -> Iterator[Item]:
        """See `Dataset`."""
        rows = self._indices[:, 0]
        if np.any(np.diff(rows) < 0):
            text = "The sparse tensor must be ordered in its first dimension."
            yield Failure(InvalidArgumentError(text))
            return
        bounds = np.searchsorted(rows, np.arange(int(self._shape[0]) + 1))
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            yield self._indices[first:last, 1:], self._values[first:last], self._shape[1:]

    def cardinality(self) -> int:
        """See `Dataset`."""
        return int(self._shape[0])


@SLICES.kernel
def sparse_slices_kernel(indices: Any, values: Any, dense_shape: Any) -> Dataset:
    return SparseSlices(indices, values, dense_shape)
