"""A cluster of tasks of several kinds, and a client that runs programs there: one direction.

    unshare -n python trial.py '{"interpreters": {...}, "client": ..., "tasks": {...}}' PROGRAM...

It wants a network of its own, since real TensorFlow's servers listen on every interface. It prints
what the client prints; after a program that did not end, and after a task has died, all processes
are new.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

SIDE = Path(__file__).with_name("side.py")
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}
FIRST_PORT = 2222


def trial(interpreters: dict[str, str], client: str, tasks: dict[str, str], names: list[str]):
    """Run programs until none is left.

    Args:
      interpreters: Python by kind of side.
      client: the client's kind.
      tasks: kind by task, such as "worker:0".
      names: of the programs.
    """
    while names:
        done = [name for name, _ in outcomes(interpreters, client, tasks, names)]
        if not done:
            raise SystemExit(f"the client ended before {names[0]}")
        names = names[len(done) :]


def outcomes(
    interpreters: dict[str, str], client: str, tasks: dict[str, str], names: list[str]
) -> Iterator[tuple[str, object]]:
    """Start a cluster and a client; yield and print what it prints."""
    spec = spec_of(tasks)
    with ExitStack() as stack:
        servers = {}
        for task, kind in tasks.items():
            job, index = task.split(":")
            settings = {"api": kind, "spec": spec, "job": job, "task": int(index)}
            servers[task] = stack.enter_context(started(interpreters[kind], "serve", settings))
        for server in servers.values():
            server.stdout.readline()
        settings = {
            "api": client,
            "target": f"grpc://{spec['worker'][0]}",
            "servers": {task: server.pid for task, server in servers.items()},
            "spec": spec,
        }
        for line in stack.enter_context(
            started(interpreters[client], "run", settings, names)
        ).stdout:
            print(line, end="", flush=True)
            yield json.loads(line)


def spec_of(tasks: dict[str, str]) -> dict[str, list[str]]:
    """Return the addresses of the tasks, by job."""
    spec: dict[str, list[str]] = {}
    for number, task in enumerate(tasks):
        spec.setdefault(task.split(":")[0], []).append(f"localhost:{FIRST_PORT + number}")
    return spec


@contextmanager
def started(python: str, action: str, settings: object, names: list[str] = ()):
    """Give a side's process, which is ended afterwards."""
    command = [python, SIDE, action, json.dumps(settings), *names]
    environment = {**os.environ, **QUIET}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        yield process
        process.kill()


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    settings, *names = sys.argv[1:]
    trial(**json.loads(settings), names=names)
