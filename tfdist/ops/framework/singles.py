"""Functions of each number of float32, as loops of machine code where Numba is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base.machine_code import Compiler, MachineCode

__all__: list[str] = []

_AT_A_TIME = 1 << 14  # numbers: they stay in the cache


class FunctionOfSingles:
    """A function of each number of float32; both ways to compute it give the same bits.

    Args:
      by_numpy: takes a flat array.
      of_number: takes a Compiler, returns the compiled function of one number, for loops.
      call: nanoseconds that NumPy takes.
      cost: nanoseconds that it takes for each number besides.
    """

    def __init__(
        self,
        by_numpy: Callable[[Any], Any],
        of_number: Callable[[Compiler], Any],
        call: int,
        cost: int,
    ) -> None:
        self.by_numpy, self.of_number = by_numpy, of_number
        self._call, self._cost = call, cost
        self.code = MachineCode(self._compile)

    def __call__(self, x: Any) -> Any:
        if type(x) is not np.ndarray:  # a card's
            return self.by_numpy(x)
        flat, made = np.ascontiguousarray(x).reshape(-1), np.empty(x.shape, np.float32)
        target = made.reshape(-1)
        write = self.code.instead_of(self._call + self._cost * flat.size)
        if write is not None:
            write(target, flat)
            return made
        for start in range(0, len(flat), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            target[part] = self.by_numpy(flat[part])
        return made

    def _compile(self, compiler: Compiler) -> Any:
        of_number = self.of_number(compiler)

        def write(made: Any, x: Any) -> None:
            for at in range(x.size):
                made[at] = of_number(x[at])

        return compiler.procedure(write, compiler.written(np.float32), compiler.read(np.float32))
