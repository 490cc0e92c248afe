"""A program that `test_security` starts, and that becomes another user: a server, or a client.

It must be started by root. As the other user might not be allowed to read Python's files, it
imports all it needs before: by doing once what it does later.
"""

import os
import sys

from tfdist.errors import OpError
from tfdist.wire.common.calls import Method
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.grpc.server import GrpcListener

ECHO = "/test.Test/Echo"


def rehearse() -> None:
    """Serve, and call what there is and what there is not."""
    listener = listening()
    outcomes(listener.port, ECHO, "/test.Test/Nothing")
    listener.stop()


def become(user: int) -> None:
    """Become another user for good."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def serve() -> None:
    """Serve until stdin ends."""
    listener = listening()
    print(listener.port, flush=True)
    sys.stdin.read()
    listener.stop()


def listening() -> GrpcListener:
    """Return a server that echoes."""
    listener = GrpcListener("localhost:0")
    listener.start({ECHO: Method(lambda request, call: call.respond([request]))})
    return listener


def call(port: str, *paths: str) -> None:
    """Print the outcome of a call of each method, a line each."""
    print("\n".join(outcomes(int(port), *paths)))


def outcomes(port: int, *paths: str) -> list[str]:
    """Return the outcome of a call of each method."""
    caller = GrpcCaller(f"localhost:{port}")
    found = [outcome(caller, path) for path in paths]
    caller.close()
    return found


def outcome(caller: GrpcCaller, path: str) -> str:
    """Return the answer, or the error in a line."""
    try:
        return bytes(caller.call(path, [b"hello"])).decode()
    except OpError as error:
        return f"{type(error).__name__}: {error.message}".replace("\n", " ")


if __name__ == "__main__":
    rehearse()
    become(int(sys.argv[1]))
    {"serve": serve, "call": call}[sys.argv[2]](*sys.argv[3:])
