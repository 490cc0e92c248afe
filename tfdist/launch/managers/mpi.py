"""Clusters whose tasks `mpirun` starts: Open MPI, MPICH, Intel MPI, as they come.

MPI itself is not used: its launcher knows the hosts, starts processes there and tells each its
rank.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import textwrap
from collections.abc import Sequence

from tfdist.errors import NotFoundError
from tfdist.launch.managers.folder_manager import FolderManager
from tfdist.launch.managers.seam import Wanted
from tfdist.launch.server_process import last_lines, own_environment

LAUNCHERS = ("mpirun", "mpiexec")
_PATIENCE = 5.0  # seconds until its processes are killed
_LOG = "mpirun.log"
_TOLD = 300  # characters of what it said


class MpiManager(FolderManager):
    """Starts tasks by `mpirun`.

    Args:
      options: as one types them: "--hostfile hosts.txt"; the first word may be the launcher itself,
        "mpiexec.hydra -f hosts.txt".
    """

    name = "MPI"
    source = "mpi"
    remedy = "--on 'mpi:OPTIONS' gives mpirun options, such as mpi:--oversubscribe"

    def __init__(self, options: str = "") -> None:
        super().__init__(options)
        self._process: subprocess.Popen[bytes] | None = None
        self._ranks: dict[str, int] = {}

    def _begin(self, command: Sequence[str], wanted: Wanted) -> None:
        launcher, options = self._launcher()
        self._ranks = {task: rank for rank, task in enumerate(self._channels)}
        with open(self.folder / _LOG, "ab") as log:
            self._process = subprocess.Popen(
                [launcher, *options, "-n", str(len(wanted.tasks)), *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own_environment(),
                start_new_session=True,
            )  # fmt: skip

    def _launcher(self) -> tuple[str, Sequence[str]]:
        """Return the program that starts processes, and its options.

        Raises:
          NotFoundError: there is none.
        """
        options = list(self._options)
        named = [options.pop(0)] if options and not options[0].startswith("-") else LAUNCHERS
        found = next(filter(None, map(shutil.which, named)), None)
        if found is None:
            raise NotFoundError(
                f"there is no program {' or '.join(named)} here; install an MPI, such as Debian's "
                "openmpi-bin or mpich, or name its launcher: --on 'mpi:/opt/mpi/bin/mpirun'"
            )
        return found, options

    def _why_ended(self) -> str:
        code = self._process.poll() if self._process else None
        if code is None:
            return ""
        lines = (line.strip("- \t") for line in last_lines(self.folder / _LOG, 40))
        told = " ".join(filter(None, lines)) or "it said nothing"
        return f"mpirun ended ({code}): {textwrap.shorten(told, _TOLD, placeholder=' ...')}"

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _id(self, task: str) -> str:
        return f"rank {self._ranks[task]}"
