"""Malformed streams of frames on the local path, with descriptors beside them.

Whoever sends them loses the connection or is answered; another connection goes on, no exception
reaches the loop, and no descriptor is left.

By hand, any number: `python -m tests.fuzz.streams --cases 20000 --seed 7`.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import logging
import os
import random
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.fuzz.mutations import mutated_bytes
from tests.wire.transports import local_listener
from tfdist.errors import OpError
from tfdist.wire.codec import frames
from tfdist.wire.codec.frames import LAST, MORE, PLACED, SPOILED, Kind, Place
from tfdist.wire.common.calls import Method
from tfdist.wire.frames import shared_memory
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.unix_sockets import UnixPath

ECHO = "/test.Test/Echo"
_PATIENCE = 20.0  # seconds
_PAUSE = 0.0002  # seconds in which an answer may come before the connection is given up
_SIZE = 1 << 16  # bytes of shared memory
_NUMBERS = (0, 1, 2, 3, 2**31, 2**63, 2**64 - 1)
_PLACES = (0, 1, 100, _SIZE - 1, _SIZE, 2**32, 2**64 - 1)


class Streams:
    """Sends streams to a listener of this process.

    Args:
      path: of its socket.
      seed: of all cases.
    """

    def __init__(self, path: str, seed: int) -> None:
        self._path, self._seed = path, seed
        self._caller = FramesCaller(UnixPath(path))
        self._told: list[str] = []
        self._handler = _Told(self._told)
        logging.getLogger("asyncio").addHandler(self._handler)

    def close(self) -> None:
        """Let go of the connection that goes on."""
        logging.getLogger("asyncio").removeHandler(self._handler)
        self._caller.close()

    def failure(self, case: int) -> str:
        """Send a stream; returns what is wrong then, "" if nothing is."""
        rng = random.Random(f"{self._seed}/{case}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as hostile:
            hostile.settimeout(_PATIENCE)
            hostile.connect(self._path)
            with contextlib.suppress(ConnectionError):
                for data, kinds in _stream(rng):
                    _send(hostile, data, kinds)
            hostile.settimeout(_PAUSE)
            with contextlib.suppress(ConnectionError, TimeoutError):
                hostile.recv(1 << 16)
        try:
            answer = bytes(self._caller.call(ECHO, [b"hello"], _PATIENCE))
        except OpError as error:
            return f"case {case}: another connection got {error!r}"
        if answer != b"hello":
            return f"case {case}: another connection got {answer!r}"
        told, self._told[:] = list(self._told), []
        return f"case {case}: the loop was told {told}" if told else ""


class _Told(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(f"{record.getMessage()}: {record.exc_info}")


def _stream(rng: random.Random) -> Iterator[tuple[bytes, list[str]]]:
    """Yield what is sent at a time: bytes, and the kinds of descriptors beside them."""
    for _ in range(rng.randrange(1, 6)):
        data = b"".join(_frame(rng) for _ in range(rng.randrange(1, 5)))
        data = frames.path_frame(1, ECHO) + data if rng.random() < 0.5 else data
        data = mutated_bytes(rng, data) if rng.random() < 0.3 else data
        count = rng.choice((0, 0, 1, 1, 1, 2, 40))
        yield data or b"\0", [rng.choice(sorted(_DESCRIPTORS)) for _ in range(count)]


def _frame(rng: random.Random) -> bytes:
    kind = rng.choice((*Kind, Kind.SEGMENT, Kind.SEGMENT, Kind.REQUEST, Kind.REQUEST))
    number, method = rng.choice(_NUMBERS), rng.choice((0, 1, 1, 1, 2, 2**32 - 1))
    if rng.random() < 0.3:
        place = Place(rng.choice(_NUMBERS), rng.choice(_PLACES), rng.choice(_PLACES))
        return frames.placed_frame(kind, place, number, method)
    body = rng.choice((b"", b"x", ECHO.encode(), b"\xff" * 50, rng.randbytes(24)))
    if rng.random() < 0.2:
        return _long(rng, number, method)
    flags = rng.choice((0, 0, 0, MORE, LAST, PLACED, SPOILED, MORE | PLACED, 255))
    return frames.header(kind, number, len(body), method, flags) + body


def _long(rng: random.Random, number: int, method: int) -> bytes:
    """Return a long message, or some of it."""
    kind = rng.choice((Kind.REQUEST, Kind.REQUEST, Kind.ANSWER))
    message = frames.in_parts(kind, number, [rng.randbytes(rng.choice((1, 100, 300_000)))], method)
    buffers = [buffer for frame in message for buffer in frame]
    return b"".join(buffers[: rng.choice((1, 2, 3, 4, 9, 9, 9))])


def _send(to: socket.socket, data: bytes, kinds: list[str]) -> None:
    passed = array.array("i", [_DESCRIPTORS[kind]() for kind in kinds])
    beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)] if passed else []
    try:
        to.sendmsg([data], beside)
    finally:
        for each in passed:
            os.close(each)


def _memory(size: int) -> int:
    found = os.memfd_create("test")
    os.ftruncate(found, size)
    return found


def _segment() -> int:
    made = shared_memory.Segment(_SIZE, os.geteuid())
    try:
        return os.dup(made.descriptor)
    finally:
        made.close()


def _pipe() -> int:
    ends = os.pipe()
    os.close(ends[1])
    return ends[0]


_DESCRIPTORS = {
    "segment": _segment, "memory": lambda: _memory(_SIZE), "no memory": lambda: _memory(0),
    "null": lambda: os.open(os.devnull, os.O_RDWR), "pipe": _pipe,
    "folder": lambda: os.open(tempfile.gettempdir(), os.O_RDONLY),
    "socket": lambda: socket.socket().detach(),
}  # fmt: skip


@contextmanager
def streams(seed: int) -> Iterator[Streams]:
    """Give what sends streams, to a listener of its own."""
    echo = Method(lambda request, call: call.respond([request]))
    with local_listener({ECHO: echo}) as listener:
        with closing(Streams(listener.place.path, seed)) as sender:
            yield sender


def open_files() -> int:
    """Return how many descriptors this process has."""
    return len(os.listdir("/proc/self/fd"))


def main(words: list[str]) -> int:
    """Send streams as the command line says; returns how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz.streams")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    with streams(asked.seed) as sender:
        before = sender.failure(0), open_files()
        found = [told for case in range(asked.cases) if (told := sender.failure(case))]
        print(*found[:20], sep="\n")
        print(f"{len(found)} failed; descriptors: {before[1]} before, {open_files()} now")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
