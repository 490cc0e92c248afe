"""oneDNN, where it is installed: what a processor computes fastest, by its C interface.

TensorFlow's own builds for processors take the same library. It is an extra (`tfdist[onednn]`), for
it is large; whoever uses this module has another way where `is_available()` is False.

Who owns what: an object here owns its handle, which is destroyed with it; whatever oneDNN may still
read (a forward description that is a backward one's hint, a description whose layout was asked for)
is held by the object that needs it. Objects are passed to the C interface as they are, never as
bare handles, so that none can die during a call. Any thread may use and drop any of them.

Source: the C interface of version 3, https://oneapi-src.github.io/oneDNN/v3.2.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from ctypes import byref, c_int64, c_void_p
from functools import cache
from typing import Any

import numpy as np

from tfdist.base.onednn_library import (
    DISTRIBUTION,
    USERS_SCRATCHPAD,
    Argument,
    Library,
    check,
    load,
)

# numbers of the C interface: arguments, their gradients, questions for layouts, and others
SOURCE, OTHER_SOURCE, OUTPUT, WEIGHTS, WORKSPACE, SCRATCHPAD = 1, 2, 17, 33, 64, 80
POST_OP_SOURCES = 32770, 65538  # of the first one and the second one
MEAN, VARIANCE, SCALE, SHIFT = 49, 50, 51, 52
D_SOURCE, D_OUTPUT, D_WEIGHTS, D_SCALE, D_SHIFT = 129, 145, 161, 255, 256
WEIGHTS_LAYOUT, D_WEIGHTS_LAYOUT, WORKSPACE_LAYOUT, _SCRATCHPAD_LAYOUT = 131, 132, 135, 136
_IN_ORDER, _FLOAT32, _ANY_LAYOUT = 1, 3, 1
_AVX512 = 0x20  # the bit of instruction sets that have it
_MOST_AXES = 12


def is_available() -> bool:
    """Return whether oneDNN is installed and can be loaded."""
    return _library() is not None


def version() -> str:
    """Return what is installed, "" where nothing is."""
    from importlib import metadata  # takes long to import

    return metadata.version(DISTRIBUTION) if is_available() else ""


def has_wide_vectors() -> bool:
    """Return whether oneDNN, which has to be there, computes by vectors of 512 bits here."""
    return bool(_loaded().short.dnnl_get_effective_cpu_isa() & _AVX512)


@cache
def _library() -> Library | None:
    # Two first callers may both load it; both are given the one that came first.
    return _FIRST.setdefault(DISTRIBUTION, load())


_FIRST: dict[str, Library | None] = {}


def _loaded() -> Library:
    found = _library()
    assert found is not None, "ask is_available() first"
    return found


class _Owned:
    """Something of oneDNN's; a call of the C interface takes it as it is.

    Attributes:
      _as_parameter_: the handle, under the name by which ctypes asks for it.
    """

    __slots__ = ("__weakref__", "_as_parameter_")

    def __init__(self, create: Any, destroy: Any, *arguments: Any) -> None:
        """Let `create` make it of arguments, and `destroy` end it with this object."""
        self._as_parameter_ = c_void_p()
        check(create(byref(self._as_parameter_), *arguments))
        weakref.finalize(self, destroy, self._as_parameter_).atexit = False


# how arrays lie in memory


class Layout:
    """How float32 numbers lie in memory, over axes in oneDNN's order."""

    __slots__ = ("_as_parameter_", "_owner", "size")

    def __init__(self, handle: c_void_p, owner: Any) -> None:
        """Take a descriptor that lives as long as `owner`."""
        self._as_parameter_, self._owner = handle, owner
        self.size = int(_loaded().short.dnnl_memory_desc_get_size(handle))


def strided(shape: Sequence[int], strides: Sequence[int]) -> Layout:
    """Return the layout of an array; the strides are counted in elements."""
    create = _loaded().short.dnnl_memory_desc_create_with_strides
    return _layout(create, len(shape), numbers(shape), _FLOAT32, numbers(strides))


def any_layout(shape: Sequence[int]) -> Layout:
    """Return the layout that leaves the choice to the primitive it is for."""
    create = _loaded().short.dnnl_memory_desc_create_with_tag
    return _layout(create, len(shape), numbers(shape), _FLOAT32, _ANY_LAYOUT)


def _layout(create: Any, *arguments: Any) -> Layout:
    owned = _Owned(create, _loaded().short.dnnl_memory_desc_destroy, *arguments)
    return Layout(owned._as_parameter_, owned)


def numbers(values: Sequence[int]) -> Any:
    """Return one number for each axis, as the C interface takes them."""
    return (c_int64 * _MOST_AXES)(*values)


# what is computed


class Primitive:
    """One computation on arrays of fixed layouts; any number of threads may run it at a time."""

    def __init__(
        self,
        kind: str,
        *arguments: Any,
        hint: Primitive | None = None,
        most_threads: int | None = None,
        post_ops: Sequence[tuple[int, Layout]] = (),
    ) -> None:
        """Make what a function of the C interface describes.

        Args:
          kind: the function's name, without "dnnl_" and "_primitive_desc_create".
          arguments: of that function, after the first one, and without the last ones: a hint, and
            the attributes.
          hint: the forward computation, for a backward one.
          most_threads: that it takes; `threads()` by default.
          post_ops: what is done to each result and its number in one of `POST_OP_SOURCES`: the
            algorithms, and how these numbers lie in memory.

        Raises:
          UnimplementedByOneDNN: there is no way to compute that.
        """
        library = _loaded()
        self._threads, self._hint = most_threads or threads(), hint
        library.openmp.omp_set_num_threads(self._threads)
        attributes = _Attributes(post_ops) if post_ops else library.attributes
        last = (attributes,) if hint is None else (hint._description, attributes)
        self._description: _Owned = _Owned(
            getattr(library.short, f"dnnl_{kind}_primitive_desc_create"),
            library.short.dnnl_primitive_desc_destroy,
            *arguments,
            *last,
        )
        self._compute = _Owned(
            library.long.dnnl_primitive_create,
            library.short.dnnl_primitive_destroy,
            self._description,
        )
        self._scratchpad = self.layout(_SCRATCHPAD_LAYOUT)

    def layout(self, question: int) -> Layout:
        """Return the layout that it chose for one of its arguments."""
        query = _loaded().short.dnnl_primitive_desc_query_md
        return Layout(c_void_p(query(self._description, question, 0)), self._description)

    def run(self, *arguments: tuple[int, Layout, Any]) -> None:
        """Run the primitive on the arrays, which it reads and writes.

        Args:
          arguments: number, layout and NumPy array of each.
        """
        pad = self._scratchpad
        if pad.size:
            arguments = (*arguments, (SCRATCHPAD, pad, np.empty(pad.size, np.uint8)))
        passed = (Argument * len(arguments))()
        try:
            for each, (number, layout, array) in zip(passed, arguments, strict=True):
                each.number, each.memory = number, _memory(layout, array)
            self._execute(passed)
        finally:
            for each in passed:
                _loaded().short.dnnl_memory_destroy(each.memory)

    def _execute(self, passed: Any) -> None:
        library, stream = _loaded(), c_void_p()
        # The scratchpad is as large as the threads need that it was made for; others may ask for
        # another number in this thread meanwhile.
        library.openmp.omp_set_num_threads(self._threads)
        check(library.short.dnnl_stream_create(byref(stream), library.engine, _IN_ORDER))
        try:
            check(library.long.dnnl_primitive_execute(self._compute, stream, len(passed), passed))
        finally:
            library.short.dnnl_stream_destroy(stream)


def _memory(layout: Layout, array: Any) -> int | None:
    """Return a memory object over an array's numbers, to be destroyed by the caller."""
    library, memory = _loaded(), c_void_p()
    check(library.short.dnnl_memory_create(byref(memory), layout, library.engine, _address(array)))
    return memory.value


def _address(array: Any) -> int:
    """Return where the array's numbers begin."""
    address: int = array.__array_interface__["data"][0]
    return address


class _Attributes(_Owned):
    """The attributes of a primitive with post-ops."""

    __slots__ = ()

    def __init__(self, post_ops: Sequence[tuple[int, Layout]]) -> None:
        short = _loaded().short
        super().__init__(short.dnnl_primitive_attr_create, short.dnnl_primitive_attr_destroy)
        chain = _Owned(short.dnnl_post_ops_create, short.dnnl_post_ops_destroy)
        check(short.dnnl_primitive_attr_set_scratchpad_mode(self, USERS_SCRATCHPAD))
        for algorithm, layout in post_ops:
            check(short.dnnl_post_ops_append_binary(chain, algorithm, layout))
        check(short.dnnl_primitive_attr_set_post_ops(self, chain))  # copies them


def reorder(source: Layout, target: Layout) -> Primitive:
    """Return what copies from one layout to another: from `SOURCE` to `OUTPUT`.

    It takes one thread: what is copied is so small that waking others would take longer.
    """
    engine = _loaded().engine
    return Primitive("reorder", source, engine, target, engine, most_threads=1)


def primitive(
    kind: str,
    *arguments: Any,
    hint: Primitive | None = None,
    most_threads: int | None = None,
    post_ops: Sequence[tuple[int, Layout]] = (),
) -> Primitive:
    """Return a primitive of the processor; for the arguments see Primitive."""
    return Primitive(
        kind, _loaded().engine, *arguments, hint=hint, most_threads=most_threads, post_ops=post_ops
    )


# products of matrices


def multiply(a: Any, b: Any, product: Any, threads: int) -> None:
    """Write the product of two matrices, none of them empty, into a third.

    Args:
      a: float32 [rows, inner], row after row in memory, or column after column.
      b: float32 [inner, columns], row after row in memory, or column after column.
      product: float32 [rows, columns], row after row.
      threads: that compute.
    """
    library, (rows, columns), inner = _loaded(), product.shape, a.shape[1]
    (order_a, step_a), (order_b, step_b) = _order(a), _order(b)
    library.openmp.omp_set_num_threads(threads)
    check(
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


def threads() -> int:
    """Return how many threads a primitive would be made for now, which it always takes."""
    return 1 if _is_fork else _most_threads or int(_loaded().openmp.omp_get_num_procs())


def _note_fork() -> None:
    """Ask for one thread from now on: GNU's OpenMP waits for the parent's, which a fork has not."""
    global _is_fork
    _is_fork = True


_most_threads: int | None = None
_is_fork = False
os.register_at_fork(after_in_child=_note_fork)
