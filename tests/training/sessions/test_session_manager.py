"""Session managers and scaffolds do what those of TensorFlow 1.15.5 do; and what is better here."""

import logging
import threading

import pytest

import tfdist as tf
from tests.training.sessions import manager_programs, session_kit
from tests.training.sessions.session_differential import comparable, expected, outcome

EXPECTED = expected()


@pytest.mark.parametrize("name", manager_programs.PROGRAMS)
def test_managers_and_scaffolds(name):
    found = outcome(tf, manager_programs.PROGRAMS[name], session_kit)
    assert comparable(found) == comparable(EXPECTED[name])


def test_who_waits_too_long_is_told_for_what():
    tf.Variable(1.0, name="weights")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(tf.errors.DeadlineExceededError) as failure:
        manager.wait_for_session("", max_wait_secs=0)
    assert "Variables not initialized: weights" in str(failure.value)
    assert "is the chief running" in str(failure.value)


def test_who_waits_goes_on_soon_after_the_chief_is_ready(caplog):
    """The pauses begin short, whatever `recovery_wait_secs` is; what is missing is logged."""
    server = tf.train.Server({"worker": ["localhost:0"]})
    try:
        v = tf.Variable(3.0, name="weights")
        ready, init = tf.report_uninitialized_variables(), v.initializer
        manager = tf.train.SessionManager(ready_op=ready, recovery_wait_secs=30)
        waits, found = threading.Event(), []

        class Told(logging.Handler):
            def emit(self, record):
                waits.set()

        handler = Told()
        logging.getLogger("tensorflow").addHandler(handler)

        def worker():
            with manager.wait_for_session(server.target, max_wait_secs=20) as session:
                found.append(session.run(v))

        thread = threading.Thread(target=worker)
        thread.start()
        assert waits.wait(10)
        with tf.train.SessionManager().prepare_session(server.target, init_op=init):
            thread.join(10)
        logging.getLogger("tensorflow").removeHandler(handler)
        assert found == [3.0]
        assert "ready: Variables not initialized: weights" in caplog.text
    finally:
        server.stop()


def test_a_session_of_a_failed_preparation_is_closed():
    """Nobody gets it, so that nobody else could."""
    made = []

    def init(session):
        made.append(session)
        raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"):
        tf.train.SessionManager().prepare_session("", init_fn=init)
    with pytest.raises(RuntimeError, match="closed"):
        made[0].run(tf.constant(1))
