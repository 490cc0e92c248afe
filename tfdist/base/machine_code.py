"""Functions that become machine code, where Numba is installed and that is worth while.

Numba is an extra (`tfdist[numba]`), for it is large; whoever uses this module has another way. To
import it and to compile takes some tenths of a second, which short programs shall not pay: that is
done in the call at which a tenth of it was spent the other way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import extras

_WORTH_COMPILING = 50_000_000  # nanoseconds


class MachineCode:
    """A function that is compiled when it would have saved enough.

    Args:
      compile: takes the module `numba`, and returns the compiled function.
    """

    __slots__ = ("_compile", "_function", "_is_decided", "_spent")

    def __init__(self, compile: Callable[[Any], Callable[..., Any]]) -> None:
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
        """Compile and return the function; None without Numba, or if it may not or cannot compile.

        Its setting NUMBA_DISABLE_JIT would leave loops to Python, a hundred times as slow as NumPy.
        """
        if not extras.is_there("numba"):
            return None
        try:
            import numba
        except ImportError:  # it does not know this NumPy
            return None
        return None if getattr(numba.config, "DISABLE_JIT", 0) else self._compile(numba)
