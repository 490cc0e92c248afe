"""tf.io.gfile: files and folders, with the names that they have since TensorFlow 1.13.

Source: TF 1.15 API documentation, tf.io.gfile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.programs import gfile
from tfdist.programs.gfile import FileStatistics, GFile
from tfdist.programs.missing import told

__all__ = [
    "GFile", "copy", "exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rename",
    "rmtree", "stat", "walk",
]  # fmt: skip


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError if there is one and not `overwrite`."""
    gfile.Copy(src, dst, overwrite)


def exists(path: Any) -> bool:
    """Return whether there is a file or folder.

    Example:
      >>> io.gfile.exists("nowhere")
      False
    """
    return gfile.Exists(path)


def glob(pattern: Any) -> list[str]:
    """Return the paths that match a pattern, or one of several."""
    return gfile.Glob(pattern)


def isdir(path: Any) -> bool:
    """Return whether there is a folder."""
    return gfile.IsDirectory(path)


def listdir(path: Any) -> list[str]:
    """Return the names of what is in a folder; NotFoundError if there is none."""
    return gfile.ListDirectory(path)


def makedirs(path: Any) -> None:
    """Make a folder and those above it; one that is there stays."""
    gfile.MakeDirs(path)


def mkdir(path: Any) -> None:
    """Make a folder in one that is there; nothing if there is such a folder."""
    gfile.MkDir(path)


def remove(path: Any) -> None:
    """Delete a file."""
    gfile.Remove(path)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file another path; AlreadyExistsError if there is one and not `overwrite`."""
    gfile.Rename(src, dst, overwrite)


def rmtree(path: Any) -> None:
    """Delete a folder with all that is in it."""
    gfile.DeleteRecursively(path)


def stat(path: Any) -> FileStatistics:
    """Return size, time and kind of a file; NotFoundError if there is none."""
    return gfile.Stat(path)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Exception], None] | None = None
) -> Iterable[tuple[str, list[str], list[str]]]:
    """Yield (folder, folders in it, files in it) for a folder and all below.

    Args:
      top: the folder; nothing is told of one that is not there.
      topdown: whether a folder comes before those in it.
      onerror: accepted for TensorFlow's sake.
    """
    return gfile.Walk(top, topdown)


__getattr__ = told("tf.io.gfile")
