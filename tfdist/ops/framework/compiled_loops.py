"""Rules for elements as loops of machine code, where Numba is installed.

NumPy goes over memory once for each operation of a rule, a loop that Numba has compiled once for
all of them; both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode
from tfdist.ops.framework.cache_blocking import PART, Share, alone

Work = Callable[..., None]
Loop = Callable[..., None]

_COMPILED = frozenset(map(np.dtype, (np.float32, np.float64)))
_CALL = 5_000  # nanoseconds that NumPy takes for a rule beside its elements


class Elementwise:
    """A rule for elements, with what it needs beside them.

    Attributes:
      rule: takes elements of the arrays that it changes, of one that it reads, and `numbers`, and
        returns what they become: arrays, which it may change in place, or single numbers. It has no
        literals, which NumPy and Numba give different types, unless all is of double precision.
      numbers: of the arrays' dtype.
      cost: nanoseconds that NumPy takes for an element, about.
    """

    __slots__ = ("cost", "numbers", "rule")

    def __init__(
        self, rule: Callable[..., tuple[Any, ...]], numbers: tuple[Any, ...], cost: int = 2
    ) -> None:
        self.rule, self.numbers, self.cost = rule, numbers, cost

    def __call__(self, *arrays: Any) -> None:
        for array, new in zip(arrays, self.rule(*arrays, *self.numbers), strict=False):
            if new is not array:
                array[...] = new


def one_pass(work: Work, changed: int, like: Any, share: Share = alone) -> Work | None:
    """Return what does `work` in one pass over its arrays; None if NumPy has to.

    Args:
      work: takes arrays of one shape; only `Elementwise` work can be a loop.
      changed: number of arrays that it changes, which are contiguous; one more is read.
      like: one of the arrays; its size counts as work, which tells when compiling is worth while.
      share: as for `cache_blocking.in_parts`.
    """
    if not isinstance(work, Elementwise) or like.dtype not in _COMPILED:
        return None
    key = work.rule, like.dtype
    code = _codes.get(key)
    if code is None:
        code = _codes[key] = machine_code(*key, changed, len(work.numbers))
    loop = code.instead_of(_CALL + work.cost * like.size)
    return None if loop is None else partial(_go_through, loop, work.numbers, share)


def _go_through(loop: Loop, numbers: tuple[Any, ...], share: Share, *arrays: Any) -> None:
    numbers = tuple([number[()] for number in numbers])
    flat = [array.ravel() for array in arrays]
    if flat[0].size <= PART:
        loop(*flat, numbers)
    else:
        share(lambda start, end: loop(*[each[start:end] for each in flat], numbers), flat[0].size)


_codes: dict[Any, MachineCode] = {}  # by rule and dtype


def machine_code(rule: Callable[..., Any], dtype: Any, changed: int, numbers: int) -> MachineCode:
    """Return the code of a rule's loop over flat contiguous arrays, which keeps no lock of Python.

    Args:
      rule: of an `Elementwise`.
      dtype: of all arrays.
      changed: number of arrays that are changed; another one comes behind them, which is read.
      numbers: how many the rule takes, which the loop takes as a tuple.
    """

    def compile(compiler: Compiler) -> Loop:
        loop = _LOOPS[changed](compiler.function(rule))
        arrays = *[compiler.written(dtype)] * changed, compiler.read(dtype)
        return compiler.procedure(loop, *arrays, compiler.numbers(dtype, numbers))

    return MachineCode(compile)


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
