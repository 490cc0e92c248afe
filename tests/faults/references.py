"""What a row is compared with where its time is the machine's: the same work without tfdist.

A reference runs right before its row, under the same load; it returns seconds. The servers are
plain gRPC's (`grpc.aio`), with the options and the poller that tfdist has.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tfdist.wire.grpc.options import client_options, grpc, server_options

_START = 60.0  # seconds that the server may take to start
_SIZE, _BYTES, _ECHO = "/reference/Size", "/reference/Bytes", "/reference/Echo"


def bytes_there_and_back(millions: int) -> float:
    """Return how long so many millions of bytes take to a server, and then back."""
    data = bytes(range(250)) * (4000 * millions)
    with _server() as channel:
        size, back = channel.unary_unary(_SIZE), channel.unary_unary(_BYTES)
        size(b"")
        start = time.monotonic()
        size(data)
        back(str(len(data)).encode())
        return time.monotonic() - start


def calls_at_once(clients: int, calls: int) -> float:
    """Return how long so many threads take to make so many small calls each."""
    with _server() as channel:
        echo = channel.unary_unary(_ECHO)
        echo(b"")
        threads = [
            threading.Thread(target=lambda: [echo(b"x" * 100) for _ in range(calls)])
            for _ in range(clients)
        ]
        start = time.monotonic()
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return time.monotonic() - start


@contextmanager
def _server() -> Iterator[Any]:
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}", client_options("tfdist")) as channel:
            yield channel
    finally:
        process.stdin.close()
        try:
            process.wait(_START)
        finally:
            process.kill()
            process.stdout.close()


async def _serve() -> None:
    async def size(request: bytes, _: Any) -> bytes:
        return str(len(request)).encode()

    async def back(request: bytes, _: Any) -> bytes:
        return bytes(int(request))

    async def echo(request: bytes, _: Any) -> bytes:
        return request

    methods = {_SIZE: size, _BYTES: back, _ECHO: echo}
    server = grpc.aio.server(options=server_options())
    handlers = {
        path.rpartition("/")[2]: grpc.unary_unary_rpc_method_handler(method)
        for path, method in methods.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("reference", handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    import asyncio

    asyncio.run(_serve())
