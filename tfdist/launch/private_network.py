"""A network for servers that cannot keep strangers out by themselves; `gate` is the way in.

Rejected: making TensorFlow bind the loopback only, by a library that replaces `bind` (it needs a
compiler here) or by a filter of system calls (some hundred lines that differ from processor to
processor); all other users of the host could still connect. A network per server: then everything
goes through two gates.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tfdist.errors import PermissionDeniedError
from tfdist.launch.server_process import START_TIMEOUT, ChildProcess, own_environment

WHY = (
    "TensorFlow's servers listen on every interface and run what anyone who reaches them sends; "
    "they get a network of their own, which this system does not allow"
)
NEEDED = ("unshare", "nsenter")
REMEDY = "where only people you trust reach this machine, --trust-network does without"
AS_ROOT = ("unshare", "--user", "--map-root-user", "--")  # in this user's own eyes only


def why_no_network() -> str:
    """Return why this system makes no private network for this user, or ""."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"there is no program {' or '.join(missing)}"
    command = (*(() if os.geteuid() == 0 else AS_ROOT), "unshare", "--net", "true")
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


class PrivateNetwork:
    """A network whose only way in is a gate, which lets nobody in but this user.

    Args:
      inside: ports of the loopback whose servers are inside.
      outside: ports of the loopback that those inside may reach.
      log: file for what the gate writes.

    Raises:
      PermissionDeniedError: this system makes no networks for this user.

    Attributes:
      entrance: the command that runs another one inside.
    """

    def __init__(self, inside: Sequence[int], outside: Sequence[int], log: Path) -> None:
        reason = why_no_network()
        if reason:
            raise PermissionDeniedError(f"{WHY} ({reason}); {REMEDY}")
        is_root = os.geteuid() == 0
        settings = {"inside": list(inside), "outside": list(outside), "parent": os.getpid()}
        command = [sys.executable, "-m", "tfdist.launch.gate", json.dumps(settings)]
        self._gate = ChildProcess(
            "the gate", command if is_root else [*AS_ROOT, *command], own_environment, log
        )
        path = self._gate.start(START_TIMEOUT)
        user = () if is_root else (f"--user=/proc/{self._gate.pid}/ns/user",)
        self.entrance = ("nsenter", *user, "--preserve-credentials", f"--net={path}", "--")

    @property
    def is_open(self) -> bool:
        """Return whether the gate is there."""
        return self._gate.is_running

    def close(self) -> None:
        """Close the gate: nobody comes in or out any more."""
        self._gate.stop()
