"""Denormal numbers, which are nearly zero, count as zero in a step, as they do in TensorFlow.

Processors take up to fifty times as long for them, and training that has converged is full of them:
what an optimizer remembers of a gradient that has vanished shrinks from step to step. Whether they
count belongs to each thread, and threads have it from the one that starts them. It is put back at
the end of a step, for the thread is the user's.
"""

from __future__ import annotations

import ctypes
import platform

# Machine (platform.machine()) -> the word of C's fenv_t that has the processor's settings, and the
# bits that make results and operands zero. Sources: Intel's manual, 10.2.3 (MXCSR: FZ, DAZ); Arm's,
# FPCR (FZ).
_SETTINGS = {"x86_64": (7, 0x8040), "aarch64": (0, 1 << 24)}


Words = ctypes.Array[ctypes.c_uint32]


def _environments() -> tuple[Words, Words] | None:
    """Return C's floating-point environments as it was found, and with the bits set."""
    if platform.system() != "Linux" or platform.machine() not in _SETTINGS:
        return None
    word, bits = _SETTINGS[platform.machine()]
    usual, flushing = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    for each in (usual, flushing):
        _C.fegetenv(each)
    usual[word] &= ~bits
    flushing[word] |= bits
    return usual, flushing


_C = ctypes.PyDLL(None)  # short calls, for which nobody has to let go of Python's lock
_FOUND = _environments()


def flush_here() -> None:
    """Let denormal numbers count as zero in this thread from now on; elsewhere nothing happens."""
    if _FOUND:
        _C.fesetenv(_FOUND[1])


class _Flushed:
    """A context in which denormal numbers count as zero."""

    __slots__ = ()

    def __enter__(self) -> None:
        if _FOUND:
            _C.fesetenv(_FOUND[1])

    def __exit__(self, *error: object) -> None:
        if _FOUND:
            _C.fesetenv(_FOUND[0])


FLUSHED = _Flushed()
