"""A client for `test_tls`, on a host of its own: it does what it is told, a line of JSON each.

{"do": "total", "folder": "of its identity, or empty", "address": "HOST:PORT"}
"""

import json
import os
import sys
from collections.abc import Iterator

import tfdist as tf
from tfdist.launch.reach import examine_server
from tfdist.wire.grpc.client import GrpcCaller
from tfdist.wire.service_methods import INSPECTION


def hello(address: str) -> object:
    """Make a call over a new connection."""
    caller = GrpcCaller(address)
    try:
        return len(caller.call(f"{INSPECTION}Hello", [b""], 5.0)) > 0
    finally:
        caller.close()


def total(address: str) -> object:
    """Add up numbers of two tasks."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:worker/task:0"):
            one = tf.constant(1.0)
        with tf.device("/job:worker/task:1"):
            three = one + 2.0
    with tf.Session(f"grpc://{address}", graph=graph) as session:
        return float(session.run(three))


def why(address: str) -> object:
    """Ask what a server waits for."""
    return str(tf.why(f"grpc://{address}"))


def doctor(address: str) -> object:
    """Examine the way to a server."""
    return [f"{found.name}: {found.told}" for found in examine_server(address)]


class Step:
    """One step more of one session; returns how many they are."""

    def __init__(self) -> None:
        self._session: tf.Session | None = None

    def __call__(self, address: str) -> object:
        """Run it."""
        if self._session is None:
            with tf.Graph().as_default() as graph:
                with tf.device("/job:worker/task:1"):
                    count = tf.Variable(0)
                with tf.device("/job:worker/task:0"):
                    self._more = tf.identity(count.assign_add(1))
            self._session = tf.Session(f"grpc://{address}", graph=graph)
            self._session.run(count.initializer)
        return int(self._session.run(self._more))


def outcomes() -> Iterator[object]:
    """Yield what became of each line of standard input."""
    verbs = {"hello": hello, "total": total, "why": why, "doctor": doctor, "step": Step()}
    for line in sys.stdin:
        told = json.loads(line)
        os.environ["TFDIST_TLS"] = told["folder"]
        os.environ["TFDIST_REMOTE"] = "tls" if told["folder"] else "off"
        try:
            yield verbs[told["do"]](told["address"])
        except tf.OpError as error:
            yield f"{type(error).__name__}: {error.message}"


if __name__ == "__main__":
    for outcome in outcomes():
        print(json.dumps(outcome), flush=True)
