"""Which process something belongs to, so that others can tell whether that process still runs.

A process id alone does not say it: ids are used again. With the time of the start, and the boot it
is counted from, it does. Other hosts may share a home folder: of their processes nothing is known.
"""

from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Owner:
    """A process.

    Attributes:
      host: name of the machine it runs on.
      pid: its process id there.
      started: when it was started, as text to be compared.
    """

    host: str
    pid: int
    started: str

    @property
    def is_here(self) -> bool:
        """Return whether it runs, or ran, on this machine."""
        return self.host == socket.gethostname()

    @property
    def is_gone(self) -> bool:
        """Return whether it is known not to run any more."""
        return self.is_here and start_of(self.pid) != self.started


def this_process() -> Owner:
    """Return the process that asks."""
    return Owner(socket.gethostname(), os.getpid(), start_of(os.getpid()))


def start_of(pid: int) -> str:
    """Return when process `pid` of this machine was started, "" if there is none."""
    status = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").exists():
        return _start_from_ps(pid)
    try:
        fields = status.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    if fields[0] in "ZX":  # it has ended; nobody has asked yet how
        return ""
    return f"{_boot()} {fields[19]}"  # in clock ticks since the boot; proc(5)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "this boot"  # some containers hide it


def _start_from_ps(pid: int) -> str:
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
