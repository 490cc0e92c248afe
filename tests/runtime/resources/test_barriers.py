"""What barriers do, as a table: "0: a b" inserts component 0 of the elements a and b."""

import pytest

from tfdist.errors import CancelledError, InvalidArgumentError
from tfdist.runtime.resources.barriers import Barrier, BarrierState
from tfdist.runtime.resources.wait_info import Waiting

TABLE = [
    pytest.param("0: a b; 1: b; c takes 1", "c gets b", "a", id="whole elements leave"),
    pytest.param("0: a; c takes 1; 1: a", "c gets a", "", id="they are waited for"),
    pytest.param(
        "0: a; 0: b; 1: b a; c takes 2", "c gets a b", "", id="in the order of their keys"
    ),
    pytest.param("0: a; 0: a", "InvalidArgumentError", "a", id="a component comes once"),
    pytest.param("0: b a a", "InvalidArgumentError", "", id="also in one call; then nothing comes"),
    pytest.param("0: a; 1: a; c takes 1; 0: a", "c gets a", "a", id="a key may come again"),
    pytest.param("0: a; close; 0: b; 1: a", "CancelledError", "", id="closed: no new keys"),
    pytest.param("close; c takes 1", "c OutOfRangeError", "", id="nothing to wait for"),
    pytest.param("0: a; close; c takes 1; 1: a", "c gets a", "", id="something to wait for"),
    pytest.param("0: a; c takes 2; close", "c OutOfRangeError", "a", id="too few ever"),
    pytest.param(
        "0: a b; 1: a; c takes up to 2; close", "c gets a", "b", id="fewer of a closed one"
    ),
    pytest.param("c takes up to 2; 0: a; 1: a", "", "", id="but not of an open one"),
    pytest.param(
        "0: a; c takes 1; close and cancel; 1: a", "c OutOfRangeError; CancelledError", "",
        id="what is not whole is forgotten",
    ),
    pytest.param(
        "c takes 2; d takes 1; 0: a; 1: a; c leaves", "d gets a", "", id="who leaves makes room"
    ),
    pytest.param(
        "0: a; 1: a; c takes 1; a comes back; d takes 1", "c gets a; d gets a", "", id="back"
    ),
]  # fmt: skip


def happen(state, event, taken):
    """Let an event happen; return the completions in words."""
    words = event.split()
    try:
        if words[0].endswith(":"):
            done = state.insert(int(words[0][0]), [(key.encode(), key) for key in words[1:]])
        elif words[0] == "close":
            done = state.close("cancel" in words)
        elif words[1] == "takes":
            done = state.take(words[0], int(words[-1]), "up" in words)
        elif words[1] == "comes":
            done = state.give_back(taken.pop())
        else:
            was_there, done = state.cancel(words[0])
            assert was_there
    except (InvalidArgumentError, CancelledError) as error:
        return [type(error).__name__]
    taken += [outcome for _, outcome in done if isinstance(outcome, list)]
    return [in_words(*each) for each in done]


def in_words(who, outcome):
    if isinstance(outcome, Exception):
        return f"{who} {type(outcome).__name__}"
    for element in outcome:
        assert element.components == [element.key.decode()] * 2
    return " ".join([who, "gets", *(element.key.decode() for element in outcome)])


@pytest.mark.parametrize(("events", "outcome", "incomplete"), TABLE)
def test_a_barrier(events, outcome, incomplete):
    state, taken = BarrierState("b", 2), []
    done = [each for event in events.split("; ") for each in happen(state, event, taken)]
    assert done == outcome.split("; ") * bool(outcome)
    assert sorted(key.decode() for key in state.incomplete) == incomplete.split()


def test_it_tells_who_misses_what():
    barrier = Barrier("b", ["int32", "int32"], [], "mine")
    barrier.insert(0, [(b"a", 1), (b"b", 2)])
    barrier.insert(1, [(b"a", 1)])
    wait = barrier.take(3, False)
    wait.start(lambda outcome: None)
    info = barrier.info()
    assert (info.kind, info.name, info.container, info.fill) == ("Barrier", "b", "mine", 1)
    assert info.consumers == (Waiting(wait, 2),)
    assert wait.describe() == (
        "take_many(3) on barrier 'b' waits for 2 more whole elements (it holds 1, and 1 that lack "
        "a component)"
    )


def test_closing_twice_is_an_error():
    barrier = Barrier("b", ["int32"], [])
    barrier.close(False)
    with pytest.raises(CancelledError, match="already closed"):
        barrier.close(False)
    barrier.close(True)
