"""tf.sysconfig, and libraries of C++ ops: what programs ask that compile or load some.

Nothing here is compiled, so that each says so, and what can be done instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from tfdist.errors import NotFoundError

__all__ = [
    "CXX11_ABI_FLAG", "MONOLITHIC_BUILD", "get_compile_flags", "get_include", "get_lib",
    "get_link_flags",
]  # fmt: skip

CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0


def _none(what: str) -> NoReturn:
    raise NotImplementedError(
        f"{what}: tfdist is Python, and has no C++ library that ops could be compiled for; an op "
        "of your own is a function of arrays: tf.py_func, or an OpDef as docs/CONTRIBUTING.md shows"
    )


def _check_file(name: str) -> None:
    if not Path(name).exists():
        raise NotFoundError(f"{name}: cannot open shared object file: No such file or directory")


def get_include() -> str:
    """Raise NotImplementedError: there are no C++ headers."""
    _none("tf.sysconfig.get_include()")


def get_lib() -> str:
    """Raise NotImplementedError: there is no C++ library."""
    _none("tf.sysconfig.get_lib()")


def get_compile_flags() -> list[str]:
    """Raise NotImplementedError: there are no C++ headers."""
    _none("tf.sysconfig.get_compile_flags()")


def get_link_flags() -> list[str]:
    """Raise NotImplementedError: there is no C++ library."""
    _none("tf.sysconfig.get_link_flags()")


def load_op_library(library_filename: str) -> Any:
    """Raise NotImplementedError: ops in C++ cannot be loaded; NotFoundError if there is no file."""
    _check_file(library_filename)
    _none(f"tf.load_op_library({library_filename!r})")


def load_library(library_location: str) -> Any:
    """Raise NotImplementedError: ops in C++ cannot be loaded; NotFoundError if there is no file."""
    _check_file(library_location)
    _none(f"tf.load_library({library_location!r})")


def load_file_system_library(library_filename: str) -> Any:
    """Raise NotImplementedError: file systems in C++ cannot be loaded."""
    _none(f"tf.load_file_system_library({library_filename!r})")
