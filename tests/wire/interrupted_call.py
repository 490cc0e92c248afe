"""A program that is interrupted in a call; started by `test_transports`, and talks to it."""

import sys
import threading

from tests.wire.transports import TRANSPORTS, Waiting
from tfdist.wire.common.calls import Method


def say(text: str) -> None:
    """Tell the test something."""
    print(text, flush=True)


def main(transport: str) -> None:
    """Wait in a call, say so, expect Ctrl-C, then show that the server knows and calls go on."""
    waiting = Waiting()
    methods = {
        "/test.Test/Wait": waiting.method,
        "/test.Test/Echo": Method(lambda request, call: call.respond([request])),
    }
    with TRANSPORTS[transport](methods) as caller:
        watch = threading.Thread(target=lambda: waiting.have_come(1) and say("blocked"))
        watch.start()
        try:
            caller.call("/test.Test/Wait", [b""])
        except KeyboardInterrupt:
            say("interrupted")
        watch.join()
        say(f"cancelled: {waiting.are_cancelled(1)}")
        say(bytes(caller.call("/test.Test/Echo", [b"still here"])).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
