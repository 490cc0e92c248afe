"""The Dask task that is a task of a cluster, on its worker.

It leaves the worker's threads to other tasks (`secede`), which also keeps adaptive scaling from
retiring the worker, and runs the server as a child process. What the child says goes out as Dask
events; what it is told comes by `client.run`. It ends when the child does, or when Dask wants the
task no more: cancelled, its client gone, its worker closing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from tfdist.launch.exchange.child import ExchangeChild, serve_command
from tfdist.launch.exchange.messages import Message, decode, encode
from tfdist.launch.exchange.seat import Seat
from tfdist.launch.log_tail import added_lines
from tfdist.launch.server_process import TAIL, last_lines, own_environment

DaskWorker: TypeAlias = Any  # distributed.Worker, whose functions have no types

LOOK = 0.25  # seconds between two looks whether the task is still wanted
# Nannies set these to 1, for tasks that share a worker's threads; a server has them to itself.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
LOGGER = logging.getLogger("distributed.worker.tfdist")  # Dask's page of a worker's log shows it

_children: dict[str, ExchangeChild] = {}  # of this worker's process, by key


def serve(key: str, topic: str, seat: Seat, environment: Mapping[str, str]) -> str:
    """Be a task of a cluster until it ends, and return how it ended.

    Args:
      key: of this Dask task.
      topic: of the events that tell what the child says.
      seat: which task; its host is that of the worker.
      environment: variables of the child that differ from the worker's.
    """
    from distributed import get_worker, secede

    worker = get_worker()
    host = host_of(worker.contact_address or worker.address)
    secede()  # type: ignore[no-untyped-call]
    ended = []

    def heard(message: Message) -> None:
        ended.append(message)
        told = {"key": key, "worker": worker.address, "said": encode(message)}
        with contextlib.suppress(Exception):  # the worker closes
            worker.log_event(topic, told)

    log = log_file(worker, key)
    child = ExchangeChild(
        serve_command(replace(seat, host=host)), log, heard, _environment(worker, environment)
    )
    _children[key] = child
    shown = 0
    try:
        while not child.wait(LOOK) and _is_wanted(worker, key):
            shown = _show(seat.name, log, shown)
    finally:
        child.stop(seat.grace)
        del _children[key]
        _show(seat.name, log, shown)
    return encode(ended[-1])


def host_of(address: str) -> str:
    """Return the host of a Dask worker's address; the loopback one for a worker of this process."""
    from distributed.comm import get_address_host

    return "127.0.0.1" if address.startswith("inproc://") else str(get_address_host(address))


def log_file(worker: DaskWorker, key: str) -> Path:
    """Return where a worker keeps what the server of a task writes."""
    return Path(worker.local_directory) / f"{key}.log"


def _environment(worker: DaskWorker, given: Mapping[str, str]) -> dict[str, str]:
    threads = dict.fromkeys(THREADS, str(worker.state.nthreads))
    return {**own_environment(), **threads, **_certificates(worker.security), **given}


def _certificates(security: DaskWorker) -> dict[str, str]:
    """Return what has a process use a worker's certificates for Dask, as its configuration."""
    shown = {
        "CA_FILE": security.tls_ca_file,
        "CLIENT__CERT": security.tls_worker_cert,
        "CLIENT__KEY": security.tls_worker_key,
    }
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": text for name, text in shown.items() if text}


def _is_wanted(worker: DaskWorker, key: str) -> bool:
    """Return whether Dask still wants this task here."""
    from distributed import Status

    task = worker.state.tasks.get(key)
    runs = task is not None and task.state in ("executing", "long-running")
    return runs and worker.status in (Status.running, Status.paused)


def _show(name: str, log: Path, begin: int) -> int:
    """Hand new lines of a log on to Dask's, and return where the next ones begin."""
    with contextlib.suppress(OSError):
        lines, begin = added_lines(log, begin, TAIL)
        for line in lines:
            LOGGER.info("%s: %s", name, line)
    return begin


async def deliver(key: str, lines: list[str]) -> bool:
    """Say to the server of a task what lines mean, and return whether it is here."""
    child = _children.get(key)
    if child is None:
        return False
    with contextlib.suppress(OSError):  # it has just ended, which it tells itself
        for line in lines:
            # a child that is frozen must not freeze the worker's event loop
            await asyncio.to_thread(child.say, decode(line))
    return True


def kill(key: str) -> bool:
    """Kill the server of a task, and return whether it is here."""
    child = _children.get(key)
    if child is not None:
        child.kill()
    return child is not None


def tail(key: str, lines: int, dask_worker: DaskWorker) -> list[str]:
    """Return the last lines that the server of a task wrote; Dask gives the worker."""
    return last_lines(log_file(dask_worker, key), lines)
