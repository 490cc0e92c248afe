"""Local files by the names that TensorFlow takes, with TensorFlow's errors."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO

from tfdist.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)

BUFFER = 1 << 18  # bytes that are read at once

_ERRORS: dict[int | None, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError,
    errno.EDQUOT: ResourceExhaustedError,
}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")


def local_path(name: str | bytes | os.PathLike[str]) -> str:
    """Return the path that `name` stands for; it may begin with `file://`.

    Raises:
      UnimplementedError: it is in a file system that is not this machine's.
    """
    path = os.fsdecode(name)
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1] != "file":
        raise UnimplementedError(
            f"File system scheme {scheme[1]!r} not implemented (file: {path!r})"
        )
    return path[len("file://") :]


@contextmanager
def file_errors(name: str | bytes) -> Iterator[None]:
    """Inside, an OSError becomes the OpError of its kind, which names the file."""
    try:
        yield
    except OSError as error:
        raise translated(error, name) from None


def translated(error: OSError, name: str | bytes) -> OpError:
    """Return the OpError that TensorFlow would raise for `error` at the file `name`."""
    kind = _ERRORS.get(error.errno, UnknownError)
    return kind(f"{os.fsdecode(name)}; {error.strerror or error}")


def open_file(name: str | bytes) -> BufferedReader:
    """Return the file `name`, opened to be read in large pieces."""
    with file_errors(name):
        return BufferedReader(FileIO(local_path(name)), BUFFER)


def read_file(name: str | bytes) -> bytes:
    """Return all that is in the file `name`."""
    with file_errors(name), open(local_path(name), "rb") as file:
        return file.read()


def write_file(name: str | bytes, contents: bytes) -> None:
    """Make `contents` all that is in the file `name`; missing folders are made."""
    path = local_path(name)
    with file_errors(name):
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)
