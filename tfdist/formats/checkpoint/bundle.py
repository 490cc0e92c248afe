"""Checkpoints of either format, by one name.

`model.ckpt-100` is the name of `model.ckpt-100.index` and its data; or, in the format of the first
releases, of a file of that name; a pattern such as `model.ckpt-100-?????-of-00002` names several.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol, Self

from tfdist.formats.checkpoint.files import index_name
from tfdist.formats.checkpoint.reader import CheckpointReader, Stored
from tfdist.formats.checkpoint.tensor_slices import TensorSlice
from tfdist.formats.checkpoint.v1 import SlicesReader
from tfdist.formats.files import local_path


class Reader(Protocol):
    """What readers of both formats do.

    Attributes:
      prefix: the name of the checkpoint.
    """

    prefix: str

    def names(self) -> Iterator[bytes]:
        """Yield the names of the tensors, sorted."""

    def find(self, name: bytes) -> Stored | None:
        """Return what is known of a tensor; None if it is not there."""

    def absent(self, name: str) -> str:
        """Return the message that a tensor is not there."""

    def read(self, name: bytes) -> Any:
        """Return a tensor that is there."""

    def read_slice(self, name: bytes, part: TensorSlice) -> Any:
        """Return a slice of a tensor that is there."""

    def debug_string(self) -> bytes:
        """Return a line for each tensor: name, type, shape."""

    def close(self) -> None:
        """Close the files."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_checkpoint(prefix: str) -> Reader:
    """Return a reader of a checkpoint of either format.

    Raises:
      NotFoundError: there is none of that name.
      DataLossError: it is damaged.
    """
    if os.path.exists(local_path(index_name(prefix))):
        return CheckpointReader(prefix)
    return SlicesReader(prefix)
