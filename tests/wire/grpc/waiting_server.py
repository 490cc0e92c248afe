"""A server process for `test_grpc`: it says its port, and when a call waits."""

import sys

from tests.wire.transports import Waiting
from tfdist.wire.common.calls import Method
from tfdist.wire.grpc.server import GrpcListener


def main(port: str) -> None:
    """Serve until stdin ends; then end without stopping."""
    waiting = Waiting()
    listener = GrpcListener(f"localhost:{port}")
    echo = Method(lambda request, call: call.respond([request]))
    listener.start({"/test.Test/Wait": waiting.method, "/test.Test/Echo": echo})
    print(listener.port, flush=True)
    for count, _ in enumerate(sys.stdin):
        print(waiting.have_come(count + 1), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
