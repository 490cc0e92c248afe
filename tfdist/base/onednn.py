"""oneDNN, where it is installed: what a processor computes fastest, by its C interface.

TensorFlow's own builds for processors take the same library. It is an extra (`tfdist[onednn]`), for
it is large; whoever uses this module has another way where `is_available()` is False.

Source: the C interface of version 3, https://oneapi-src.github.io/oneDNN/v3.2.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char, c_float, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

DISTRIBUTION = "onednn-cpu-gomp"  # the one of PyPI's that needs nothing but GNU's OpenMP
LIBRARY = "libdnnl.so.3"

# numbers of the C interface: arguments, their gradients, questions for layouts, and others
SOURCE, OUTPUT, WEIGHTS, WORKSPACE, SCRATCHPAD = 1, 17, 33, 64, 80
D_SOURCE, D_OUTPUT, D_WEIGHTS = 129, 145, 161
WEIGHTS_LAYOUT, D_WEIGHTS_LAYOUT, WORKSPACE_LAYOUT, _SCRATCHPAD_LAYOUT = 131, 132, 135, 136
_PROCESSOR, _IN_ORDER, _FLOAT32, _ANY_LAYOUT, _USERS_SCRATCHPAD = 1, 1, 3, 1, 1
_MOST_AXES = 12
_MATRIX = c_void_p, c_int64  # where it begins, and how far its rows are from each other
_OF_PRODUCTS = (
    c_char, c_char, c_int64, c_int64, c_int64, c_float, *_MATRIX, *_MATRIX, c_float, *_MATRIX
)  # fmt: skip
_UNIMPLEMENTED = 3


class UnimplementedByOneDNN(Exception):
    """oneDNN has no way to compute that."""


class _Library(NamedTuple):
    """What is loaded once.

    Attributes:
      short: calls that keep Python's lock, for they take less than a microsecond.
      long: calls that let other threads compute meanwhile.
      openmp: its threads.
      engine: the processor.
      attributes: of every primitive: its scratchpad is ours, so that any thread may run it.
    """

    short: Any
    long: Any
    openmp: Any
    engine: c_void_p
    attributes: c_void_p


def is_available() -> bool:
    """Return whether oneDNN is installed and can be loaded."""
    return _library() is not None


def version() -> str:
    """Return what is installed, "" where nothing is."""
    return metadata.version(DISTRIBUTION) if is_available() else ""


@cache
def _library() -> _Library | None:
    try:
        files = metadata.files(DISTRIBUTION) or ()
        path = next(str(each.locate()) for each in files if each.name == LIBRARY)
        # Threads that spin while there is nothing to do take processors from other tasks.
        with _environment("OMP_WAIT_POLICY", "passive"):
            long = ctypes.CDLL(path)
            openmp = ctypes.PyDLL("libgomp.so.1")
    except (metadata.PackageNotFoundError, StopIteration, OSError):
        return None
    short = ctypes.PyDLL(path)
    short.dnnl_primitive_desc_query_md.restype = c_void_p
    short.dnnl_memory_desc_get_size.restype = c_size_t
    long.dnnl_sgemm.argtypes = _OF_PRODUCTS
    engine, attributes = c_void_p(), c_void_p()
    _check(short.dnnl_engine_create(byref(engine), _PROCESSOR, c_size_t(0)))
    _check(short.dnnl_primitive_attr_create(byref(attributes)))
    _check(short.dnnl_primitive_attr_set_scratchpad_mode(attributes, _USERS_SCRATCHPAD))
    return _Library(short, long, openmp, engine, attributes)


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
            del os.environ[name]


def _loaded() -> _Library:
    found = _library()
    assert found is not None, "ask is_available() first"
    return found


def _check(status: int) -> None:
    if status == _UNIMPLEMENTED:
        raise UnimplementedByOneDNN
    if status:
        raise RuntimeError(f"oneDNN answered with status {status}")


# how arrays lie in memory


class Layout:
    """How float32 numbers lie in memory, over axes in oneDNN's order."""

    __slots__ = ("__weakref__", "handle", "size")

    def __init__(self, handle: c_void_p, is_owned: bool = True) -> None:
        """Take a descriptor; `is_owned` says that nobody else frees it."""
        self.handle = handle
        self.size = int(_loaded().short.dnnl_memory_desc_get_size(handle))
        if is_owned:
            _freed_with(self, "dnnl_memory_desc_destroy", handle)


def strided(shape: Sequence[int], strides: Sequence[int]) -> Layout:
    """Return the layout of an array; the strides are counted in elements."""
    handle = c_void_p()
    create = _loaded().short.dnnl_memory_desc_create_with_strides
    _check(create(byref(handle), len(shape), numbers(shape), _FLOAT32, numbers(strides)))
    return Layout(handle)


def any_layout(shape: Sequence[int]) -> Layout:
    """Return the layout that leaves the choice to the primitive it is for."""
    handle = c_void_p()
    create = _loaded().short.dnnl_memory_desc_create_with_tag
    _check(create(byref(handle), len(shape), numbers(shape), _FLOAT32, _ANY_LAYOUT))
    return Layout(handle)


def numbers(values: Sequence[int]) -> Any:
    """Return one number for each axis, as the C interface takes them."""
    return (c_int64 * _MOST_AXES)(*values)


def _freed_with(owner: Any, function: str, handle: c_void_p) -> None:
    weakref.finalize(owner, getattr(_loaded().short, function), handle).atexit = False


# what is computed


class _Argument(ctypes.Structure):
    _fields_ = (("number", c_int), ("memory", c_void_p))


class Primitive:
    """One computation on arrays of fixed layouts; any number of threads may run it at a time.

    Attributes:
      description: what made it, which the backward ones of a forward one take as a hint.
    """

    def __init__(self, create: str, *arguments: Any, most_threads: int | None = None) -> None:
        """Make what a function of the C interface describes.

        Args:
          create: the function's name, without "dnnl_" and "_primitive_desc_create".
          arguments: of that function, after the first one, and without the last, the attributes.
          most_threads: that it takes; `threads()` by default.

        Raises:
          UnimplementedByOneDNN: there is no way to compute that.
        """
        library = _loaded()
        library.openmp.omp_set_num_threads(most_threads or threads())
        self.description, self._handle = c_void_p(), c_void_p()
        described = getattr(library.short, f"dnnl_{create}_primitive_desc_create")
        _check(described(byref(self.description), *arguments, library.attributes))
        _freed_with(self, "dnnl_primitive_desc_destroy", self.description)
        _check(library.long.dnnl_primitive_create(byref(self._handle), self.description))
        _freed_with(self, "dnnl_primitive_destroy", self._handle)
        self._scratchpad = self.layout(_SCRATCHPAD_LAYOUT)

    def layout(self, question: int) -> Layout:
        """Return the layout that it chose for one of its arguments."""
        query = _loaded().short.dnnl_primitive_desc_query_md
        return Layout(c_void_p(query(self.description, question, 0)), is_owned=False)

    def run(self, *arguments: tuple[int, Layout, Any]) -> None:
        """Compute.

        Args:
          arguments: number, layout and NumPy array of each.
        """
        pad = self._scratchpad
        if pad.size:
            arguments = (*arguments, (SCRATCHPAD, pad, np.empty(pad.size, np.uint8)))
        memories = [(number, _memory(layout, array)) for number, layout, array in arguments]
        try:
            self._execute((_Argument * len(memories))(*(_Argument(*each) for each in memories)))
        finally:
            for _, memory in memories:
                _loaded().short.dnnl_memory_destroy(memory)

    def _execute(self, passed: Any) -> None:
        library, stream = _loaded(), c_void_p()
        _check(library.short.dnnl_stream_create(byref(stream), library.engine, _IN_ORDER))
        try:
            _check(library.long.dnnl_primitive_execute(self._handle, stream, len(passed), passed))
        finally:
            library.short.dnnl_stream_destroy(stream)


def _memory(layout: Layout, array: Any) -> c_void_p:
    """Return a memory object over an array's numbers, to be destroyed by the caller."""
    library, memory = _loaded(), c_void_p()
    create = library.short.dnnl_memory_create
    _check(
        create(
            byref(memory),
            layout.handle,
            library.engine,
            c_void_p(_address(array)),
        )
    )
    return memory


def _address(array: Any) -> int:
    """Return where the array's numbers begin."""
    address: int = array.__array_interface__["data"][0]
    return address


def reorder(source: Layout, target: Layout) -> Primitive:
    """Return what copies from one layout to another: from `SOURCE` to `OUTPUT`.

    It takes one thread: what is copied is so small that waking others would take longer.
    """
    engine = _loaded().engine
    return Primitive("reorder", source.handle, engine, target.handle, engine, most_threads=1)


def primitive(kind: str, *arguments: Any, most_threads: int | None = None) -> Primitive:
    """Return a primitive of the processor; a Layout is passed as its descriptor."""
    handles = [each.handle if isinstance(each, Layout) else each for each in arguments]
    return Primitive(kind, _loaded().engine, *handles, most_threads=most_threads)


# products of matrices


def multiply(a: Any, b: Any, product: Any, threads: int) -> None:
    """Write the product of two matrices, none of them empty, into a third.

    Args:
      a: float32 [rows, inner], row after row in memory, or column after column.
      b: float32 [inner, columns], likewise.
      product: float32 [rows, columns], row after row.
      threads: that compute.
    """
    library, (rows, columns), inner = _loaded(), product.shape, a.shape[1]
    (order_a, step_a), (order_b, step_b) = _order(a), _order(b)
    library.openmp.omp_set_num_threads(threads)
    _check(
        library.long.dnnl_sgemm(
            order_a, order_b, rows, columns, inner, 1.0, _address(a), step_a, _address(b), step_b,
            0.0, _address(product), columns,
        )
    )  # fmt: skip


def _order(matrix: Any) -> tuple[bytes, int]:
    """Return whether the matrix lies turned in memory, and how far its rows are from each other."""
    return (b"N", matrix.shape[1]) if matrix.flags.c_contiguous else (b"T", matrix.shape[0])


# threads


def limit_threads(most: int | None) -> None:
    """Let primitives take that many threads at most from now on; None is one per processor."""
    global _most_threads
    _most_threads = most


_most_threads: int | None = None


def threads() -> int:
    """Return how many threads a primitive would be made for now, which it always takes."""
    return _most_threads or int(_loaded().openmp.omp_get_num_procs())
