"""Monitored sessions do what those of TensorFlow 1.15.5 do; and what is better here.

`monitored_programs.py` has the programs; `session_differential.py` stored what 1.15.5 gave.
"""

import pytest

import tfdist as tf
from tests.training.sessions import monitored_programs, session_kit
from tests.training.sessions.session_differential import comparable, expected, outcome

EXPECTED = expected()


@pytest.mark.parametrize("name", monitored_programs.PROGRAMS)
def test_monitored_sessions(name):
    found = outcome(tf, monitored_programs.PROGRAMS[name], session_kit)
    assert comparable(found) == comparable(EXPECTED[name])


@pytest.mark.parametrize("kind", [tf.train.MonitoredSession, tf.train.SingularMonitoredSession])
def test_who_runs_after_close_is_told(kind):
    session = kind()
    session.close()
    for run in (session.run, session.run_step_fn):
        with pytest.raises(RuntimeError, match=f"this {kind.__name__} is closed"):
            run(lambda step_context: 1)


def test_a_step_function_gets_the_new_session_after_a_loss():
    """1.15.5 calls it with the old one, which is closed."""
    step, sessions = session_kit.counter(tf), []

    def step_fn(step_context):
        sessions.append(step_context.session)
        if len(sessions) == 1:
            raise session_kit.aborted(tf)
        return step_context.session.run(step)

    with tf.train.MonitoredSession() as session:
        assert session.run_step_fn(step_fn) == 1
    assert sessions[0] is not sessions[1]


def test_hooks_may_come_from_an_iterator():
    story = []
    with tf.train.MonitoredSession(hooks=iter([session_kit.recorder(tf, story)])) as session:
        session.run([])
    assert story[-1] == "hook.end"


def test_what_is_no_hook_is_told():
    with pytest.raises(TypeError, match="not 7"):
        tf.train.MonitoredSession(hooks=[7])


def test_a_session_whose_hook_failed_at_the_beginning_is_closed():
    seen = []

    def fail(session, coord):
        seen.append(session)
        raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"):
        tf.train.MonitoredSession(hooks=[session_kit.recorder(tf, [], after_create_session=fail)])
    with pytest.raises(RuntimeError, match="closed"):
        seen[0].run([])


def test_programs_find_the_session_inside():
    """As those do that want to save by themselves."""
    with tf.train.MonitoredTrainingSession() as session:
        while type(session).__name__ != "Session":
            session = session._sess
        assert isinstance(session, tf.Session)
