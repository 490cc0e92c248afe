"""AGNOptimizer makes the variables of TensorFlow 1.15.5, and the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.optimizers.contrib import agn_programs as programs
from tfdist.wire.server import start_servers

EXPECTED = json.loads(
    (Path(__file__).parent / "expected_agn_1_15.json").read_text(encoding="utf-8")
)
OPT = tf.contrib.opt


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_worker_comes_to_what_it_comes_to_there(name):
    found, wanted = programs.told(tf, name), EXPECTED[name]
    assert found["names"] == wanted["names"]
    for values, others in zip(found["values"], wanted["values"], strict=True):
        for value, other in zip(values, others, strict=True):
            np.testing.assert_allclose(value, other, 2e-5, 1e-6)


def worker(cluster, index, period):
    """Return what a worker runs: its step, its variable, the centre, and what begins."""
    device = f"/job:worker/task:{index}"
    getter = OPT.AGNCustomGetter(device)
    setter = tf.train.replica_device_setter(cluster=cluster, worker_device=device)
    with tf.device(setter), tf.variable_scope("", custom_getter=getter):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=1.0)
        sgd = tf.train.GradientDescentOptimizer(1.0)
        optimizer = OPT.AGNOptimizer(sgd, 2, getter, period)
        train = optimizer.minimize(w * 10.0**index, step)
        hook = optimizer.make_session_run_hook(True, index)
        hook.begin()
    (centre,) = [each for each in tf.global_variables() if "center" in each.name]
    return train, [step, w, centre], hook


def test_workers_of_a_server_count_together():
    servers = start_servers({"ps": 1, "worker": 2}, inproc=True)
    try:
        cluster = tf.train.ClusterSpec(servers[0].server_def.cluster)
        workers = []
        for index in range(2):
            with tf.Graph().as_default() as graph:
                train, told, hook = worker(cluster, index, 3)
                session = tf.Session(servers[1 + index].target, graph=graph)
                session.run([hook._local_init_op, hook._global_init_op])
                workers.append((session, train, told, hook))
        for session, *_, hook in workers:
            hook.after_create_session(session, None)
        found = []
        for index in (0, 1, 1):
            session, train, told, _ = workers[index]
            session.run(train)
            found.append([float(each) for each in session.run(told)])
        for session, *_ in workers:
            session.close()
    finally:
        for server in servers:
            server.stop()
    # the third step of both gives a third of 10 + 10 to the centre
    assert found[:2] == [[0, 0, 1], [0, -9, 1]]
    np.testing.assert_allclose(found[2], [1, 1 - 20 / 3, 1 - 20 / 3], 1e-6)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        pytest.param(lambda getter: OPT.AGNOptimizer(sgd(), 1, getter, 0), ValueError,
                     "one step at least", id="a period of nothing"),
        pytest.param(lambda getter: OPT.AGNOptimizer(sgd(), 1, getter).apply_gradients([]),
                     ValueError, "No variables provided", id="no gradients"),
        pytest.param(
            lambda getter: OPT.AGNOptimizer(sgd(), 1, getter).minimize(
                tf.get_variable("v", []) * 1.0
            ),
            KeyError, "was not made through this AGNCustomGetter", id="a variable without a centre",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make(OPT.AGNCustomGetter(""))


def sgd():
    return tf.train.GradientDescentOptimizer(0.1)
