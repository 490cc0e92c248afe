"""What `tfdist fork` does: a process that has imported all that a server needs, and forks servers.

A server of its own process spends most of its start on imports; a fork has them, and shares their
memory. Forking is safe here and only here: the fork server has one thread, has never used gRPC, and
does nothing but this. `forked_process` is the other end, in the process that wants servers.

Its standard input is a socket. A message there has no content but six descriptors: a file with
the server's arguments, its standard input, output and error, where its exit code goes, and where
code comes from that it is to run (`cells`). The answer is its process id, with a descriptor of the
process. When the socket has ended and so have all its children, it ends; when the process that
started it is gone, at once, and so do they (see `serve`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tfdist.launch.open_files import allow_many_files
from tfdist.protos import pb

MESSAGE = b"fork"
_DESCRIPTORS = 6  # of a message
ARGUMENTS, STDIN, STDOUT, STDERR, EXIT_CODE, CELLS = range(_DESCRIPTORS)
LOOK_AT_PARENT = 1.0  # seconds between two looks

# What a server imports until it has run the first steps of a training.
_PRELOADED = (
    "encodings.idna", "google.protobuf.text_format", "grpc._channel", "grpc._utilities",
    "importlib.metadata", "tfdist.launch.allocator", "tfdist.launch.crash", "tfdist.launch.serve",
    "tfdist.ops.array.broadcast", "tfdist.ops.array.constants", "tfdist.ops.array.fill",
    "tfdist.ops.framework.transfer", "tfdist.ops.math.arithmetic", "tfdist.ops.math.matmul",
    "tfdist.ops.nn.cross_entropy", "tfdist.ops.nn.softmax", "tfdist.ops.random.random_ops",
    "tfdist.ops.variables.state_ops", "tfdist.plan.compiling.compile",
    "tfdist.runtime.step.async_driver", "tfdist.wire.peers.census",
    "tfdist.wire.peers.remote_peers", "tfdist.wire.peers.renamed_peers", "tfdist.wire.peers.why",
    "tfdist.wire.services.logged_run",
)  # fmt: skip


class _Child(NamedTuple):
    pid: int
    exit_code: int  # descriptor


class ForkServer:
    """Forks as often as it is asked.

    Args:
      requests: where messages come from.
    """

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._parent = os.getppid()
        self._children: dict[int, _Child] = {}  # by descriptor of the process
        self._is_open = True

    def run(self) -> list[str] | None:
        """Return in each child its arguments, and None in the server itself, at its end."""
        for module in _PRELOADED:
            importlib.import_module(module)
        _find_out()
        allow_many_files()
        gc.freeze()  # a collection would write to the pages that the children share
        while (self._is_open or self._children) and os.getppid() == self._parent:
            for each in self._ready():
                if each in self._children:
                    self._tell_end(each)
                elif (arguments := self._take()) is not None:
                    return arguments
        return None

    def _ready(self) -> list[int]:
        watched = select.poll()  # `select` knows a thousand descriptors only
        for each in [*self._children, *([self._requests.fileno()] if self._is_open else [])]:
            watched.register(each, select.POLLIN)
        return [each for each, _ in watched.poll(LOOK_AT_PARENT * 1000)]

    def _take(self) -> list[str] | None:
        """Take a message; returns in the child its arguments."""
        content, descriptors, _, _ = socket.recv_fds(self._requests, len(MESSAGE), _DESCRIPTORS)
        self._is_open = bool(content)
        try:
            pid = os.fork() if len(descriptors) == _DESCRIPTORS else None
        except OSError:  # no more processes
            pid = None
        if pid == 0:
            _close(self._requests.fileno(), *self._children)
            _close(*(child.exit_code for child in self._children.values()))
            return _become(descriptors)
        if pid is not None:
            process = os.pidfd_open(pid)
            self._children[process] = _Child(pid, descriptors.pop(EXIT_CODE))
            self._answer(str(pid), process)
        elif self._is_open:
            self._answer("none")
        _close(*descriptors)
        return None

    def _answer(self, text: str, *descriptors: int) -> None:
        with contextlib.suppress(OSError):  # nobody waits for it any more
            socket.send_fds(self._requests, [text.encode()], descriptors)

    def _tell_end(self, process: int) -> None:
        child = self._children.pop(process)
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(OSError):
            os.write(child.exit_code, str(os.waitstatus_to_exitcode(status)).encode())
        _close(child.exit_code, process)


def _find_out() -> None:
    """Find out what a process finds out once, when it is first asked."""
    from tfdist.base import onednn
    from tfdist.graph.op_def import REGISTRY
    from tfdist.runtime.devices.kernel_threads import find_libraries
    from tfdist.wire.services.inspection import own_version

    pb.GraphDef()  # reads the descriptors of all messages
    own_version()
    onednn.is_available()
    find_libraries()
    for op_def in REGISTRY.defined():
        REGISTRY[op_def.name].signature  # noqa: B018  # parses it


def _become(descriptors: Sequence[int]) -> list[str]:
    """Make this process, a fork, the server that was asked for, and return its arguments."""
    parent = os.getppid()
    with open(descriptors[ARGUMENTS], encoding="utf-8") as file:
        file.seek(0)
        arguments: list[str] = json.load(file)
    for number, descriptor in enumerate(descriptors[STDIN : STDERR + 1]):
        os.dup2(descriptor, number)
    _close(*descriptors[STDIN:CELLS])
    os.setsid()
    signal.set_wakeup_fd(-1)
    if "numpy.random" in sys.modules:  # or all would draw the same numbers
        sys.modules["numpy.random"].seed()
    with contextlib.suppress(OSError):  # what `ps -e` and `top` show
        Path("/proc/self/comm").write_text(_short_name(arguments))
    return [*arguments, "--parent", str(parent), "--cells", str(descriptors[CELLS])]


def _short_name(arguments: list[str]) -> str:
    """Return "tfd worker:1", of the 15 characters that Linux keeps."""
    job, task = (arguments[arguments.index(option) + 1] for option in ("--job", "--task"))
    return f"tfd {job}:{task}"


def _close(*descriptors: int) -> None:
    for each in descriptors:
        os.close(each)
