"""What is held up goes on when it is healed, comes late, or fails after the bound; once."""

import threading
import time

import pytest

from tfdist.errors import UnavailableError
from tfdist.runtime.disturbances.disturber import Disturber
from tfdist.tracing.disturbances import Disturbance

WAY = ("ps:0", "worker:1")
CUT, FROZEN = Disturbance("cut", *WAY), Disturbance("freeze", "worker:1")
LATE, VERY_LATE = Disturbance("delay", *WAY, 0.03), Disturbance("delay", *WAY, 600.0)
HALF_LOST = Disturbance("drop", *WAY, 0.5)
PATIENCE = 60.0  # seconds


class Ends:
    """What became of a crossing, and after how many seconds since `began`."""

    def __init__(self, began=None):
        self.told = []
        self._is_over = threading.Event()
        self.after = 0.0
        self.began = began or time.monotonic()

    def give(self):
        self.fail("given")

    def fail(self, error):
        self.after = time.monotonic() - self.began
        self.told.append(error)
        self._is_over.set()

    def wait(self):
        """Return what was told as soon as it is."""
        assert self._is_over.wait(PATIENCE)
        return self.told


def disturber(*found, bound=600.0, chance=1.0):
    made = Disturber({"host:1": "ps:0", "host:2": "worker:1"}, "worker:1", bound, lambda: chance)
    made.tell(found)
    return made


def sent(by, size=None, began=None):
    """Return a crossing that has come at its way, and what becomes of it."""
    ends = Ends(began)
    crossing = by.depart(WAY, ends.give, ends.fail)
    by.arrive(crossing, size)
    return crossing, ends


def test_addresses_have_names():
    assert disturber().ends("host:1", "host:2") == WAY


def test_what_nothing_holds_up_is_there_at_once():
    assert sent(disturber())[1].told == ["given"]


def test_what_is_cut_comes_when_it_is_healed():
    by = disturber(CUT)
    _, ends = sent(by)
    assert ends.told == []
    by.tell([])
    assert ends.told == ["given"]


def test_what_comes_after_a_cut_of_a_way_under_way_is_held_up():
    by, ends = disturber(), Ends()
    crossing = by.depart(WAY, ends.give, ends.fail)
    by.tell([CUT])
    by.arrive(crossing)
    assert ends.told == []
    by.tell([LATE])  # another disturbance, but no cut; calls are not late
    assert ends.told == ["given"]


@pytest.mark.parametrize("wrong", [CUT, FROZEN], ids=lambda each: each.verb)
def test_what_is_blocked_fails_after_the_bound(wrong):
    _, ends = sent(disturber(wrong, bound=0.03))
    [error] = ends.wait()
    assert ends.after >= 0.03
    assert isinstance(error, UnavailableError)
    assert "what ps:0 sent to worker:1 did not come within 0.03 s" in error.message
    assert wrong.named in error.message


def test_a_peer_that_is_waited_for_is_lost_too():
    by, ends = disturber(bound=0.03), Ends()
    by.depart(WAY, ends.give, ends.fail)  # nothing has come, and nothing will
    by.tell([CUT])
    assert isinstance(ends.wait()[0], UnavailableError)


def test_a_tensor_comes_late_but_no_call():
    by = disturber(LATE)
    assert sent(by)[1].told == ["given"]
    _, ends = sent(by, size=0)
    assert ends.wait() == ["given"]
    assert ends.after >= 0.03


def test_what_shares_a_narrow_way_comes_one_after_the_other():
    by = disturber(Disturbance("rate", *WAY, 1e5))
    _, first = sent(by, size=2000)
    _, second = sent(by, size=2000, began=first.began)
    first.wait(), second.wait()
    assert first.after >= 0.02
    assert second.after >= 0.04


def test_what_is_late_comes_when_that_is_healed():
    by = disturber(VERY_LATE)
    _, ends = sent(by, size=0)
    assert ends.told == []
    by.tell([])
    assert ends.told == ["given"]


def test_what_is_late_stays_so_when_something_else_changes():
    by = disturber(VERY_LATE)
    _, ends = sent(by, size=0)
    by.tell([VERY_LATE, Disturbance("slow", "ps:0", "", 2.0)])
    assert ends.told == []
    by.tell([])
    assert ends.told == ["given"]


@pytest.mark.parametrize(("chance", "is_lost"), [(0.49, True), (0.5, False)])
def test_what_is_lost_is_not_found_again(chance, is_lost):
    by = disturber(HALF_LOST, bound=0.03, chance=chance)
    _, ends = sent(by)
    by.tell([])
    [told] = ends.wait()
    assert isinstance(told, UnavailableError) is is_lost


def test_what_is_forgotten_never_comes():
    by = disturber(CUT, bound=0.01)
    crossing, ends = sent(by)
    assert by.forget(crossing)
    assert not by.forget(crossing)
    _, other = sent(by)
    other.wait()  # a later bound has passed
    by.tell([])
    assert ends.told == []


def test_its_own_task_is_told_of():
    by = disturber(FROZEN, Disturbance("slow", "worker", "", 3.0))
    assert (by.frozen, by.factor) == (FROZEN, 3.0)
    by.tell([])
    assert (by.frozen, by.factor) == (None, 1.0)
