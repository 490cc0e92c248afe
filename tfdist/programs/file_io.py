"""tensorflow.python.lib.io.file_io: the functions of tf.gfile under their inner names."""

from __future__ import annotations

from typing import Any

from tfdist.programs.gfile import (
    Copy,
    DeleteRecursively,
    Exists,
    GFile,
    Glob,
    IsDirectory,
    ListDirectory,
    MakeDirs,
    MkDir,
    Remove,
    Rename,
    Stat,
    Walk,
)

__all__ = [
    "FileIO", "copy", "create_dir", "delete_file", "delete_recursively", "file_exists",
    "get_matching_files", "is_directory", "list_directory", "read_file_to_string",
    "recursive_create_dir", "rename", "stat", "walk", "write_string_to_file",
]  # fmt: skip

FileIO = GFile
file_exists, is_directory, get_matching_files, stat = Exists, IsDirectory, Glob, Stat
list_directory, create_dir, recursive_create_dir = ListDirectory, MkDir, MakeDirs
delete_file, delete_recursively, walk = Remove, DeleteRecursively, Walk
copy, rename = Copy, Rename


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Return all that a file has: text, or bytes in binary mode."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Write a file anew."""
    with GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)
