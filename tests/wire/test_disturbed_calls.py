"""Disturbances between servers, whichever way they call each other."""

import time

import numpy as np
import pytest

import tfdist as tf
from tests.runtime.blocking import Call, until
from tfdist.tracing.disturbances import Disturbance

pytestmark = pytest.mark.usefixtures("transport")

LARGE = 300_000  # elements


@pytest.fixture
def steps(two):
    """Return what runs a step in which a tensor crosses, and a loop over both tasks."""
    with tf.device("/job:worker"):
        there = tf.fill([LARGE], 1.0, name="there")
    with tf.device("/job:ps"):
        crossed = tf.reduce_sum(there, name="crossed")

        def body(i):
            with tf.device("/job:worker"):
                return i + 1

        loop = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    with tf.Session(two[0].target) as session:
        assert session.run([crossed, loop]) == [LARGE, 3]
        yield {"crossed": lambda: session.run(crossed), "loop": lambda: session.run(loop)}


def disturb(servers, *disturbances):
    """Let things be wrong on all tasks."""
    for server in servers:
        server.task.disturb(list(disturbances))


def seconds(step):
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def test_what_crosses_is_late(two, steps):
    disturb(two, Disturbance("delay", "worker:0", "ps:0", 0.1))
    assert seconds(steps["crossed"]) >= 0.1
    assert seconds(steps["loop"]) >= 0.3
    disturb(two)
    assert steps["crossed"]() == LARGE


def test_what_crosses_takes_as_long_as_on_a_narrow_way(two, steps):
    disturb(two, Disturbance("rate", "worker:0", "ps:0", 4.0 * LARGE / 0.2))
    assert seconds(steps["crossed"]) >= 0.2


def test_who_is_cut_off_waits_until_that_is_healed(two, steps):
    disturb(two, Disturbance("cut", "ps:0", "worker:0"))
    call = Call(steps["crossed"])
    until(lambda: any("cut off" in str(wait) for server in two for wait in waits(server)))
    disturb(two)
    assert np.float32(call.result()) == LARGE


def waits(server):
    """Return what waits on a server."""
    return server.task.report().waits
