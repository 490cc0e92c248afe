"""Where a row of the bench happens: what it starts ends with it, and nothing is left behind."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import tfdist as tf
from tests.conftest import listening_ports, live_threads, remaining, socket_inodes
from tests.faults.calls import Running
from tests.faults.probes import children
from tests.faults.processes import Process, Task, free_addresses
from tests.faults.proxy import Proxy

CLIENT = Path(__file__).with_name("client.py")
PATIENCE = 5.0  # seconds in which threads, ports and processes may end
Key = tuple[str, int]  # job and index


class Place:
    """Starts servers, clients, sessions and calls for one row; a context manager.

    Each place has a graph of its own, which is the default graph of the thread that enters it.

    Args:
      slowness: how many times longer than on an idle machine things may take.
    """

    def __init__(self, slowness: float = 1.0) -> None:
        self._stack = ExitStack()
        self._slowness = slowness

    def __enter__(self) -> Place:
        self._stack.enter_context(nothing_left())
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tfdist-faults-"))
        self.folder = Path(folder)
        self._stack.enter_context(tf.Graph().as_default())
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    def tasks(
        self,
        jobs: Mapping[str, int],
        absent: Sequence[Key] = (),
        environment: Mapping[str, str] | None = None,
        detours: Callable[[dict[str, list[str]]], Mapping[Key, Mapping[Key, str]]] | None = None,
    ) -> dict[Key, Task]:
        """Start a cluster of server processes, and wait until they are ready.

        Args:
          jobs: number of tasks by job.
          absent: tasks that are not started.
          environment: further variables of the processes.
          detours: takes the addresses by job; returns for a task at which other addresses it
            finds others.
        """
        addresses = iter(free_addresses(sum(jobs.values())))
        cluster = {job: [next(addresses) for _ in range(count)] for job, count in jobs.items()}
        seen = detours(cluster) if detours else {}
        tasks = {
            (job, i): Task(
                _with(cluster, seen.get((job, i), {})), job, i, self.folder, environment or {}
            )
            for job, count in jobs.items()
            for i in range(count)
        }
        for task in tasks.values():
            self._stack.callback(task.end)
        present = [task for key, task in tasks.items() if key not in absent]
        for task in present:
            task.begin()
        for task in present:
            task.wait_ready()
        return tasks

    def stretched(self, seconds: float) -> float:
        """Return how long what takes so many seconds on an idle machine may take here."""
        return seconds * self._slowness

    def proxy(self, address: str) -> Proxy:
        """Start a proxy for the server at an address."""
        proxy = Proxy(address)
        self._stack.callback(proxy.close)
        return proxy

    def session(
        self,
        task: Task | str,
        filters: Sequence[Task] = (),
        timeout: float | None = None,
        graph: Any = None,
    ) -> Any:
        """Return a session, closed at the end.

        Args:
          task: or address, of its master.
          filters: tasks that it spans besides; all of the cluster by default.
          timeout: its `operation_timeout_in_ms`, in seconds.
          graph: by default the default graph.
        """
        config = tf.ConfigProto(device_filters=[each.name for each in filters])
        if timeout is not None:
            config.operation_timeout_in_ms = int(timeout * 1000)
        address = task if isinstance(task, str) else task.address
        session = tf.Session(f"grpc://{address}", graph=graph, config=config)
        self._stack.callback(session.close)
        return session

    def call(self, function: Callable[..., Any], *args: Any) -> Running:
        """Call a function in a thread."""
        return Running(function, *args)

    def client(self, *words: str, environment: Mapping[str, str] | None = None) -> Process:
        """Start `client.py`, and end it at the end."""
        command = [sys.executable, str(CLIENT), *words]
        process = Process(command, self.folder / "client.log", environment or {})
        self._stack.callback(process.end)
        return process

    def enter(self, context: Any) -> Any:
        """Enter a context that lasts as long as the place."""
        return self._stack.enter_context(context)


def _with(cluster: Mapping[str, list[str]], detours: Mapping[Key, str]) -> dict[str, list[str]]:
    return {
        job: [detours.get((job, i), address) for i, address in enumerate(addresses)]
        for job, addresses in cluster.items()
    }


@contextmanager
def nothing_left() -> Iterator[None]:
    """Raise AssertionError at the end if a child process, port or thread is left."""
    before = _everything()
    yield
    deadline = time.monotonic() + PATIENCE
    left = remaining(lambda: _everything() - before, deadline)
    assert not left, f"left behind: {', '.join(sorted(map(str, left)))}"


def _everything() -> set[Any]:
    ports = {f"port {port}" for port in listening_ports(socket_inodes())}
    processes = {f"process {pid}" for pid in children(os.getpid())}
    threads = {thread for thread in live_threads() if thread is not threading.current_thread()}
    return ports | processes | threads


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process, and of those that it starts, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
