"""RecordInput: batches of records of TFRecord files, shuffled, without queues or threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats.record_options import compression_of
from tfdist.formats.shuffled_records import Order, shuffled_records
from tfdist.graph import scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.split import split

__all__: list[str] = []  # its public name is `tf.contrib.framework.RecordInput`

RECORD_INPUT = OpDef(
    "RecordInput() -> records: string [file_pattern: string; file_random_seed: int = 301; "
    "file_shuffle_shift_ratio: float = 0.0; file_buffer_size: int = 10000; "
    "file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''] !"
).not_differentiable()


@RECORD_INPUT.shape
def record_input_shape() -> Shape:
    return None


@RECORD_INPUT.kernel
def record_input_kernel(
    ctx: Any,
    *,
    file_pattern: bytes,
    file_random_seed: int,
    file_shuffle_shift_ratio: float,
    file_buffer_size: int,
    file_parallelism: int,
    batch_size: int,
    compression_type: bytes,
) -> Any:
    if batch_size < 0:
        raise InvalidArgumentError(f"batch_size must be >= 0 not {batch_size}")
    order = Order(file_random_seed, file_shuffle_shift_ratio, file_buffer_size, file_parallelism)
    given = ctx.resource(
        "record input",
        b"",
        ctx.own_name(),
        lambda RecordInput: RecordInput(
            shuffled_records(file_pattern.decode(), order, compression_type.decode())
        ),
    )
    records = np.empty(batch_size, object)
    records[:] = given.take(batch_size)
    return records


class RecordInput:
    """Batches of records of TFRecord files, in another order each time: for programs that have it.

    Args:
      file_pattern: which files; see `tf.matching_files` for its form.
      batch_size: records in a batch.
      buffer_size: how many records wait, for the next one to be drawn from them.
      parallelism: how many files are read side by side.
      shift_ratio: how far the shuffled list of files is turned on each time, as a share of it.
      seed: of the order.
      name: of the node.
      batches: how many batches there are in a step, None for one.
      compression_type: a `TFRecordCompressionType`, None for none.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batch_size, self._batches, self._name = batch_size, batches, name
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
            "compression_type": ""
            if compression_type is None
            else compression_of(compression_type),
        }

    def get_yield_op(self) -> Any:
        """Return the records of the next batch: strings [batch_size].

        Of several batches a list of lists of scalar strings: the first record is the first of the
        first batch, the second one the first of the second batch.

        Raises:
          NotFoundError: no file matches (when it runs).
          DataLossError: a file is damaged (when it runs).
        """
        count = self._batch_size * (self._batches or 1)
        records = raw.RecordInput(**self._attrs, batch_size=count, name=self._name)
        if self._batches is None:
            return records
        with scopes.name_scope(self._name):
            each = [reshape(part, []) for part in split(records, count, 0)]
        return [each[first :: self._batches] for first in range(self._batches)]
