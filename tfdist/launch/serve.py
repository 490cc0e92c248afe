"""What `tfdist serve` does: one server in this process, from its first line to its last.

It ends by Ctrl-C or SIGTERM, after a short grace for running steps. With a parent it also ends
when that is gone: the server's standard input is then a lifeline that ends with whoever holds its
other end (`server_process` tells what may come over it). A forked child of the parent may hold
that end too, so once a second the server looks whether its parent's process id has changed.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdist.cluster.resolve import Role
from tfdist.errors import AlreadyExistsError
from tfdist.launch.cells import run_cells
from tfdist.launch.clusters import port_of
from tfdist.launch.end_signals import let_signals_end_the_process, wakeup
from tfdist.launch.open_files import allow_many_files
from tfdist.launch.own_name import is_here_in_time
from tfdist.launch.ports import taken
from tfdist.wire.server import Server, device_config

LOOK_AT_PARENT = 1.0  # seconds between two looks
STDIN, STDOUT, STDERR = 0, 1, 2


@dataclass(frozen=True)
class Settings:
    """How a server runs.

    Attributes:
      cpus: CPU devices.
      gpus: simulated GPUs.
      cells: descriptor of the socket that brings code to run here, or None; see `cells`.
      grace: seconds that running steps may still take after Ctrl-C or SIGTERM.
      ready_file: that gets the line "serves at ..." when the server is ready, or None.
      parent: process id of the process that the server ends with, or None.
    """

    cpus: int = 1
    grace: float = 1.0
    ready_file: Path | None = None
    parent: int | None = None
    gpus: int = 0
    cells: int | None = None


def serve(role: Role, settings: Settings) -> None:
    """Serve until somebody asks for the end.

    Raises:
      AlreadyExistsError: the port is taken.
      OSError: the file cannot be written.
      UnavailableError: the own name has no address here in time.
    """
    allow_many_files()
    config = device_config(settings.cpus, settings.gpus)
    grace = 0.0
    with wakeup() as signals:
        own = role.cluster.task_address(role.job, role.task)
        if settings.parent is None and not is_here_in_time(own, signals):
            return
        server = _server(role, config)
        server.task.may_be_disturbed = settings.parent is not None
        if settings.cells is not None:
            run_cells(settings.cells, {"__name__": "__main__", "server": server})
        try:
            with _announced(server, settings):
                grace = _wait_for_end(signals, settings)
        finally:
            let_signals_end_the_process()
            server.stop(grace)
    say_last_words(server)


def _server(role: Role, config: Any) -> Server:
    try:
        return Server(role.cluster, role.job, role.task, config=config, _only_serves=True)
    except AlreadyExistsError:
        port = port_of(role.cluster.task_address(role.job, role.task))
        raise AlreadyExistsError(
            f"{taken(port)}; `ss -ltnp` shows which, or give this task another port in the "
            "cluster's file"
        ) from None


def say_last_words(server: Server) -> None:
    """Say where the first line was said that this is a stop: who is killed says nothing."""
    with contextlib.suppress(OSError):  # nobody reads any more
        os.write(STDOUT, f"tfdist: {server.task_name} stopped\n".encode())


@contextlib.contextmanager
def _announced(server: Server, settings: Settings) -> Iterator[None]:
    line = (
        f"tfdist: {server.task_name} serves at {server.target} (pid {os.getpid()}); Ctrl-C stops it"
    )
    if settings.parent is not None:  # the log has this line, too
        print(line, file=sys.stderr, flush=True)
    print(line, flush=True)
    if settings.parent is not None:
        os.dup2(STDERR, STDOUT)  # the parent reads one line; whatever else is printed is logged
    if settings.ready_file is None:
        yield
        return
    _write_at_once(settings.ready_file, line + "\n")
    try:
        yield
    finally:
        settings.ready_file.unlink(missing_ok=True)


def _write_at_once(path: Path, text: str) -> None:
    """Write a file that is never seen half written."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _wait_for_end(signals: int, settings: Settings) -> float:
    """Wait until the server shall end and return the grace, in seconds."""
    if settings.parent is None:
        select.select([signals], [], [])
        return settings.grace
    while os.getppid() == settings.parent:
        ready, _, _ = select.select([signals, STDIN], [], [], LOOK_AT_PARENT)
        if signals in ready:
            return settings.grace
        if STDIN in ready:
            return _grace_asked_for(os.read(STDIN, 64))
    return 0.0


def _grace_asked_for(line: bytes) -> float:
    try:
        return max(0.0, float(line))
    except ValueError:  # the lifeline ended without a word
        return 0.0
