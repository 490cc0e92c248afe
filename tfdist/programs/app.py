"""tf.app: `run` calls a program's `main`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl.app import define_help_flags

from tfdist.programs import flags

__all__ = ["flags", "run"]


def run(main: Callable[..., Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Read the flags, call `main`, and end the program with what it returns; --help lists flags.

    Args:
      main: takes the arguments that are no flags, the program's name first; `main` of the program
        by default.
      argv: the command line, with the program's name; `sys.argv` by default.

    Raises:
      SystemExit: when `main` has returned.
    """
    define_help_flags()
    rest = flags.FLAGS(list(sys.argv if argv is None else argv), known_only=True)
    if main is None:
        main = getattr(sys.modules["__main__"], "main", None)
    if main is None:
        raise AttributeError("tf.app.run() calls `main` of the program, which has none: define it")
    sys.exit(main(rest))
