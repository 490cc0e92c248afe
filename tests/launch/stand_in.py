"""An interpreter that "has TensorFlow": `import tensorflow` there gives tfdist.

With it the way to servers of TensorFlow is tried where there is no TensorFlow: the program that
they run, their private network and its gate.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tfdist

MODULE = """
from types import SimpleNamespace
import tfdist
compat = SimpleNamespace(v1=tfdist)
__version__ = "1.0"
"""
PROGRAM = """#!/bin/sh
PYTHONPATH='{folder}:{package}' TFDIST_TRANSPORT=grpc exec '{python}' "$@"
"""


def interpreter(folder: Path) -> str:
    """Return the path of the interpreter, which is made in `folder`."""
    (folder / "tensorflow.py").write_text(MODULE)
    package = Path(tfdist.__file__).parents[1]
    program = folder / "python"
    program.write_text(PROGRAM.format(folder=folder, package=package, python=sys.executable))
    program.chmod(0o755)
    return str(program)
