"""Rules for elements as loops of machine code, where Numba is installed.

NumPy goes over memory once for each operation of a rule, a loop that Numba has compiled once for
all of them; both give the same bits, for nothing is reordered or contracted. Numba is an extra
(`tfdist[numba]`), for it is large. To import it and to compile takes some tenths of a second, so a
rule is compiled when programs have spent time on it already.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.base import extras
from tfdist.ops.framework.cache_blocking import PART, Share, alone

Work = Callable[..., None]
Loop = Callable[..., None]

_CALL, _NUMBER = 5_000, 2  # nanoseconds that NumPy takes for a rule, and for each number
_WORTH_COMPILING = 50_000_000  # nanoseconds that were spent on a rule


class Elementwise:
    """A rule for elements, with what it needs beside them.

    Attributes:
      rule: takes elements of the arrays that it changes, of one that it reads, and `numbers`; whole
        arrays it changes in place, single numbers become what it returns. It has no literals,
        which NumPy and Numba give different types.
      numbers: of the arrays' dtype.
    """

    __slots__ = ("numbers", "rule")

    def __init__(self, rule: Callable[..., tuple[Any, ...]], numbers: tuple[Any, ...]) -> None:
        self.rule, self.numbers = rule, numbers

    def __call__(self, *arrays: Any) -> None:
        self.rule(*arrays, *self.numbers)


def one_pass(work: Work, changed: int, like: Any, share: Share = alone) -> Work | None:
    """Return what does `work` in one pass over its arrays; None if NumPy has to.

    Args:
      work: takes arrays of one shape; only `Elementwise` work can be a loop.
      changed: number of arrays that it changes, which are contiguous; one more is read.
      like: one of the arrays; its size counts as work, which tells when compiling is worth while.
      share: as for `cache_blocking.in_parts`.
    """
    if not isinstance(work, Elementwise):
        return None
    key = work.rule, like.dtype
    loop = _loops.get(key, _UNKNOWN)
    if loop is _UNKNOWN:
        spent = _spent[key] = _spent.get(key, 0) + _CALL + _NUMBER * like.size
        if spent < _WORTH_COMPILING:
            return None
        _loops[key] = None  # other threads go on by NumPy meanwhile
        _loops[key] = loop = compiled(*key, changed, len(work.numbers))
    return None if loop is None else partial(_go_through, loop, work.numbers, share)


def _go_through(loop: Loop, numbers: tuple[Any, ...], share: Share, *arrays: Any) -> None:
    numbers = tuple([number[()] for number in numbers])
    flat = [array.ravel() for array in arrays]
    if flat[0].size <= PART:
        loop(*flat, numbers)
    else:
        share(lambda start, end: loop(*[each[start:end] for each in flat], numbers), flat[0].size)


_UNKNOWN: Any = object()
_loops: dict[Any, Loop | None] = {}  # by rule and dtype; None if NumPy has to
_spent: dict[Any, int] = {}  # nanoseconds, about; threads may forget some


def compiled(rule: Callable[..., Any], dtype: Any, changed: int, numbers: int) -> Loop | None:
    """Return a rule as a loop over flat contiguous arrays, which takes its numbers as a tuple.

    Returns:
      A function without Python's lock; None without Numba, or for a dtype other than float32 and
      float64.
    """
    if dtype not in (np.float32, np.float64) or not extras.is_there("numba"):
        return None
    try:
        import numba
    except ImportError:  # it does not know this NumPy
        return None
    number = numba.from_dtype(dtype)
    written = numba.types.Array(number, 1, "C")
    read = numba.types.Array(number, 1, "C", readonly=True)
    signature = numba.void(*[written] * changed, read, numba.types.UniTuple(number, numbers))
    without_errors = partial(numba.njit, error_model="numpy", nogil=True)  # such as to divide by 0
    return without_errors([signature])(_LOOPS[changed](without_errors(rule)))


def _of_one(rule: Any) -> Loop:
    def loop(a: Any, read: Any, numbers: Any) -> None:
        for i in range(a.size):
            (a[i],) = rule(a[i], read[i], *numbers)

    return loop


def _of_two(rule: Any) -> Loop:
    def loop(a: Any, b: Any, read: Any, numbers: Any) -> None:
        for i in range(a.size):
            a[i], b[i] = rule(a[i], b[i], read[i], *numbers)

    return loop


def _of_three(rule: Any) -> Loop:
    def loop(a: Any, b: Any, c: Any, read: Any, numbers: Any) -> None:
        for i in range(a.size):
            a[i], b[i], c[i] = rule(a[i], b[i], c[i], read[i], *numbers)

    return loop


def _of_four(rule: Any) -> Loop:
    def loop(a: Any, b: Any, c: Any, d: Any, read: Any, numbers: Any) -> None:
        for i in range(a.size):
            a[i], b[i], c[i], d[i] = rule(a[i], b[i], c[i], d[i], read[i], *numbers)

    return loop


_LOOPS = {1: _of_one, 2: _of_two, 3: _of_three, 4: _of_four}  # Numba needs to know how many
