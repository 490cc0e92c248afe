"""The programs of the trials with real TensorFlow, on tfdist alone: they need nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfdist as tf
from tests.interop.answers import assert_same, expected
from tests.interop.programs import PROGRAMS, Place
from tests.interop.side import plain
from tfdist.wire.server import Server, start_servers

# What needs processes of its own, and a function of Python that the server cannot find.
ELSEWHERE = {"a_worker_dies", "a_py_func_in_the_client"}


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Give a parameter server and two workers that talk as if each had a process of its own."""
    servers = start_servers({"ps": 1, "worker": 2}, inproc=False)
    yield servers
    for each in servers:
        each.stop()


@pytest.mark.parametrize("name", [each for each in PROGRAMS if each not in ELSEWHERE])
def test_a_program_gives_what_it_gives_on_tensorflow(name, servers):
    ps, near, far = (each.address for each in servers)
    spec = {"ps": [ps], "worker": [near, far]}
    place = Place(tf, tf.Defun, servers[1].target, {}, spec)
    with tf.Graph().as_default(), tf.container(name.replace("_", ".")):
        value = plain(PROGRAMS[name](place))
        place.close()
    assert_same(value, expected()[name])
