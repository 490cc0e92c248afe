"""Engines: what serves a task, tfdist or TensorFlow itself, and where the latter comes from."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from tfdist.errors import NotFoundError

TFDIST, TENSORFLOW = ENGINES = ("tfdist", "tensorflow")
TENSORFLOW_NAME = "TensorFlow"
VARIABLE = "TFDIST_TENSORFLOW"  # interpreters that have TensorFlow, as in PATH; the first is taken
SERVER = Path(__file__).with_name("tensorflow_server.py")
OF_PYTHON = ("PYTHONHOME", "PYTHONPATH")  # of one interpreter, and wrong for another


@dataclass(frozen=True)
class TensorFlowEngine:
    """Where servers of TensorFlow come from.

    Attributes:
      python: an interpreter that has TensorFlow.
      entrance: the command before the server's own, which brings it into a private network.
    """

    python: str
    entrance: tuple[str, ...] = ()
    name = TENSORFLOW_NAME

    def command(
        self, spec: Mapping[str, Sequence[str]], job: str, task: int, cpus: int
    ) -> list[str]:
        """Return the command that starts the server of a task."""
        settings = {"spec": spec, "job": job, "task": task, "cpus": cpus, "parent": os.getpid()}
        return [*self.entrance, self.python, str(SERVER), json.dumps(settings)]

    def environment(self) -> dict[str, str]:
        """Return the server's environment variables."""
        is_other = self.python != sys.executable
        return {k: v for k, v in os.environ.items() if not (is_other and k in OF_PYTHON)}


def engine_by_job(
    jobs: Mapping[str, int], engine: str | Mapping[str, str] = TFDIST
) -> dict[str, str]:
    """Return the engine of each job.

    Args:
      jobs: number of tasks by job.
      engine: of all jobs, or of some; the others have tfdist.

    Raises:
      ValueError: there is no such engine or job.

    Example:
      >>> engine_by_job({"ps": 1, "worker": 2}, {"worker": "tensorflow"})
      {'ps': 'tfdist', 'worker': 'tensorflow'}
    """
    asked = dict.fromkeys(jobs, engine) if isinstance(engine, str) else dict(engine)
    for job, name in asked.items():
        if job not in jobs:
            raise ValueError(f"no job {job!r} for engine {name}; there are {', '.join(jobs)}")
        if name not in ENGINES:
            raise ValueError(f"no engine {name!r}; there are {' and '.join(ENGINES)}")
    return {job: asked.get(job, TFDIST) for job in sorted(jobs)}


def tensorflow_python(asked: str | None = None) -> str | None:
    """Return an interpreter that has TensorFlow, or None if none is known.

    It is the one that is asked for, or else the first that the variable TFDIST_TENSORFLOW names, or
    this one.

    Args:
      asked: its path, or its name in PATH.

    Raises:
      NotFoundError: there is no such program.
    """
    named = asked or next(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)), None)
    if named is None:
        return sys.executable if PathFinder.find_spec("tensorflow") else None
    found = shutil.which(Path(named).expanduser())
    if found is None:
        where = "--python" if asked else VARIABLE
        raise NotFoundError(f"{where} names {named}, but there is no such program")
    return os.path.abspath(found)


def required_python(asked: str | None) -> str:
    """Return an interpreter that has TensorFlow; NotFoundError if none is known."""
    found = tensorflow_python(asked)
    if found is None:
        raise NotFoundError(
            f"{sys.executable} has no TensorFlow, and no other interpreter is named: --python PATH "
            f"or {VARIABLE}=PATH names one that has it, 1.x or 2.x"
        )
    return found
