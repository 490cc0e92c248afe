"""Programs that `test_local_faults` starts, and that end as processes do: killed, or forked.

serve [tcp]: a listener that waits until stdin ends. wait PATH: a caller that waits in two calls.
fork PATH: a caller that forks, and says what the child and the parent see.
interrupt PATH: a caller that is interrupted at some hundred moments.
"""

import os
import random
import select
import signal
import sys
import threading
import warnings
from queue import SimpleQueue

from tests.wire.transports import Waiting
from tfdist.errors import DeadlineExceededError, OpError
from tfdist.wire.common.calls import Method
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.frames.server import FramesListener
from tfdist.wire.frames.tcp import TcpPlace
from tfdist.wire.frames.unix_sockets import UnixPath, UnixPlace

ECHO, WAIT = "/test.Test/Echo", "/test.Test/Wait"


def say(text: object) -> None:
    """Tell the test something."""
    os.write(1, f"{text}\n".encode())  # at once: two processes write there


def serve(kind: str = "unix") -> None:
    """Echo, and keep calls waiting; say where, then when two calls wait."""
    waiting = Waiting()
    place = TcpPlace("127.0.0.1") if kind == "tcp" else UnixPlace()
    listener = FramesListener(place)
    listener.start(
        {ECHO: Method(lambda request, call: call.respond([request])), WAIT: waiting.method}
    )
    say(place.port if isinstance(place, TcpPlace) else place.path)
    say(waiting.have_come(2))
    sys.stdin.read()


def wait(path: str) -> None:
    """Wait in two calls, until killed."""
    caller = FramesCaller(UnixPath(path))
    caller.begin(WAIT, [b""], say)
    caller.call(WAIT, [b""])


def fork(path: str) -> None:
    """Call before and after a fork, in both processes; the child lives until stdin ends."""
    warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks
    caller, own = FramesCaller(UnixPath(path)), FramesListener(UnixPlace())
    own.start({ECHO: Method(lambda request, call: call.respond([request]))})
    large = caller.call(ECHO, [bytes(1 << 20)])  # lies in a segment
    child = os.fork()
    if child == 0:
        say(outcome(caller))
        answered = threading.Event()
        caller.begin(ECHO, [b""], lambda answer: answered.set())
        say(answered.wait(10))
        again = FramesCaller(UnixPath(path))
        say(outcome(again))
        say(bytes(large[:3]))
        sys.stdin.read()
        again.close()
        return
    del large
    say(outcome(caller))
    to_itself = FramesCaller(UnixPath(own.place.path))
    say(outcome(to_itself))
    to_itself.close()
    own.stop()
    caller.close()
    say(os.path.exists(own.place.path))
    os.waitpid(child, 0)


def interrupt(path: str) -> None:
    """Begin and make calls, each with a Ctrl-C at a random moment; then say what is left."""
    caller, chance = FramesCaller(UnixPath(path)), random.Random(5)
    lost, answers = threading.Event(), SimpleQueue()
    caller.on_lost(lost.set)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for number in range(600):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 3e-4))
            message = [bytes(chance.choice([9, 50_000, 300_000]))]
            if number % 2:
                caller.call(WAIT, message, timeout=0.1)
            caller.begin(ECHO, message, answers.put)
            while signal.getitimer(signal.ITIMER_REAL)[0]:
                select.select([], [], [], 1e-3)  # the waits of `threading` break by Ctrl-C
        except (KeyboardInterrupt, DeadlineExceededError):
            pass  # Python itself may swallow the former, in a finalizer
    caller.begin(ECHO, [b"still here"], lambda answer: answers.put(bytes(answer)))
    while answers.get() != b"still here":
        pass
    say(f"lost: {lost.is_set()}, {outcome(caller)}")
    caller.close()


def outcome(caller: FramesCaller) -> object:
    """Return the answer to a call, or its error in a line."""
    try:
        return bytes(caller.call(ECHO, [b"hello"]))
    except OpError as error:
        return f"{type(error).__name__}: {error.message}"


if __name__ == "__main__":
    {"serve": serve, "wait": wait, "fork": fork, "interrupt": interrupt}[sys.argv[1]](*sys.argv[2:])
