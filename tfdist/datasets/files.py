"""Datasets of what files hold: lines, TFRecords, records of fixed length."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import inputs, mapping
from tfdist.datasets.dataset import Dataset
from tfdist.datasets.structure import TensorSpec
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor

_LINE = TensorSpec([], dtypes.string)
_BUFFER = 256 * 1024  # bytes


class _Files(Dataset):
    """A dataset that reads files, whose names are a tensor or a dataset of strings."""

    def _read(self, filenames: Any, read: Any, num_parallel_reads: Any) -> None:
        names = _as_dataset(filenames)
        if num_parallel_reads is None:
            found = mapping.flat_map(names, read)
        else:
            found = mapping.parallel_interleave(
                names, read, num_parallel_reads, 1, False, None, None
            )
        super().__init__(found._variant_tensor, found._structure, found._options)


def _as_dataset(filenames: Any) -> Dataset:
    if isinstance(filenames, Dataset):
        if filenames.output_types != dtypes.string:
            raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
        if not filenames.output_shapes.is_compatible_with([]):
            raise ValueError(
                "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements."
            )
        return filenames
    names = convert_to_tensor(filenames, dtypes.string)
    shape = convert_to_tensor(np.array([-1], np.int32), name="flat_filenames/shape")
    return Dataset.from_tensor_slices(raw.Reshape(names, shape, name="flat_filenames"))


def _compression(compression: Any) -> Tensor:
    text = "" if compression is None else compression
    return convert_to_tensor(text, dtypes.string, name="compression_type")


def _buffer(size: Any) -> Tensor:
    return inputs.int64(_BUFFER if size is None else size, "buffer_size")


class _Compressed(_Files):
    """Files that an op reads that takes a name, a compression and the size of a buffer."""

    _op_name: ClassVar[str]

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def read_one_file(filename: Any) -> Dataset:
            op_def = getattr(raw, self._op_name)
            return Dataset(
                op_def(filename, _compression(compression_type), _buffer(buffer_size)), _LINE
            )

        self._read(filenames, read_one_file, num_parallel_reads)


class TextLineDataset(_Compressed):
    """The lines of text files, without their ends.

    Args:
      filenames: string tensor, or a dataset of names.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: accepted.
      num_parallel_reads: number of files whose lines come in turn; one after the other if None.
    """

    _op_name = "TextLineDataset"


class TFRecordDataset(_Compressed):
    """The records of TFRecord files.

    Args:
      filenames: string tensor, or a dataset of names.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: accepted.
      num_parallel_reads: number of files whose records come in turn; one after the other if None.
    """

    _op_name = "TFRecordDataset"


class FixedLengthRecordDataset(_Files):
    """The records of files in which all have the same length.

    Args:
      filenames: string tensor, or a dataset of names.
      record_bytes: of each record.
      header_bytes: at the beginning of a file, passed over.
      footer_bytes: at its end.
      buffer_size: accepted.
      compression_type: "", "ZLIB" or "GZIP".
      num_parallel_reads: number of files whose records come in turn; one after the other if None.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def read_one_file(filename: Any) -> Dataset:
            record = inputs.int64(record_bytes, "record_bytes")
            header = inputs.int64(header_bytes or 0, "header_bytes")
            footer = inputs.int64(footer_bytes or 0, "footer_bytes")
            size, compression = _buffer(buffer_size), _compression(compression_type)
            return Dataset(
                raw.FixedLengthRecordDatasetV2(filename, header, record, footer, size, compression),
                _LINE,
            )

        self._read(filenames, read_one_file, num_parallel_reads)
