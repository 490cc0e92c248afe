"""glibc's malloc: its parameters by the names that its environment variables have.

Source: mallopt(3).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

_PARAMETERS = {  # environment variable -> the same for mallopt
    "MALLOC_ARENA_MAX": -8,
    "MALLOC_TOP_PAD_": -2,
    "MALLOC_TRIM_THRESHOLD_": -1,
    "MALLOC_MMAP_THRESHOLD_": -3,
}

_set: set[str] = set()  # names of those that this process has set


def is_set(name: str) -> bool:
    """Return whether a parameter is not as it is by default: the user or this process set it."""
    return name in os.environ or name in _set


def set_malloc(values: Mapping[str, int]) -> bool:
    """Set parameters of malloc; returns whether this process has a malloc that took all of them.

    Args:
      values: by environment variable; bytes or numbers, as the variable has.
    """
    library = ctypes.PyDLL(None) if os.name == "posix" else None
    if library is None or not hasattr(library, "gnu_get_libc_version"):
        return False
    _set.update(values)
    library.mallopt.argtypes = ctypes.c_int, ctypes.c_int
    return all([library.mallopt(_PARAMETERS[name], value) for name, value in values.items()])
