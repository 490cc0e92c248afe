"""Latency of clients and servers of tfdist and TensorFlow, each asking the other.

    python tests/benchmarks/interop.py --tensorflow PYTHON [--tensorflow PYTHON] [--rounds 15]

Every kind has a parameter server and a worker, processes of one network namespace, and a client.
Each round goes to all pairs in turn, so that a noisy moment hits all alike. Shown are the median of
the rounds and the quickest one, which counts on a machine that is busy with other things. A ratio
is to TensorFlow with itself, of the version in the pair; that of tfdist with itself to the quickest
of them. Below 1 is quicker.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from compare import aligned, duration_text, environment, isolated
from interop_client import ROWS
from measure import raise_loopback
from timed import free_cluster

HERE = Path(__file__).resolve().parent
OWN = "--own-network"


class Kind(NamedTuple):
    """tfdist, or a TensorFlow: its client's process, and the cluster of its servers."""

    name: str
    client: subprocess.Popen[str]
    cluster: dict[str, list[str]]

    def ask(self, row: str, server: Kind) -> dict[str, Any]:
        """Return {"seconds": ...} or {"error": ...} of one round at the servers of a kind."""
        assert self.client.stdin is not None
        self.client.stdin.write(f"{json.dumps({'row': row, 'cluster': server.cluster})}\n")
        self.client.stdin.flush()
        return answer(self.client)


def answer(client: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the next answer of a client."""
    assert client.stdout is not None
    line = client.stdout.readline()
    return json.loads(line) if line else {"error": "the client ended"}


def main(arguments: Sequence[str]) -> None:
    """Measure and print, in a network namespace of its own if there can be one."""
    if OWN not in arguments:
        command = isolated([sys.executable, __file__, *arguments])
        if command[-1] == OWN:
            os.execvp(command[0], command)
    else:
        raise_loopback()
    options = parser().parse_args(arguments)
    pythons = [(sys.executable, "tfdist"), *((each, "tensorflow") for each in options.tensorflow)]
    with ExitStack() as stack:
        kinds = [stack.enter_context(started(*each)) for each in pythons]
        pairs = [(c, s) for c, s in product(kinds, kinds) if c is s or kinds[0] in (c, s)]
        for row in options.rows or ROWS:
            rounds = [[c.ask(row, s) for c, s in pairs] for _ in range(options.rounds)]
            print(table(row, pairs, [*zip(*rounds, strict=True)]), "\n", flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument(
        "--tensorflow", metavar="PYTHON", action="append", default=[], help="may be repeated"
    )
    found.add_argument("--rows", metavar="NAME", nargs="+", choices=ROWS, help="all by default")
    found.add_argument("--rounds", type=int, default=15, help="15 by default")
    found.add_argument(OWN, action="store_true", help=argparse.SUPPRESS)
    return found


@contextmanager
def started(python: str, module: str) -> Iterator[Kind]:
    """Give a kind's client, once its servers serve; all of them are ended afterwards."""
    cluster = free_cluster({"ps": 1, "worker": 1})
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                process([python, "serve_task.py", module, json.dumps(cluster), job, "0"])
            )
            for job in cluster
        ]
        for server in servers:
            assert server.stdout is not None
            server.stdout.readline()
        client = stack.enter_context(process([python, "interop_client.py", module]))
        version = answer(client)["version"]
        name = module if module == "tfdist" else f"TensorFlow {version}"
        yield Kind(name, client, cluster)


@contextmanager
def process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Give a process that runs a script of this folder, with pipes; it is ended afterwards."""
    python, script, module, *rest = command
    with subprocess.Popen(
        [python, str(HERE / script), module, *rest],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(module),
    ) as found:
        try:
            yield found
        finally:
            found.kill()


def table(row: str, pairs: Sequence[tuple[Kind, Kind]], answers: Sequence[Any]) -> str:
    """Return a row's table as text: a line for each pair, errors below."""
    taken = {
        (client.name, server.name): [each["seconds"] for each in given if "seconds" in each]
        for (client, server), given in zip(pairs, answers, strict=True)
    }
    lines = [[row, "median", "ratio", "quickest", "ratio"]]
    for pair in taken:
        cells = [cell for middle in (statistics.median, min) for cell in shown(pair, taken, middle)]
        lines.append([" -> ".join(pair), *cells])
    errors = [each["error"] for given in answers for each in given[:1] if "error" in each]
    return "\n".join([aligned(lines), *errors])


def shown(
    pair: tuple[str, str], taken: dict[tuple[str, str], list[float]], middle: Callable[..., float]
) -> tuple[str, str]:
    """Return the time of a pair, and how it is to that of TensorFlow with itself."""
    if not taken[pair]:
        return "failed", ""
    versions = {*pair} - {"tfdist"} or {name for each in taken for name in each} - {"tfdist"}
    alone = [middle(taken[each, each]) for each in versions if taken.get((each, each))]
    seconds = middle(taken[pair])
    return duration_text(seconds), f"{seconds / min(alone):.2f}" if alone else ""


if __name__ == "__main__":
    main(sys.argv[1:])
