"""tf.gfile: files and folders, with TensorFlow's names and errors."""

from __future__ import annotations

import functools
import glob
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from tfdist.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnknownError,
)

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory",
    "ListDirectory", "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip

_ERRORS: dict[type[OSError], Callable[[str], OpError]] = {
    io.UnsupportedOperation: PermissionDeniedError,
    FileNotFoundError: NotFoundError,
    FileExistsError: AlreadyExistsError,
    PermissionError: PermissionDeniedError,
    IsADirectoryError: FailedPreconditionError,
    NotADirectoryError: FailedPreconditionError,
}
_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with TensorFlow's errors instead of Python's."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except OSError as error:
            made = next((_ERRORS[kind] for kind in _ERRORS if isinstance(error, kind)), None)
            raise (made or UnknownError)(_text(error)) from None

    return call


def _text(error: OSError) -> str:
    if isinstance(error, io.UnsupportedOperation):
        return f"File isn't open for {'writing' if 'writ' in str(error) else 'reading'}"
    path = "" if error.filename is None else f"{os.fsdecode(error.filename)}; "
    return f"{path}{error.strerror or error}"


class GFile:
    """An open file; opened when first read or written.

    Args:
      name: its path.
      mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes instead of text (UTF-8).

    Raises:
      NotFoundError: it is not there.
      FailedPreconditionError: it is a folder.

    Example:
      >>> with GFile("/dev/null", "w") as file:
      ...     file.write("text")
    """

    _opened: IO[Any] | None = None

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode.replace("b", "") not in _MODES:
            raise InvalidArgumentError(
                f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+', or one of these with 'b': "
                f"{mode!r}"
            )
        self.name, self.mode = name, mode

    @property
    @_told
    def _file(self) -> IO[Any]:
        if self._opened is None:
            text = {} if "b" in self.mode else {"encoding": "utf-8", "newline": ""}
            self._opened = open(os.fspath(self.name), self.mode, **text)  # type: ignore[call-overload]
        return self._opened

    @_told
    def read(self, n: int = -1) -> Any:
        """Return the rest, or `n` characters (bytes) of it: str, or bytes in a mode with "b"."""
        return self._file.read(n)

    @_told
    def readline(self) -> Any:
        """Return the next line with its end, empty after the last one."""
        return self._file.readline()

    @_told
    def readlines(self) -> list[Any]:
        """Return the lines that are left."""
        return self._file.readlines()

    @_told
    def write(self, file_content: Any) -> None:
        """Write text, or bytes in a mode with "b"."""
        if isinstance(file_content, bytes) and "b" not in self.mode:
            file_content = file_content.decode()
        self._file.write(file_content)

    @_told
    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go on at `offset` from the start (0), from here (1) or from the end (2)."""
        self._file.seek(offset if offset is not None else position or 0, whence)

    def tell(self) -> int:
        """Return where reading or writing goes on."""
        return self._file.tell()

    @_told
    def size(self) -> int:
        """Return the bytes that the file has."""
        return os.stat(self.name).st_size

    def flush(self) -> None:
        """Let what was written leave this process."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def seekable(self) -> bool:
        """Return that `seek` works."""
        return True

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()  # programs leave that to the end of the object


FastGFile = Open = GFile


def Exists(filename: Any) -> bool:
    """Return whether there is a file or folder."""
    return os.path.exists(filename)


def IsDirectory(dirname: Any) -> bool:
    """Return whether there is a folder."""
    return os.path.isdir(dirname)


def Glob(filename: Any) -> list[str]:
    """Return the paths that match a pattern, or one of several."""
    patterns = [filename] if isinstance(filename, str | bytes | os.PathLike) else filename
    return [path for each in patterns for path in sorted(glob.glob(os.fsdecode(each)))]


@_told
def ListDirectory(dirname: Any) -> list[str]:
    """Return the names of what is in a folder; NotFoundError if there is none."""
    return os.listdir(os.fsdecode(dirname))


@_told
def MakeDirs(dirname: Any) -> None:
    """Make a folder and those above it; one that is there stays."""
    os.makedirs(dirname, exist_ok=True)


@_told
def MkDir(dirname: Any) -> None:
    """Make a folder in one that is there; nothing if there is such a folder."""
    if not os.path.isdir(dirname):
        os.mkdir(dirname)


@_told
def Remove(filename: Any) -> None:
    """Delete a file."""
    os.remove(filename)


@_told
def DeleteRecursively(dirname: Any) -> None:
    """Delete a folder with all that is in it."""
    shutil.rmtree(dirname)


@_told
def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError if there is one and not `overwrite`."""
    _refuse(newpath, overwrite)
    shutil.copyfile(oldpath, newpath)


@_told
def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Give a file another path; AlreadyExistsError if there is one and not `overwrite`."""
    _refuse(newname, overwrite)
    os.replace(oldname, newname)


def _refuse(path: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise AlreadyExistsError(
            f"file already exists: {os.fsdecode(path)}; overwrite=True replaces it"
        )


class FileStatistics:
    """What `Stat` tells.

    Attributes:
      length: bytes.
      mtime_nsec: nanoseconds since 1970 of the last change.
      is_directory: whether it is a folder.
    """

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length, self.mtime_nsec, self.is_directory = length, mtime_nsec, is_directory


@_told
def Stat(filename: Any) -> FileStatistics:
    """Return size, time and kind of a file; NotFoundError if there is none."""
    found = os.stat(filename)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(filename))


def Walk(top: Any, in_order: bool = True) -> Iterable[tuple[str, list[str], list[str]]]:
    """Yield (folder, folders in it, files in it) for a folder and all below, from the top."""
    for folder, folders, files in os.walk(os.fsdecode(top), topdown=in_order):
        folders.sort()
        yield folder, folders, sorted(files)
