"""A client of two tasks on two hosts: measures what `hosts.py` asks for.

`python hosts_client.py MODULE CLUSTER`, where CLUSTER is JSON, writes its version, then reads names
of rows, a line each, and answers with {"seconds": least of a round} or {"error": text}. It runs on
the parameter server's host. Runs under Python 3.7 too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

ELEMENTS = 25_000_000
LARGE = 4 * ELEMENTS  # bytes
ROUND = 200, 0.4  # at most so many calls, and no new one after so many seconds
SMALL, STEP = "small call", "step with one tensor from the other host"
LARGE_ROWS = FETCH, CROSS = "100 MB fetched by a client", "100 MB from task to task"
ROWS = (SMALL, STEP, *LARGE_ROWS)


def main() -> None:
    """Answer until there are no more questions."""
    from loading import load

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    tf = load(sys.argv[1])
    steps = Steps(tf, json.loads(sys.argv[2]))
    print(json.dumps({"version": tf.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(steps, line.strip())), file=answers, flush=True)
    os._exit(0)


def answer(steps: Steps, row: str) -> dict[str, Any]:
    """Return what a round of a row takes."""
    try:
        return {"seconds": least(steps.of(row))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def least(step: Any) -> float:
    """Return the shortest time of a step in a round."""
    step()
    found, end = [], time.perf_counter() + ROUND[1]
    while not found or (len(found) < ROUND[0] and time.perf_counter() < end):
        begun = time.perf_counter()
        step()
        found.append(time.perf_counter() - begun)
    return min(found)


class Steps:
    """The steps of a cluster of a parameter server and a worker."""

    def __init__(self, tf: Any, cluster: dict[str, list[str]]) -> None:
        with tf.device("/job:worker"):
            # not a constant that optimisers could fold: a variable's value
            large = tf.Variable(tf.zeros([ELEMENTS]), name="large")
            there = tf.identity(large, name="there")
            small = tf.Variable(1.0, name="small")
        with tf.device("/job:ps"):
            here = tf.Variable(2.0, name="here")
            both = here + small
            crossed = tf.slice(there, [0], [1])
        near = tf.Session(f"grpc://{cluster['ps'][0]}")
        far = tf.Session(f"grpc://{cluster['worker'][0]}")
        near.run(tf.global_variables_initializer())
        self._steps = {
            SMALL: lambda: far.run(small),
            STEP: lambda: near.run(both),
            FETCH: lambda: far.run(there),
            CROSS: lambda: near.run(crossed.op),
        }

    def of(self, row: str) -> Any:
        """Return the step of a row, a function."""
        return self._steps[row]


if __name__ == "__main__":
    main()
