"""A program that is interrupted while it waits; started by `test_interrupts`, and talks to it."""

import json
import sys
import threading

import tfdist as tf
from tests.runtime.blocking import until, waiters
from tfdist.wire.server import start_servers


def say(text: str) -> None:
    """Tell the test something."""
    print(text, flush=True)


def main(jobs: str, action: str) -> None:
    """Block in `action`, say "blocked", expect Ctrl-C, then show that everything goes on."""
    servers = start_servers(json.loads(jobs))
    with tf.device(servers[0].task_name):
        queue = tf.FIFOQueue(1, tf.int32, shapes=[[]], name="q")
        put, take, size = queue.enqueue(7), queue.dequeue(), queue.size()
        two = queue.dequeue_many(2)
    session = tf.Session(servers[-1].target)
    session.run(size)
    if action in ("put", "two"):
        session.run(put)
    watch = threading.Thread(
        target=lambda: (until(lambda: waiters(servers[0]) == 1), say("blocked"))
    )
    watch.start()
    try:
        session.run({"take": take, "put": put, "two": two}[action])
    except KeyboardInterrupt:
        say("interrupted")
    watch.join()
    left = int(session.run(size))
    if not left:
        session.run(put)
    say(json.dumps([left, waiters(servers[0]), int(session.run(take))]))
    for server in servers:
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
