"""A client of two tasks on two hosts, which `test_two_hosts` starts and talks to.

`python -m tests.wire.two_hosts_client PS WORKER` does what its input says, a line each, and answers
with a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

import tfdist as tf
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.peers.link import open_link

SIZE = 1_000_000  # elements


class Client:
    """Sessions at the parameter server, and what they run."""

    def __init__(self, ps: str, worker: str) -> None:
        self._ps, self._worker = ps, worker
        with tf.device("/job:worker"):
            self._large = tf.fill([SIZE], 2.0, name="large")
            self._queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="empty")
            self._taken = self._queue.dequeue()
        with tf.device("/job:ps"):
            self._sum = tf.reduce_sum(self._large)
        self._session = tf.Session(f"grpc://{ps}")

    def open(self) -> str:
        """Begin a new session."""
        self._session = tf.Session(f"grpc://{self._ps}")
        return "opened"

    def step(self) -> float:
        """Return the sum of a tensor that crosses."""
        return float(self._session.run(self._sum))

    def wait(self) -> float:
        """Wait in a step for an element that does not come."""
        return float(self._session.run(self._taken))

    def fetch(self) -> float:
        """Return the sum of a tensor that comes to this process from the other host."""
        with tf.Session(f"grpc://{self._worker}") as session:
            return float(np.sum(session.run(self._large)))

    def crossed(self) -> list[int]:
        """Return the bytes of the tensors that a traced step received."""
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        self._session.run(self._sum, options=options, run_metadata=metadata)
        stats = metadata.step_stats.dev_stats
        nodes = [node for device in stats for node in device.node_stats]
        return [
            output.tensor_description.allocation_description.requested_bytes
            for node in nodes
            for output in node.output
            if node.node_name == "RecvTensor"
        ]

    def way(self) -> str:
        """Return how the worker is reached from this process."""
        link = open_link(self._worker)
        caller = link.connect().caller
        link.close()
        return type(caller).__name__ + (
            " of this host" if isinstance(caller, FramesCaller) and caller.is_local else ""
        )


def main(ps: str, worker: str) -> None:
    """Do what the input says."""
    client = Client(ps, worker)
    for line in sys.stdin:
        method: Callable[[], object] = getattr(client, line.strip())
        try:
            answer = method()
        except tf.errors.OpError as error:
            answer = f"{type(error).__name__}: {error.message}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
