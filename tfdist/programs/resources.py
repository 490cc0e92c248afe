"""tf.resource_loader: files that lie beside a program."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = [
    "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources",
    "load_resource", "readahead_file_path",
]  # fmt: skip


def _folder(depth: int) -> Path:
    """Return the folder of the module that called the function `depth` calls above this one."""
    return Path(sys._getframe(depth + 1).f_globals.get("__file__", "")).absolute().parent


def get_data_files_path() -> str:
    """Return the folder of the module that calls this."""
    return str(_folder(1))


def get_root_dir_with_all_resources() -> str:
    """Return the folder of the module that calls this."""
    return str(_folder(1))


def get_path_to_datafile(path: str) -> str:
    """Return where a file lies beside the module that calls this.

    Args:
      path: relative to the module's folder.
    """
    return str(_folder(1) / path)


def load_resource(path: str) -> bytes:
    """Return what a file has that lies beside the module which calls this.

    Args:
      path: relative to the module's folder.

    Raises:
      OSError: it cannot be read.
    """
    return (_folder(1) / path).read_bytes()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Return `path`: files are not read ahead.

    Example:
      >>> resource_loader.readahead_file_path("a.txt")
      'a.txt'
    """
    del readahead
    return path
