"""A client of a cluster: builds its graphs with tfdist or a TensorFlow, and measures its steps.

`python interop_client.py MODULE` writes its version, then reads lines of JSON, {"row": ...,
"cluster": {"ps": [...], "worker": [...]}}, and answers each with {"seconds": median of a round} or
{"error": text}. Sessions stay open for later rounds. Runs under Python 3.7 too.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from typing import Any

from loading import load
from measure import WARM_UP, durations
from rows import mlp
from timed import Timed, initialised, running

ROUND = 100, 0.15  # at most so many calls, and no new one after so many seconds
WORKER = "/job:worker/task:0"


def add(tf: Any) -> tuple[Any, dict[Any, Any]]:
    """Return a fetch and feeds: one addition on a worker."""
    x = tf.placeholder(tf.float32, [])
    with tf.device(WORKER):
        return x + 1.0, {x: 2.0}


def add_across(tf: Any) -> tuple[Any, dict[Any, Any]]:
    """Return the sum of a variable on the parameter server and what is fed, made on the worker."""
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(1.0, name="for_add")
    with tf.device(WORKER):
        return x + variable, {x: 2.0}


def train(tf: Any) -> tuple[Any, dict[Any, Any]]:
    """Return a training step of an MLP with batch 50, its variables on the parameter server."""
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=WORKER)):
        return mlp(tf, 50)


ROWS = {"add on a worker": add, "add of two tasks": add_across, "training step": train}


class Server:
    """What a session starts on, for `timed.initialised`."""

    def __init__(self, address: str) -> None:
        self.target = f"grpc://{address}"


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    tf = load(sys.argv[1])
    print(json.dumps({"version": tf.__version__}), file=answers, flush=True)
    known: dict[str, Timed] = {}
    for line in sys.stdin:
        print(json.dumps(answer(tf, known, line)), file=answers, flush=True)


def answer(tf: Any, known: dict[str, Timed], question: str) -> dict[str, Any]:
    """Return what a round gave; what was opened for an earlier one is in `known`."""
    try:
        if question not in known:
            known[question] = opened(tf, **json.loads(question))
            durations(known[question], *WARM_UP)
        return {"seconds": statistics.median(durations(known[question], *ROUND))}
    except Exception as error:
        first_line = str(error).split("\n")[0]
        return {"error": f"{type(error).__name__}: {first_line}"}


def opened(tf: Any, row: str, cluster: dict[str, list[str]]) -> Timed:
    """Return a row's step on a cluster."""
    with tf.Graph().as_default():
        fetches, feeds = ROWS[row](tf)
        return running(initialised(tf, [Server(cluster["worker"][0])]), fetches, feeds)


if __name__ == "__main__":
    main()
