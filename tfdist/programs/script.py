"""Runs a program of TensorFlow's unchanged: `import tensorflow` gives tfdist, there and in what it
starts."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.programs.modules import HOMES
from tfdist.programs.stand_in import inherited, install, installed_numpy1

FAILED = 1


def run_script(path: str, arguments: Sequence[str], numpy1: bool = False) -> int:
    """Run the file of a program as `python path arguments...` does; returns the exit code.

    Args:
      path: of the file.
      arguments: what it finds in `sys.argv` after its name.
      numpy1: whether it has NumPy 1's ways; see `stand_in.install`.

    Raises:
      SystemExit: it ended itself.
      OSError: there is no such file.
    """
    with open(path, "rb"):  # else runpy says less
        pass
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    return _run(lambda: _main(path), numpy1)


def run_module(name: str, arguments: Sequence[str], numpy1: bool = False) -> int:
    """Run a module, TensorFlow's tools too, as `python -m name arguments...` does.

    See `run_script`.
    """
    sys.argv = [name, *arguments]
    sys.path[0] = os.getcwd()
    home = HOMES.get(name, name)
    return _run(lambda: runpy.run_module(home, run_name="__main__", alter_sys=True), numpy1)


def _main(path: str) -> None:
    """Run a file as the main module."""
    if not installed_numpy1():
        runpy.run_path(path, run_name="__main__")
        return
    from tfdist.programs.rewritten import run

    run(path)


def _run(program: Callable[[], Any], numpy1: bool) -> int:
    install(numpy1)
    os.environ.update(inherited())
    try:
        program()
    except Exception as error:
        _show(error)
        return FAILED
    return 0


def _show(error: Exception) -> None:
    """Print the traceback of a program's error, from the program on, and what to do about it."""
    from tfdist.programs.advice import advice

    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_globals.get("__name__") != "__main__":
        frame = frame.tb_next
    rest = frame if isinstance(error, SyntaxError) else frame or error.__traceback__
    traceback.print_exception(type(error), error, rest)
    if said := advice(error):
        print(f"tfdist: {said}", file=sys.stderr)
