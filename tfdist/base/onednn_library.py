"""The shared library of oneDNN: what ctypes has to know of each function, and how it is loaded.

Source: the C interface of version 3, https://oneapi-src.github.io/oneDNN/v3.2.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char, c_float, c_int, c_int64, c_size_t, c_uint, c_void_p
from typing import Any

DISTRIBUTION = "onednn-cpu-gomp"  # the one of PyPI's that needs nothing but GNU's OpenMP
LIBRARY = "libdnnl.so.3"

_PROCESSOR, USERS_SCRATCHPAD = 1, 1
_UNIMPLEMENTED = 3
# How often a thread of oneDNN looks for more work before it sleeps, each time for some 30 ns: the
# next kernel of a step comes within that, and to wake a thread takes as long as many a kernel.
# GNU's default, of about 10 ms, would keep processors from other tasks.
_SPINS = "10000"

_MADE = POINTER(c_void_p)  # where a function writes the handle of what it has made
_NUMBERS = POINTER(c_int64)  # one for each axis
_MATRIX = c_void_p, c_int64  # where it begins, and how far its rows are from each other
_WINDOWS = (_NUMBERS,) * 4  # strides, dilations, borders before and after
_HINT = c_void_p  # the description of the forward computation


class Argument(ctypes.Structure):
    """One array that a primitive reads or writes: its number, and a memory object over it."""

    _fields_ = (("number", c_int), ("memory", c_void_p))


# What ctypes has to know of each function: arguments, and what it returns if that is no status.
# A handle of what is made comes first; the attributes of a primitive's description come last.
_SHORT: dict[str, tuple[tuple[Any, ...], Any]] = {
    "dnnl_get_effective_cpu_isa": ((), c_int),
    "dnnl_engine_create": ((_MADE, c_int, c_size_t), c_int),
    "dnnl_primitive_attr_create": ((_MADE,), c_int),
    "dnnl_primitive_attr_set_scratchpad_mode": ((c_void_p, c_int), c_int),
    "dnnl_primitive_attr_set_post_ops": ((c_void_p, c_void_p), c_int),
    "dnnl_primitive_attr_destroy": ((c_void_p,), c_int),
    "dnnl_post_ops_create": ((_MADE,), c_int),
    "dnnl_post_ops_append_binary": ((c_void_p, c_int, c_void_p), c_int),
    "dnnl_post_ops_destroy": ((c_void_p,), c_int),
    "dnnl_memory_desc_create_with_strides": ((_MADE, c_int, _NUMBERS, c_int, _NUMBERS), c_int),
    "dnnl_memory_desc_create_with_tag": ((_MADE, c_int, _NUMBERS, c_int, c_int), c_int),
    "dnnl_memory_desc_get_size": ((c_void_p,), c_size_t),
    "dnnl_memory_desc_destroy": ((c_void_p,), c_int),
    "dnnl_memory_create": ((_MADE, c_void_p, c_void_p, c_void_p), c_int),
    "dnnl_memory_destroy": ((c_void_p,), c_int),
    "dnnl_stream_create": ((_MADE, c_void_p, c_uint), c_int),
    "dnnl_stream_destroy": ((c_void_p,), c_int),
    "dnnl_primitive_desc_query_md": ((c_void_p, c_int, c_int), c_void_p),
    "dnnl_primitive_desc_destroy": ((c_void_p,), c_int),
    "dnnl_primitive_destroy": ((c_void_p,), c_int),
}
_LONG: dict[str, tuple[tuple[Any, ...], Any]] = {
    "dnnl_primitive_create": ((_MADE, c_void_p), c_int),
    "dnnl_primitive_execute": ((c_void_p, c_void_p, c_int, POINTER(Argument)), c_int),
    "dnnl_sgemm": (
        (c_char, c_char, c_int64, c_int64, c_int64, c_float, *_MATRIX, *_MATRIX, c_float, *_MATRIX),
        c_int,
    ),
}
_DESCRIPTIONS: dict[str, tuple[Any, ...]] = {
    "batch_normalization_forward": (c_void_p, c_int, *(c_void_p,) * 2, c_float, c_uint),
    "batch_normalization_backward": (c_void_p, c_int, *(c_void_p,) * 3, c_float, c_uint, _HINT),
    "binary": (c_void_p, c_int, *(c_void_p,) * 3),
    "convolution_forward": (c_void_p, c_int, c_int, *(c_void_p,) * 4, *_WINDOWS),
    "convolution_backward_data": (c_void_p, c_int, *(c_void_p,) * 3, *_WINDOWS, _HINT),
    "convolution_backward_weights": (c_void_p, c_int, *(c_void_p,) * 4, *_WINDOWS, _HINT),
    "eltwise_forward": (c_void_p, c_int, c_int, *(c_void_p,) * 2, c_float, c_float),
    "eltwise_backward": (c_void_p, c_int, *(c_void_p,) * 3, c_float, c_float, _HINT),
    "matmul": (c_void_p, *(c_void_p,) * 4),
    "pooling_forward": (c_void_p, c_int, c_int, *(c_void_p,) * 2, _NUMBERS, *_WINDOWS),
    "pooling_backward": (c_void_p, c_int, *(c_void_p,) * 2, _NUMBERS, *_WINDOWS, _HINT),
    "reorder": (c_void_p, c_void_p, c_void_p, c_void_p),
    "softmax_forward": (c_void_p, c_int, c_int, *(c_void_p,) * 2, c_int),
}
_SHORT |= {
    f"dnnl_{kind}_primitive_desc_create": ((_MADE, *arguments, c_void_p), c_int)
    for kind, arguments in _DESCRIPTIONS.items()
}
_OPENMP: dict[str, tuple[tuple[Any, ...], Any]] = {
    "omp_get_num_procs": ((), c_int),
    "omp_set_num_threads": ((c_int,), None),
}


class UnimplementedByOneDNN(Exception):
    """oneDNN has no way to compute that."""


def check(status: int) -> None:
    """Raise what a status of the C interface says.

    Raises:
      UnimplementedByOneDNN: there is no way to compute that.
      RuntimeError: oneDNN was asked wrongly.
    """
    if status == _UNIMPLEMENTED:
        raise UnimplementedByOneDNN
    if status:
        raise RuntimeError(f"oneDNN answered with status {status}")


class Library:
    """What is loaded once, and stays as long as the process.

    Attributes:
      short: functions that keep Python's lock, for they take less than a microsecond.
      long: functions that let other threads compute meanwhile.
      openmp: its threads.
      engine: the processor.
      attributes: of every primitive: its scratchpad is ours, so that any thread may run it.
    """

    def __init__(self, path: str) -> None:
        with _environment("GOMP_SPINCOUNT", _SPINS):
            self.long = _declared(ctypes.CDLL(path), _LONG)
            self.openmp = _declared(ctypes.PyDLL("libgomp.so.1"), _OPENMP)
        self.short = _declared(ctypes.PyDLL(path), _SHORT)
        self.engine, self.attributes = c_void_p(), c_void_p()
        check(self.short.dnnl_engine_create(byref(self.engine), _PROCESSOR, 0))
        check(self.short.dnnl_primitive_attr_create(byref(self.attributes)))
        scratchpad = self.short.dnnl_primitive_attr_set_scratchpad_mode
        check(scratchpad(self.attributes, USERS_SCRATCHPAD))


def _declared(library: Any, functions: dict[str, tuple[tuple[Any, ...], Any]]) -> Any:
    """Return a library whose functions know what they take and give."""
    for name, (arguments, result) in functions.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for what is loaded inside, unless it is set already."""
    is_ours = name not in os.environ
    if is_ours:
        os.environ[name] = value
    try:
        yield
    finally:
        if is_ours:
            os.environ.pop(name, None)  # two threads may be here


def load() -> Library | None:
    """Return the library, None where it is not installed or cannot be loaded."""
    from importlib import metadata  # takes long to import

    try:
        files = metadata.files(DISTRIBUTION) or ()
        return Library(next(str(each.locate()) for each in files if each.name == LIBRARY))
    except (metadata.PackageNotFoundError, StopIteration, OSError):
        return None
