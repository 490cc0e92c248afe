"""Supervisors do what those of TensorFlow 1.15.5 do."""

import pytest

import tfdist as tf
from tests.training.sessions import session_kit, supervisor_programs
from tests.training.sessions.session_differential import comparable, expected, outcome

EXPECTED = expected()


@pytest.mark.parametrize("name", supervisor_programs.PROGRAMS)
def test_supervisors(name):
    found = outcome(tf, supervisor_programs.PROGRAMS[name], session_kit)
    assert comparable(found) == comparable(EXPECTED[name])


def test_a_worker_is_told_which_variable_has_no_device():
    tf.Variable(1.0, name="weights")
    with pytest.raises(ValueError, match=r'"weights".*replica_device_setter'):
        tf.train.Supervisor(is_chief=False)


def test_ctrl_c_ends_the_threads_and_closes_the_session():
    supervisor, opened = tf.train.Supervisor(), []

    def train():
        with supervisor.managed_session() as session:
            opened.append(session)
            supervisor.loop(0.01, lambda: None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train()
    assert supervisor.should_stop()
    with pytest.raises(RuntimeError, match="closed"):
        opened[0].run([])


def test_the_names_of_the_first_releases():
    supervisor = tf.train.Supervisor()
    session = supervisor.PrepareSession()
    supervisor.RequestStop()
    supervisor.WaitForStop()
    assert supervisor.ShouldStop()
    supervisor.Stop()
    session.close()
