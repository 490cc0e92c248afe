"""What can be wrong with an installation, and what follows from what is there.

`tfdist doctor` prints the findings; `%tfdist doctor` adds those that only a notebook has.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Iterator
from platform import platform, python_version
from typing import NamedTuple

from tfdist.base import onednn
from tfdist.base.extras import OPTIONAL, installed, missing_line
from tfdist.errors import OpError
from tfdist.launch.connection_file import SUFFIX, connections, runtime_folder
from tfdist.launch.engines import tensorflow_python
from tfdist.launch.outcome import cause_of
from tfdist.launch.start import why_no_tensorflow
from tfdist.wire.server import start_servers

# Without these nothing works; `base.extras` knows those that an extra brings.
LIBRARIES = (
    "numpy", "protobuf", "grpcio", "absl-py", "google-crc32c", "google-re2", "ml_dtypes",
    "threadpoolctl", "pillow", "jupyter_core",
)  # fmt: skip


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
      name: of what.
      told: what is there, and what that means.
      is_wrong: whether something has to be done about it.
    """

    name: str
    told: str
    is_wrong: bool = False


def examine(wanted: Collection[str] = ()) -> Iterator[Finding]:
    """Yield what is found, one thing after the other.

    Args:
      wanted: extras whose absence is wrong here, as "notebook" in a notebook.
    """
    yield Finding("Python", f"Python {python_version()}, {platform()}")
    for name in LIBRARIES:
        found = installed(name)
        yield Finding(name, found or f"is missing: pip install {name}", not found)
    yield from optional_findings(wanted)
    problem = port_problem()
    yield Finding("loopback", problem or "ports can be bound", bool(problem))
    yield Finding("servers here", f"talk by {', '.join(ways_between_processes())}")
    yield Finding("convolutions", convolutions_line())
    yield Finding("TensorFlow", tensorflow_line())
    yield Finding("runtime", runtime_line())


def optional_findings(wanted: Collection[str]) -> Iterator[Finding]:
    """Yield the version of each optional library, or what it would be for."""
    for name, library in OPTIONAL.items():
        found = installed(name)
        yield Finding(name, found or missing_line(name), not found and library.extra in wanted)


def port_problem() -> str:
    """Return why servers cannot have ports on the loopback, or ""."""
    try:
        for server in start_servers({"worker": 2}):
            server.stop()
    except (OSError, OpError) as error:
        return f"has no port for a server: {error}"
    return ""


def ways_between_processes() -> Iterator[str]:
    """Yield the ways in which servers on this host reach one another."""
    yield "gRPC"
    if hasattr(socket, "AF_UNIX"):
        yield "unix sockets"
    if hasattr(os, "memfd_create"):
        yield "shared memory (memfd)"


def convolutions_line() -> str:
    """Return what computes convolutions."""
    if onednn.is_available():
        return f"by oneDNN {onednn.version()}"
    return "by NumPy; several times faster where there is oneDNN: pip install 'tfdist[onednn]'"


def tensorflow_line() -> str:
    """Return where servers of TensorFlow itself would come from, or why there can be none."""
    reason = why_no_tensorflow()
    return f"no servers: {reason}" if reason else f"servers by {tensorflow_python()}"


def runtime_line() -> str:
    """Return where connection files are, with which notebooks find each other's clusters.

    Files of kernels that are gone are removed on the way.
    """
    try:
        folder = runtime_folder()
        before = set(folder.glob(f"*{SUFFIX}"))
        count = len(connections())
        gone = len(before) - len(before & set(folder.glob(f"*{SUFFIX}")))
    except (OSError, OpError) as error:
        return f"has no folder, so other notebooks find no cluster: {cause_of(error)}"
    stale = f"; removed {gone} file{'s' * (gone != 1)} of kernels that are gone" if gone else ""
    return f"folder {folder}: {count} cluster{'s' * (count != 1)} running{stale}"
