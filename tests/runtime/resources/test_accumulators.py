"""What accumulators do, as a table: gradients add up, and who waits takes them."""

import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.runtime.resources.accumulators import Accumulator, AccumulatorState
from tfdist.runtime.resources.wait_info import Waiting


class Numbers:
    """A total of plain numbers; it takes none below 0."""

    def __init__(self):
        self.inside = []

    def add(self, gradient):
        if gradient < 0:
            raise InvalidArgumentError("below 0")
        self.inside.append(gradient)

    def take(self, divisor):
        total, self.inside = sum(self.inside), []
        return total / divisor


TABLE = [
    pytest.param("apply 2; apply 4; c takes 2", "c gets 3", 0, id="the mean of two"),
    pytest.param("c takes 2; apply 2; apply 4", "c gets 3", 0, id="somebody waits for two"),
    pytest.param("apply 2; apply 4; apply 6; c takes 1", "c gets 4", 0, id="all there are"),
    pytest.param("apply 2; c takes 2", "", 1, id="too few"),
    pytest.param("apply 2; c takes 1; apply 2 of 0", "c gets 2", 0, id="a stale one is dropped"),
    pytest.param("apply 2; c takes 1; apply 5 of 1", "c gets 2", 1, id="one of the next step"),
    pytest.param("apply 2 of 7", "", 1, id="one of a later step"),
    pytest.param("step 3; apply 2 of 2; apply 2 of 3", "", 1, id="the step is set"),
    pytest.param("step 3; step 1; apply 2 of 2", "", 0, id="and never goes back"),
    pytest.param("apply -1; apply 4; c takes 1", "c gets 4", 0, id="what does not fit is not in"),
    pytest.param(
        "b takes 2; c takes 1; apply 1; apply 3; apply 5 of 1", "b gets 2; c gets 5", 0,
        id="who wants one waits behind who wants two",
    ),
    pytest.param(
        "b takes 2; c takes 1; apply 1; b leaves", "c gets 1", 0, id="who leaves makes room"
    ),
]  # fmt: skip


def happen(state, event):
    """Let an event happen; return the completions in words."""
    match event.split():
        case ["apply", gradient, *rest]:
            try:
                done = state.apply(float(gradient), int(rest[-1]) if rest else 0)
            except InvalidArgumentError:
                done = []
        case [who, "takes", count]:
            done = state.take(who, int(count))
        case [who, "leaves"]:
            was_there, done = state.cancel(who)
            assert was_there
        case ["step", step]:
            state.set_step(int(step))
            done = []
    return [f"{who} gets {value:g}" for who, value in done]


@pytest.mark.parametrize(("events", "outcome", "left"), TABLE)
def test_an_accumulator(events, outcome, left):
    state = AccumulatorState("a", Numbers())
    done = [each for event in events.split("; ") for each in happen(state, event)]
    assert done == outcome.split("; ") * bool(outcome)
    assert state.count == len(state.total.inside) == left


def test_a_sum_is_not_divided():
    state = AccumulatorState("a", Numbers(), is_mean=False)
    state.apply(2.0, 0)
    state.apply(4.0, 0)
    assert state.take("c", 2) == [("c", 6.0)]


def test_who_does_not_wait_cannot_leave():
    assert AccumulatorState("a", Numbers()).cancel("c") == (False, [])


def test_it_tells_who_misses_what():
    accumulator = Accumulator("a", Numbers(), True, "ConditionalAccumulator", "mine")
    wait = accumulator.take(3)
    wait.start(lambda outcome: None)
    accumulator.apply(1.0, 0)
    info = accumulator.info()
    assert (info.kind, info.name, info.container) == ("ConditionalAccumulator", "a", "mine")
    assert (info.fill, info.consumers) == (1, (Waiting(wait, 2),))
    assert wait.describe() == (
        "take_grad(3) on accumulator 'a' waits for 2 more gradients of step 0 (it holds 1)"
    )
    assert wait.cancel()
    assert accumulator.info().consumers == ()
