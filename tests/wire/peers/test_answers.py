"""Calls that were begun together: who has answered when the time is over, and who has not."""

from tfdist.errors import UnavailableError
from tfdist.wire.peers.answers import Answers


def begun(cancelled, name, outcome=None):
    """Return what begins a call that has `outcome` at once, or none ever."""

    def begin(done):
        if outcome is not None:
            done(outcome)
        return lambda: cancelled.append(name)

    return begin


def test_who_is_silent_gets_an_error_and_all_calls_are_let_go(capsys):
    cancelled = []
    answers = Answers(["quick", "silent"])
    answers.expect("quick", begun(cancelled, "quick", b"yes"))
    answers.expect("silent", begun(cancelled, "silent"))
    outcomes = answers.wait(0.01)
    assert outcomes["quick"] == b"yes"
    assert type(outcomes["silent"]) is UnavailableError
    assert cancelled == ["quick", "silent"]
    assert capsys.readouterr().err == ""


def test_who_asks_nobody_does_not_wait():
    assert Answers([]).wait(3600.0) == {}
