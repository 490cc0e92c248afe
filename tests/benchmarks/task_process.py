"""Tasks in processes of their own, as the measuring process sees them. Runs under Python 3.7 too.

A process is in the network namespace of the one that started it, and ends with it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().with_name("serve_task.py")
PATIENCE = 10.0  # seconds that an ending process may take


class TaskProcess:
    """A server in a process of its own; it may still be starting.

    Args:
      tf: tfdist or a TensorFlow; the process imports the same one.
      cluster: addresses by job.
      job: the task's job.
      index: the task's index in it.
      modules: that the process imports, for the ops that they define.

    Attributes:
      target: "grpc://HOST:PORT", for a session.
      pid: of the process.
    """

    def __init__(
        self, tf: Any, cluster: dict[str, list[str]], job: str, index: int, *modules: str
    ) -> None:
        module = "tfdist" if tf.__name__.startswith("tfdist") else "tensorflow"
        task = [json.dumps(cluster), job, str(index), *modules]
        self._command = [sys.executable, str(SCRIPT), module, *task]
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True
        )
        self.target = f"grpc://{cluster[job][index]}"
        self.pid = self._process.pid

    def wait(self) -> None:
        """Wait until it serves.

        Raises:
          RuntimeError: it ended instead.
        """
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            command = " ".join(map(shlex.quote, self._command))
            raise RuntimeError(f"a server's process ended at its start; to see why, run: {command}")

    def stop(self) -> None:
        """End the process; nothing happens if it has ended."""
        try:
            self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
