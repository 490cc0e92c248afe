"""Real TensorFlow's interpreters, and trials with them in networks of their own.

They stand in an environment variable, separated by colons:

    TFDIST_TENSORFLOW=/path/of/1.15/bin/python:/path/of/2/bin/python

Each trial has a network of its own, since real servers listen on every interface.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.interop.directions import KINDS, OF_THREE_TASKS, US, Direction
from tests.interop.programs import PROGRAMS

TRIAL = Path(__file__).with_name("trial.py")
UNSHARE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
VERSION = """
try:
    from importlib.metadata import version
except ImportError:  # Python 3.7
    from pkg_resources import get_distribution
    version = lambda name: get_distribution(name).version
for name in ("tensorflow", "tensorflow-cpu"):
    try:
        print(version(name))
    except Exception:
        pass
"""


@functools.cache
def interpreters() -> dict[str, str]:
    """Return Python by kind of side."""
    found = {US: sys.executable}
    for python in filter(None, os.environ.get("TFDIST_TENSORFLOW", "").split(":")):
        told = subprocess.run([python, "-c", VERSION], capture_output=True, text=True, check=True)
        assert told.stdout, f"TFDIST_TENSORFLOW: {python} has no TensorFlow"
        found[KINDS[told.stdout[0]]] = python
    return found


@functools.cache
def hindrance() -> str:
    """Return why nothing can be tried here, "" if it can."""
    if len(interpreters()) == 1:
        return "TFDIST_TENSORFLOW names no interpreter that has TensorFlow"
    tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True)
    return f"networks cannot be made here: {tried.stderr}" if tried.returncode else ""


def programs_of(direction: Direction) -> list[str]:
    """Return the programs that make sense in a direction."""
    return [name for name in PROGRAMS if direction.worker or name not in OF_THREE_TASKS]


def outcomes(direction: Direction) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what comes of every program in a direction."""
    settings = {
        "interpreters": interpreters(),
        "client": direction.client,
        "tasks": direction.tasks,
    }
    command = [*UNSHARE, sys.executable, TRIAL, json.dumps(settings), *programs_of(direction)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        yield from map(json.loads, run.stdout or ())
