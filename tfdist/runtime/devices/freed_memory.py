"""The allocator's cache: memory that arrays free is kept for the next ones.

A training step makes and drops the same large arrays as the one before. By default glibc gives such
memory back to the system as soon as some megabytes are free at a time, and the system hands it out
again in pages that it has to clear first: up to half of the time of a step with convolutions.
"""

from __future__ import annotations

from functools import cache

from tfdist.base.malloc import is_set, set_malloc

_THRESHOLDS = {
    "MALLOC_TRIM_THRESHOLD_": 1 << 27,  # so much may stay free at the end of the heap
    "MALLOC_MMAP_THRESHOLD_": 1 << 25,  # smaller arrays are of the heap; glibc takes no more
}


@cache
def keep_freed_memory() -> None:
    """Let 128 MB that were freed stay with this process; only with glibc, and only once.

    What the user set for it in the environment holds, and what `tfdist serve` set: a process that
    does nothing but serve keeps more.
    """
    if not any(map(is_set, _THRESHOLDS)):
        set_malloc(_THRESHOLDS)
