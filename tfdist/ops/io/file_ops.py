"""Whole files: read, write, find by pattern; on the machine of the task that runs the op."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.formats import files, glob
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.framework.shared_values import as_elements

__all__ = ["matching_files", "read_file", "write_file"]

READ_FILE = OpDef("ReadFile(filename: string) -> contents: string").not_differentiable()


@READ_FILE.shape
def read_file_shape(filename: Shape) -> Shape:
    shapes.require_rank(filename, "filename", 0, 0)
    return ()


@READ_FILE.kernel
def read_file_kernel(filename: Any) -> bytes:
    return files.read_file(_scalar(filename, "filename"))


def _scalar(value: Any, what: str) -> bytes:
    """Return the only string in `value`; InvalidArgumentError if it has a rank."""
    if np.ndim(value):
        raise InvalidArgumentError(
            f"Input {what} tensor must be scalar, but had shape: {list(np.shape(value))}"
        )
    text: bytes = as_elements(value)[()]
    return text


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """Return all that is in a file: `tf.io.read_file`.

    Args:
      filename: scalar string.
      name: of the node.

    Raises:
      NotFoundError: there is no such file (when it runs).
    """
    contents: Tensor = raw.ReadFile(filename, name=name)
    return contents


WRITE_FILE = OpDef("WriteFile(filename: string, contents: string) -> () !").not_differentiable()


@WRITE_FILE.shape
def write_file_shape(filename: Shape, contents: Shape) -> list[Shape]:
    shapes.require_rank(filename, "filename", 0, 0)
    shapes.require_rank(contents, "contents", 0, 0)
    return []


@WRITE_FILE.kernel
def write_file_kernel(filename: Any, contents: Any) -> None:
    files.write_file(_scalar(filename, "filename"), _scalar(contents, "contents"))


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """Return an op that makes `contents` all that is in a file: `tf.io.write_file`.

    Args:
      filename: scalar string; missing folders are made.
      contents: scalar string.
      name: of the node.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkstemp()[1]
      >>> with Session() as session:
      ...     session.run(write_file(path, "hello"))
      ...     session.run(read_file(path))
      b'hello'
    """
    op: Operation = raw.WriteFile(filename, contents, name=name)
    return op


MATCHING_FILES = OpDef("MatchingFiles(pattern: string) -> filenames: string").not_differentiable()


@MATCHING_FILES.shape
def matching_files_shape(pattern: Shape) -> Shape:
    shapes.require_rank(pattern, "pattern", 0, 1)
    return (None,)


@MATCHING_FILES.kernel
def matching_files_kernel(pattern: Any) -> Any:
    patterns = as_elements(pattern)
    if patterns.ndim > 1:
        raise InvalidArgumentError(
            f"Input patterns tensor must be scalar or vector, but had shape: {list(patterns.shape)}"
        )
    found = [path for each in patterns.reshape(-1) for path in glob.matching_files(each)]
    return np.array(sorted(found), object)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """Return the names of the files that fit, sorted: `tf.io.matching_files`.

    Args:
      pattern: a string or a vector of them, with `*`, `?`, `[a-z]` in the parts of a path.
      name: of the node.

    Raises:
      NotFoundError: the folder that a pattern begins with does not exist (when it runs).
    """
    filenames: Tensor = raw.MatchingFiles(pattern, name=name)
    return filenames
