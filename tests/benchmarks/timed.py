"""What is timed of a row, and the servers and sessions that rows need.

Runs under Python 3.7 too, the newest one that TensorFlow 1.15 knows.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from task_process import TaskProcess


def nothing(*_: Any) -> None:
    """Do nothing."""


class Timed(NamedTuple):
    """What is timed, and what is not.

    Attributes:
      step: timed; called with what `prepare` returned, if there is one.
      prepare: called before each step, not timed.
      close: called after the last step.
    """

    step: Callable[..., Any]
    prepare: Callable[[], Any] | None = None
    close: Callable[[], None] = nothing


def start(
    tf: Any, jobs: dict[str, int], here: int | None = None, modules: Sequence[str] = ()
) -> list[Any]:
    """Return servers for all tasks of a cluster, at free ports; a worker first.

    Args:
      tf: whose servers.
      jobs: number of tasks by job.
      here: so many of them are in this process; all by default.
      modules: that the other processes import, for the ops that they define.
    """
    cluster = free_cluster(jobs)
    tasks = [(job, index) for job in sorted(jobs, reverse=True) for index in range(jobs[job])]
    here = len(tasks) if here is None else here
    servers: list[Any] = []
    with stopped_on_error(servers):
        servers += [TaskProcess(tf, cluster, *task, *modules) for task in tasks[here:]]
        servers[:0] = [tf.train.Server(cluster, job, index) for job, index in tasks[:here]]
        for process in servers[here:]:
            process.wait()
    return servers


def free_cluster(jobs: dict[str, int]) -> dict[str, list[str]]:
    """Return the addresses of each job's tasks, "localhost:PORT" with ports that are free now."""
    with ExitStack() as holders:  # all held at a time, else a port might be found twice
        return {job: [free_address(holders) for _ in range(jobs[job])] for job in jobs}


def free_address(holders: ExitStack) -> str:
    """Return "localhost:PORT" with a port that stays free until `holders` is closed."""
    while True:
        holder = holders.enter_context(socket.socket())
        # below those that the system gives by itself to others before a task is there
        port = random.randrange(20_000, 32_000)
        with suppress(OSError):
            holder.bind(("127.0.0.1", port))
            return f"localhost:{port}"


def initialised(tf: Any, servers: Sequence[Any] = ()) -> Any:
    """Return a session, on the first server if there are some, with all variables initialised."""
    with stopped_on_error(servers):
        session = tf.Session(servers[0].target if servers else "")
        session.run(tf.global_variables_initializer())
        return session


def running(
    session: Any, fetches: Any, feeds: dict[Any, Any] | None = None, servers: Sequence[Any] = ()
) -> Timed:
    """Return a step that runs `fetches`."""
    return Timed(lambda: session.run(fetches, feeds), close=lambda: close(session, servers))


def close(session: Any, servers: Sequence[Any]) -> None:
    """Close the session and stop the servers."""
    session.close()
    stop(servers)


def stop(servers: Sequence[Any]) -> None:
    """Stop the servers, where that can be done."""
    for server in servers:
        getattr(server, "stop", nothing)()


@contextmanager
def stopped_on_error(servers: Sequence[Any]) -> Iterator[None]:
    """Stop `servers` if the block fails."""
    try:
        yield
    except BaseException:
        stop(servers)
        raise
