"""glibc's malloc, set up for a process that does nothing but serve.

Large messages come and go, and by default each is mapped, faulted in page by page and given back:
that costs most of a transfer's time. Kept memory makes it four times faster, and the process keeps
it, which is why only servers with a process of their own do this. It has to happen before gRPC
starts threads: each of those would get an arena of its own.

What the user set by the environment (MALLOC_ARENA_MAX, ...) stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from tfdist.base.malloc import set_malloc

MEBIBYTE = 2**20

SETTINGS = {
    "MALLOC_ARENA_MAX": 1,
    "MALLOC_TOP_PAD_": 256 * MEBIBYTE,
    "MALLOC_TRIM_THRESHOLD_": 2_000_000_000,
    "MALLOC_MMAP_THRESHOLD_": 32 * MEBIBYTE,
}


def keep_memory(environment: Mapping[str, str] = os.environ) -> bool:
    """Let malloc keep what is freed; return whether this process has a malloc that does so."""
    return set_malloc({name: each for name, each in SETTINGS.items() if name not in environment})
