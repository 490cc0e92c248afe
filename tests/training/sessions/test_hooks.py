"""Hooks do what those of TensorFlow 1.15.5 do; and what is better said here."""

import threading

import pytest

import tfdist as tf
from tests.training.sessions import hook_programs, session_kit
from tests.training.sessions.session_differential import comparable, expected, outcome

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


def test_summaries_come_at_equal_distances(tmp_path):
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    loss, step = tf.reduce_sum(w * w), tf.train.create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        hook = tf.train.SummarySaverHook(
            3, summary_writer=writer, summary_op=tf.summary.scalar("loss", loss)
        )
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(8):
                session.run(train)
    (path,) = tmp_path.iterdir()
    events = tf.train.summary_iterator(str(path))
    assert [event.step for event in events if event.summary.value] == [1, 4, 7]
