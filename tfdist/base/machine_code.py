"""Functions that become machine code, where Numba is installed and that is worth while.

Numba is an extra (`tfdist[numba]`), for it is large; whoever uses this module has another way. To
import it and to compile takes some tenths of a second, which short programs shall not pay: that is
done in the call at which a tenth of it was spent the other way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tfdist.base import extras

_WORTH_COMPILING = 50_000_000  # nanoseconds


def is_possible() -> bool:
    """Return whether functions may become machine code: Numba is there, and is not forbidden to.

    Its setting NUMBA_DISABLE_JIT would leave loops to Python, a hundred times as slow as NumPy.
    """
    if "numba" not in sys.modules:  # to import it takes some tenths of a second
        return _is_installed() and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    module = sys.modules["numba"]  # None where it is hidden
    return module is not None and not getattr(module.config, "DISABLE_JIT", 0)


@cache
def _is_installed() -> bool:
    return extras.is_there("numba")


class MachineCode:
    """A function that is compiled when it would have saved enough.

    Args:
      compile: takes a `Compiler`, and returns the compiled function.
    """

    __slots__ = ("_compile", "_function", "_is_decided", "_spent")

    def __init__(self, compile: Callable[[Compiler], Callable[..., Any]]) -> None:
        self._compile = compile
        self._function: Callable[..., Any] | None = None
        self._is_decided = False
        self._spent = 0  # threads that come at once may forget some

    def instead_of(self, nanoseconds: int) -> Callable[..., Any] | None:
        """Return the compiled function, None as long as there is none.

        Args:
          nanoseconds: that the other way takes now, about; they count.
        """
        if not self._is_decided:
            self._spent += nanoseconds
            if self._spent > _WORTH_COMPILING:
                self._is_decided = True  # other threads go the other way meanwhile
                self._function = self.compiled()
        return self._function

    def compiled(self) -> Callable[..., Any] | None:
        """Compile and return the function; None if that is not possible, or fails."""
        if not is_possible():
            return None
        try:
            import numba

            return self._compile(Compiler(numba))
        except Exception:  # as a Numba that does not know this NumPy: the other way goes on
            return None


class Compiler:
    """Numba, with what all functions here have in common.

    They keep no lock of Python, to divide by 0 is no error, and nothing is reordered or contracted,
    so that they give the bits that NumPy gives.

    Args:
      numba: the module.
    """

    def __init__(self, numba: Any) -> None:
        self._numba = numba

    def function(self, function: Callable[..., Any], *, inlined: bool = False) -> Any:
        """Return a function that compiled ones may call, for any types.

        Args:
          function: of single numbers.
          inlined: whether it is written into those that call it: with a loop inside it would
            keep the loop that calls it from becoming one of vectors.
        """
        inline = "always" if inlined else "never"
        return self._numba.njit(function, nogil=True, error_model="numpy", inline=inline)

    def procedure(self, function: Callable[..., None], *types: Any) -> Any:
        """Return a function of arguments of these types, which returns nothing."""
        signature = self._numba.void(*types)
        return self._numba.njit([signature], nogil=True, error_model="numpy")(function)

    def number(self, dtype: Any) -> Any:
        """Return the type of a number, or of a bool."""
        return self._numba.from_dtype(np.dtype(dtype))

    def numbers(self, dtype: Any, count: int) -> Any:
        """Return the type of a tuple of so many numbers."""
        return self._numba.types.Tuple((self.number(dtype),) * count)

    def read(self, dtype: Any, axes: int = 1) -> Any:
        """Return the type of a contiguous array that is not written, and may not be."""
        return self._numba.types.Array(self.number(dtype), axes, "C", readonly=True)

    def written(self, dtype: Any, axes: int = 1) -> Any:
        """Return the type of a contiguous array that is written."""
        return self._numba.types.Array(self.number(dtype), axes, "C")
