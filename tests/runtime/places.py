"""Where the contract's programs run: alone, on a server, over the tasks of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

import tfdist as tf
from tfdist.wire.server import start_servers


class Place(NamedTuple):
    """A target with two devices, which are one where there is only one task.

    Attributes:
      target: for sessions.
      here: device of the session's own task.
      there: device of another task.
    """

    target: str
    here: str
    there: str


@contextmanager
def alone() -> Iterator[Place]:
    """Give a session without server."""
    yield Place("", "/cpu:0", "/cpu:0")


@contextmanager
def server() -> Iterator[Place]:
    """Give a cluster of one task."""
    with tf.train.Server.create_local_server() as one:
        yield Place(one.target, "/cpu:0", "/job:local/task:0")


@contextmanager
def cluster() -> Iterator[Place]:
    """Give the second worker of a cluster of three tasks, and its parameter server."""
    with three_tasks(inproc=True) as place:
        yield place


@contextmanager
def local_path() -> Iterator[Place]:
    """Give the same, but the session and the tasks call each other by the local path."""
    with three_tasks(inproc=False) as place:
        yield place


@contextmanager
def grpc() -> Iterator[Place]:
    """Give the same, but all calls go by gRPC."""
    with pytest.MonkeyPatch.context() as patch, three_tasks(inproc=False) as place:
        patch.setenv("TFDIST_TRANSPORT", "grpc")
        yield place


@contextmanager
def three_tasks(inproc: bool) -> Iterator[Place]:
    """Give the second worker of a cluster of three tasks, and its parameter server."""
    servers = start_servers({"ps": 1, "worker": 2}, inproc=inproc)
    try:
        yield Place(servers[2].target, "/job:worker/task:1", "/job:ps/task:0")
    finally:
        for each in servers:
            each.stop()


PLACES = [alone, server, cluster, local_path, grpc]
EXECUTORS = ["interpreter", "compiler", "auto"]
