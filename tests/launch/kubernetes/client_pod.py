"""A client in a pod: does what it is told line by line, and answers each with a line of JSON.

health NAME:PORT SERVICE    what a kubelet is answered
run                         [a step's result, why sessions before that had ended]
"""

import json
import sys
from collections.abc import Iterator

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import tfdist as tf


def health(address: str, service: str = "") -> str:
    """Return what a server says of its health."""
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=10)
    return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)


def steps(target: str, first: str, last: str) -> Iterator[tuple[float, list[str]]]:
    """Yield results, each of a step over two tasks, in new sessions where the old one ends."""
    with tf.device(first):
        variable = tf.Variable(1.0)
    with tf.device(last):
        total = variable + 1.0
    ended: list[str] = []
    while True:
        try:
            with tf.Session(target) as session:
                session.run(variable.initializer)
                while True:
                    yield float(session.run(total)), ended
                    ended = []
        except (tf.errors.AbortedError, tf.errors.UnavailableError) as error:
            ended.append(error.message)


def main(target: str, first: str = "/job:ps", last: str = "/job:worker/task:1") -> None:
    """Do what standard input says.

    Args:
      target: of sessions.
      first: the task with a variable.
      last: the task that computes with it.
    """
    all_steps = steps(target, first, last)
    for line in sys.stdin:
        what, *arguments = line.split()
        told = health(*arguments) if what == "health" else next(all_steps)
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
