"""A reader's line, as a table: who has the turn, and who gets it next.

Events are written as sentences: "a stands", "leave", "b gives up".
"""

import pytest

from tfdist.runtime.resources.reader_state import ReaderState


def happen(state, event):
    """Let `event` happen; return who has the turn by that."""
    if event == "leave":
        return [who for who, _ in state.leave()]
    who, what = event.split(" ", 1)
    if what == "stands":
        return [each for each, _ in state.stand(who)]
    assert state.cancel(who)
    return []


@pytest.mark.parametrize(
    ("events", "turns"),
    [
        pytest.param("a stands", "a", id="the first has its turn at once"),
        pytest.param("a stands; b stands; leave", "a b", id="the next waits until then"),
        pytest.param("a stands; leave; b stands", "a b", id="a turn that nobody wanted is free"),
        pytest.param("a stands; b stands; c stands; leave; leave", "a b c", id="in their order"),
        pytest.param(
            "a stands; b stands; c stands; b gives up; leave", "a c", id="b is not served"
        ),
    ],
)
def test_turns(events, turns):
    state = ReaderState()
    served = [who for event in events.split("; ") for who in happen(state, event)]
    assert served == turns.split()


def test_who_does_not_stand_in_line_cannot_leave_it():
    state = ReaderState()
    assert state.stand("a") == [("a", None)]
    assert not state.cancel("a")
    assert not state.cancel("b")


def test_counts():
    state = ReaderState()
    state.begin(b"x")
    assert (state.work, state.started, state.finished) == (b"x", 1, 0)
    state.reset()
    assert (state.work, state.started, state.produced) == (b"", 0, 0)
