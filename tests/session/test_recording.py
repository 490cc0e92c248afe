"""record_runs: every run of the process is traced, whoever calls it."""

import threading

import numpy as np
import pytest

import tfdist as tf
from tfdist.session.recording import record_runs


def test_runs_are_recorded_in_order():
    x = tf.placeholder(tf.float32, name="x")
    y, n = tf.negative(x, name="y"), tf.no_op(name="n")
    with tf.Session() as session, record_runs() as runs:
        session.run([y, n], {x: 1.0})
        session.run({"a": y}, {x: 2.0})
    assert [run.fetches for run in runs] == ["y:0, n", "y:0"]
    assert [run.target for run in runs] == ["", ""]
    assert all(run.error is None and run.seconds >= 0 for run in runs)
    assert {node.name: node.op for node in runs[0].nodes} == {"y": "Neg", "n": "NoOp"}
    [entry] = runs[1].metadata.step_stats.dev_stats
    assert [node.node_name for node in entry.node_stats] == ["_SOURCE", "y"]


def test_nothing_is_recorded_outside():
    with tf.Session() as session:
        with record_runs() as runs:
            pass
        session.run(tf.constant(1))
    assert runs == []


def test_recorders_nest():
    with tf.Session() as session, record_runs() as outer:
        session.run(tf.constant(1))
        with record_runs() as inner:
            session.run(tf.constant(2))
    assert (len(outer), len(inner)) == (2, 1)


def test_a_failed_run_is_recorded_with_its_error():
    x = tf.placeholder(tf.float32)
    checked = tf.check_numerics(x, "bad", name="c")
    with tf.Session() as session, record_runs() as runs:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(checked, {x: np.nan})
    [run] = runs
    assert run.error is raised.value
    assert [node.name for node in run.nodes] == ["c"]
    assert not run.metadata.step_stats.dev_stats


def test_a_run_is_recorded_with_its_error_where_its_session_is_lost():
    x = tf.constant(1)
    with tf.train.Server({"a": ["localhost:0"]}) as server:
        session = tf.Session(server.target)
        session.run(x)
    with session, record_runs() as runs:
        with pytest.raises(tf.errors.AbortedError) as raised:
            session.run(x)
    [run] = runs
    assert (run.error, run.nodes) == (raised.value, ())


def test_other_threads_are_recorded():
    x = tf.constant(1)
    with tf.Session() as session, record_runs() as runs:
        thread = threading.Thread(target=session.run, args=(x,))
        thread.start()
        thread.join(10)
    assert [run.fetches for run in runs] == ["Const:0"]


def test_the_users_metadata_is_filled_as_well():
    metadata = tf.RunMetadata()
    with tf.Session() as session, record_runs():
        session.run(tf.constant(1), run_metadata=metadata)
    assert metadata.step_stats.dev_stats
