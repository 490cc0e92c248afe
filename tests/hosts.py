"""Two hosts on this machine: network namespaces that a pair of virtual interfaces joins.

They take root, and the programs `ip`, `nsenter` and `unshare`. All of it is gone with the processes
that hold the namespaces, and these with this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack

ADDRESSES = ("10.77.0.1", "10.77.0.2")
_PROGRAMS = ("ip", "nsenter", "unshare")
_LINK = "tfdist0"
_SPACES = {"net": "net", "mount": "mnt"}  # without mounts of their own, hosts share unix sockets


def missing() -> str:
    """Return why there can be no hosts, "" if there can."""
    absent = [name for name in _PROGRAMS if shutil.which(name) is None]
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    if absent:
        return f"there is no program {' or '.join(absent)}"
    tried = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, text=True)
    return tried.stderr.strip()


class Hosts:
    """The two hosts; a context manager. Each has one address of `ADDRESSES`."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._pids: list[int] = []

    def __enter__(self) -> Hosts:
        with ExitStack() as stack:
            for _ in ADDRESSES:
                holder = stack.enter_context(
                    subprocess.Popen(
                        ["unshare", "--net", "--mount", "sh", "-c", "echo; exec cat"],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                    )
                )
                assert holder.stdout is not None
                holder.stdout.readline()  # it has its namespace
                self._pids.append(holder.pid)
            other = ["peer", "name", _LINK, "netns", str(self._pids[1])]
            self.run(0, "ip", "link", "add", _LINK, "type", "veth", *other)
            for host, address in enumerate(ADDRESSES):
                self.run(host, "ip", "addr", "add", f"{address}/24", "dev", _LINK)
                self.run(host, "ip", "link", "set", "lo", "up")
                self.run(host, "ip", "link", "set", _LINK, "up")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def command(self, host: int, *words: str) -> list[str]:
        """Return what runs `words` on a host: 0 or 1."""
        spaces = [f"--{each}=/proc/{self._pids[host]}/ns/{name}" for each, name in _SPACES.items()]
        return ["nsenter", *spaces, f"--wd={os.getcwd()}", *words]

    def run(self, host: int, *words: str) -> None:
        """Run a program on a host until it ends."""
        subprocess.run(self.command(host, *words), check=True, capture_output=True)

    def cut(self) -> None:
        """Let nothing through between the hosts any more."""
        self.run(1, "ip", "link", "set", _LINK, "down")

    def heal(self) -> None:
        """Let everything through again."""
        self.run(1, "ip", "link", "set", _LINK, "up")


def serving(cluster: str, job: str, index: int) -> Sequence[str]:
    """Return the words that serve a task of a cluster."""
    task = ["--cluster", cluster, "--job", job, "--task", str(index)]
    return [sys.executable, "-m", "tfdist", "serve", *task]
