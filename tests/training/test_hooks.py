"""Hooks do what those of TensorFlow 1.15.5 do; and what is better said here."""

import threading

import pytest

import tfdist as tf
from tests.training import hook_programs, session_kit
from tests.training.session_differential import comparable, expected, outcome

EXPECTED = expected()


@pytest.fixture(autouse=True)
def no_writer_is_left():
    yield
    tf.summary.FileWriterCache.clear()


@pytest.mark.parametrize("name", hook_programs.PROGRAMS)
def test_hooks(name):
    found = outcome(tf, hook_programs.PROGRAMS[name], session_kit)
    assert comparable(found) == comparable(EXPECTED[name])


def test_a_waiter_waits_until_others_have_come_so_far():
    step = tf.assign_add(tf.train.create_global_step(), 1)
    others = []

    class Others(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            others.append(threading.Thread(target=lambda: [session.run(step) for _ in range(3)]))
            others[0].start()

    with tf.train.MonitoredSession(hooks=[Others(), tf.train.GlobalStepWaiterHook(3)]) as session:
        assert session.run(step) == 4
    others[0].join()


def test_a_stop_ends_the_wait_of_a_waiter():
    step = tf.assign_add(tf.train.create_global_step(), 1)

    class Stop(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coord.request_stop()

    with tf.train.MonitoredSession(hooks=[Stop(), tf.train.GlobalStepWaiterHook(9)]) as session:
        assert session.run(step) == 1


def test_a_hook_is_told_what_it_did_wrong():
    class Wrong(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return "loss"

    with tf.train.MonitoredSession(hooks=[Wrong()]) as session:
        with pytest.raises(TypeError, match="before_run of Wrong must return a SessionRunArgs"):
            session.run([])
