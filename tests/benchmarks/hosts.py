"""What calls between two hosts take: bare sockets, tfdist by gRPC and by frames, and TensorFlow.

    python tests/benchmarks/hosts.py [--tensorflow PYTHON ...] [--rounds 10]

The hosts are two network namespaces of this machine, so that there is no wire whose speed counts:
root is needed. A parameter server and the client are on one, a worker on the other. Each round goes
to all kinds in turn; shown is the least time of all rounds, which counts on a machine that is busy
with other things, and what it comes to of a bare socket of the same kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from hosts_client import LARGE, LARGE_ROWS, ROWS  # noqa: E402

from tests.hosts import ADDRESSES, Hosts, missing  # noqa: E402

PLAIN, TLS = {"TFDIST_REMOTE": "plain"}, {"TFDIST_REMOTE": "tls"}
GRPC = {"TFDIST_TRANSPORT": "grpc"}


class Kind(NamedTuple):
    """A way of calling.

    Attributes:
      name: of it.
      raw: the kind of bare sockets that it is compared with.
      python: interpreter of its processes.
      module: what they import; "" for bare sockets.
      environment: variables of theirs.
    """

    name: str
    raw: str
    python: str = sys.executable
    module: str = "tfdist"
    environment: Mapping[str, str] = {}


KINDS = [
    Kind("bare TCP", "bare TCP", module=""),
    Kind("bare TLS", "bare TLS", module="", environment=TLS),
    Kind("tfdist, gRPC", "bare TCP", environment={**PLAIN, **GRPC}),
    Kind("tfdist, gRPC with TLS", "bare TLS", environment={**TLS, **GRPC}),
    Kind("tfdist, frames by TCP", "bare TCP", environment=PLAIN),
    Kind("tfdist, frames by TLS", "bare TLS", environment=TLS),
]


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    options = parser().parse_args(arguments)
    if missing():
        sys.exit(f"no hosts can be made here: {missing()}")
    others = [
        Kind(f"TensorFlow {version_of(each)}", "bare TCP", each, "tensorflow")
        for each in options.tensorflow
    ]
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts())
        keys = stack.enter_context(tempfile.TemporaryDirectory())
        make_keys(Path(keys))
        kinds = [each for each in (*KINDS, *others) if is_wanted(each, options.only)]
        clients = [
            started(stack, hosts, kind, 20_000 + 2 * i, keys) for i, kind in enumerate(kinds)
        ]
        rounds = [
            [[ask(client, row) for row in ROWS] for client in clients]
            for _ in range(options.rounds)
        ]
        print(table(kinds, rounds))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument(
        "--tensorflow", metavar="PYTHON", action="append", default=[], help="may be repeated"
    )
    found.add_argument("--rounds", type=int, default=10)
    found.add_argument("--only", metavar="WORD", default="", help="kinds whose name has it")
    return found


def is_wanted(kind: Kind, word: str) -> bool:
    """Return whether a kind is measured; bare sockets always are."""
    return word in kind.name or not kind.module


def version_of(python: str) -> str:
    """Return the version of an interpreter's TensorFlow."""
    code = "import tensorflow; print(tensorflow.__version__)"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def make_keys(folder: Path) -> None:
    """Write a certificate that both hosts may show."""
    from tfdist.launch.authority import Authority, write_identity

    write_identity(folder, Authority("hosts").identity(ADDRESSES))


def started(
    stack: ExitStack, hosts: Hosts, kind: Kind, port: int, keys: str
) -> subprocess.Popen[str]:
    """Return the client of a kind, whose servers are there."""
    variables = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "TFDIST_TLS": keys}
    variables.update(kind.environment)

    def begin(host: int, program: str, *words: str) -> subprocess.Popen[str]:
        command = hosts.command(host, kind.python, str(HERE / program), *words)
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, env=variables, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        stack.enter_context(process)
        return process

    if not kind.module:
        words = (ADDRESSES[1], str(port), keys if kind.environment is TLS else "")
        servers = [begin(1, "hosts_raw.py", "serve", *words)]
        client = ("hosts_raw.py", "ask", *words)
    else:
        cluster = json.dumps(
            {"ps": [f"{ADDRESSES[0]}:{port}"], "worker": [f"{ADDRESSES[1]}:{port + 1}"]}
        )
        tasks = enumerate(("ps", "worker"))
        servers = [begin(h, "serve_task.py", kind.module, cluster, job, "0") for h, job in tasks]
        client = ("hosts_client.py", kind.module, cluster)
    for server in servers:
        assert server.stdout is not None
        server.stdout.readline()  # it is ready
    process = begin(0, *client)
    assert process.stdout is not None
    assert process.stdout.readline(), f"the client of {kind.name} ended"
    return process


def ask(client: subprocess.Popen[str], row: str) -> dict[str, Any]:
    """Return what a client measured in a round."""
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(f"{row}\n")
    client.stdin.flush()
    line = client.stdout.readline()
    return json.loads(line) if line else {"error": "the client ended"}


def table(kinds: Sequence[Kind], rounds: Sequence[Sequence[Sequence[dict[str, Any]]]]) -> str:
    """Return the table, in Markdown."""
    found = {
        (kind.name, row): least([each[i][j] for each in rounds])
        for i, kind in enumerate(kinds)
        for j, row in enumerate(ROWS)
    }
    lines = [["", *ROWS], ["---"] * (1 + len(ROWS))]
    for kind in kinds:
        cells = [cell(row, found[kind.name, row], found[kind.raw, row]) for row in ROWS]
        lines.append([kind.name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def least(answers: Sequence[dict[str, Any]]) -> float | str:
    """Return the least time, or what went wrong."""
    times = [each["seconds"] for each in answers if "seconds" in each]
    return min(times) if times else str(answers[0]["error"])


def cell(row: str, found: float | str, raw: float | str) -> str:
    """Return a time, or the rate of a large message with its share of the bare socket's."""
    if isinstance(found, str):
        return found
    if row not in LARGE_ROWS:
        return f"{found * 1e3:.3g} ms"
    share = f" ({raw / found:.0%})" if isinstance(raw, float) and raw != found else ""
    return f"{LARGE / found / 1e6:,.0f} MB/s{share}"


if __name__ == "__main__":
    main(sys.argv[1:])
