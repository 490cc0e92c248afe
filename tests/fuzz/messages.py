"""Malformed messages: recorded calls, mutated, and what a server must do with them.

Every call gets an answer in time; an error is of TensorFlow's classes, in words of ours; a
bystander's session goes on computing what is right, and nothing is left running.

By hand, any number: `python -m tests.fuzz.messages --cases 100000 --seed 7 --transport local`.
What fails prints its case; `--only CASE` plays that one again and shows the message.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults import probes
from tests.fuzz.mutations import mutate, mutated_bytes
from tests.fuzz.recordings import MAY_WAIT, Outcome, Player, Recording, record
from tests.fuzz.verdicts import complaint
from tests.wire.calls_at import Asker, calls_at, node, step_request, tensor
from tfdist.base.dtypes import float32
from tfdist.errors import AbortedError, OpError
from tfdist.graph.tensor_proto import make_ndarray
from tfdist.wire.server import Server

TRANSPORTS = {"grpc": "grpc", "local": "local path"}
_MEMORY = 6 << 30  # bytes of addresses that a server in a process of its own may have
_OFTEN = 2000  # cases between two looks at what the server has
_ROOT = Path(__file__).resolve().parents[2]


class Failure(NamedTuple):
    """A case that a server did not answer as it must."""

    seed: int
    case: int
    recording: str
    done: str
    what: str

    def __format__(self, width: str) -> str:
        return format(str(self), width)

    def __str__(self) -> str:
        return (
            f"--seed {self.seed} --only {self.case} ({self.recording}: {self.done}):\n  {self.what}"
        )


class Bystander:
    """A session that has nothing to do with what else goes on at a server."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        x = node("x", "Placeholder", dtype=float32)
        self._nodes = x, node("y", "AddV2", "x", "x", T=float32)
        self._handle = asker.session(*self._nodes)
        self._count = 0

    def complaint(self) -> str:
        """Return what is wrong with its next step, "" if nothing is."""
        self._count += 1
        try:
            got = self._computed()
        except AbortedError:  # a mutation reset the server, as anybody may
            self._handle = self._asker.session(*self._nodes)
            got = self._computed()
        except OpError as error:
            return f"a bystander got {error!r}"
        return "" if got == 2 * self._count else f"a bystander got {got}, not {2 * self._count}"

    def _computed(self) -> float:
        feed = {"x:0": tensor(float(self._count))}
        [fetched] = self._asker.ask(
            step_request(self._handle, feed, fetch=["y:0"], request_id=0)
        ).tensor
        return float(make_ndarray(fetched.tensor))


class Fuzzer:
    """Plays mutated recordings on one server.

    Args:
      asker: asks the server.
      seed: of all cases.
    """

    def __init__(self, asker: Asker, seed: int) -> None:
        self._asker, self._seed = asker, seed
        self._recordings = record(asker.caller)
        self._players: dict[str, Player] = {}  # with an open session, by recording
        self._bystander = Bystander(asker)
        self.answers: Counter[str] = Counter()
        self.messages: list[Any] = []

    def failure(self, case: int) -> Failure | None:
        """Play a case; returns what is wrong with its answers."""
        rng = random.Random(f"{self._seed}/{case}")
        recording = rng.choice(self._recordings)
        at = rng.randrange(len(recording.calls))
        done = [recording.calls[at].method]

        def change(request: Any) -> bytes:
            if rng.random() < 0.25:
                done.append("bytes")
                return mutated_bytes(rng, request.SerializeToString())
            done.append(mutate(rng, request))
            self.messages.append(request)
            return request.SerializeToString()

        player = self._players.pop(recording.name, None) if at >= recording.opening else None
        player = player or Player(self._asker.caller, recording)
        try:
            outcomes = player.play(rng, at, change)
        finally:
            self._keep(player, recording)
        what = self._judged(outcomes) or self._bystander.complaint()
        return Failure(self._seed, case, recording.name, ", ".join(done), what) if what else None

    def _keep(self, player: Player, recording: Recording) -> None:
        if player.is_spent:
            player.close()
        else:
            self._players[recording.name] = player

    def close(self) -> None:
        """Close all sessions."""
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _judged(self, outcomes: list[Outcome]) -> str:
        found = ""
        for outcome in outcomes:
            error = outcome.error
            self.answers[type(error).__name__ if error else "answer"] += outcome.mutated
            if error is None or (outcome.gave_up and outcome.method in MAY_WAIT):
                continue
            wrong = complaint(error)
            if wrong:
                trace = f"\n{error.remote_traceback}" if error.remote_traceback else ""
                found = found or f"{outcome.method}: {wrong}: {error!r}{trace}"
        return found


@contextmanager
def server_here() -> Iterator[Server]:
    """Give a server in this process."""
    with Server({"a": ["localhost:0"]}, inproc=False) as server:
        yield server


class ServerThere(NamedTuple):
    """A server in a process of its own."""

    address: str
    pid: int

    def footprint(self) -> str:
        """Return what the process has: memory, threads and files."""
        mib = probes.memory(self.pid) // probes.MIB
        return f"{mib} MiB, {probes.threads(self.pid)} threads, {probes.files(self.pid)} files"


@contextmanager
def server_there() -> Iterator[ServerThere]:
    """Give a server in a process of its own, which is alive at the end."""
    words = [sys.executable, "-m", "tests.fuzz.messages", "--serve"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT) as child:
        assert child.stdin
        assert child.stdout
        try:
            yield ServerThere(child.stdout.readline().decode().strip(), child.pid)
            assert child.poll() is None, f"the server's process ended with {child.returncode}"
        finally:
            child.stdin.close()
            child.wait(20)


def serve() -> None:
    """Be a server until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with server_here() as server:
        print(server.address, flush=True)
        sys.stdin.read()


def main(words: list[str]) -> int:
    """Play cases as the command line says; returns how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz.messages")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", type=int, action="append", help="play this case, show its message"
    )
    parser.add_argument("--transport", choices=TRANSPORTS, default="grpc")
    parser.add_argument("--serve", action="store_true", help="be the server of another process")
    parser.add_argument("--stop", type=int, default=50, help="after so many failures")
    asked = parser.parse_args(words)
    if asked.serve:
        serve()
        return 0
    with server_there() as server, calls_at(server.address, TRANSPORTS[asked.transport]) as asker:
        return _play(Fuzzer(asker, asked.seed), asked, server)


def _play(fuzzer: Fuzzer, asked: Any, server: ServerThere) -> int:
    failed, began, slow = 0, time.monotonic(), (0.0, 0)
    for case in asked.only or range(asked.cases):
        if case and case % _OFTEN == 0:
            print(f"{case} cases: {server.footprint()}", flush=True)
        start = time.monotonic()
        failure = fuzzer.failure(case)
        slow = max(slow, (time.monotonic() - start, case))
        failed += failure is not None
        if failure is not None:
            print(failure if asked.only else f"{failure:.600}", flush=True)
        if asked.only:
            print(*fuzzer.messages[-1:])
        if failed >= asked.stop:
            break
    fuzzer.close()
    seconds = time.monotonic() - began
    print(f"{failed} failed in {seconds:.1f} s; slowest: {slow}; answers: {dict(fuzzer.answers)}")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
