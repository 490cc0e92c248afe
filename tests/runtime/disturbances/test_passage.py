"""What disturbances do to ways and tasks: the table of decisions."""

import pytest

from tfdist.runtime.disturbances.passage import CLEAR, Passage, task, way
from tfdist.tracing.disturbances import Disturbance as D

CUT = D("cut", "worker:1", "ps:0")
FROZEN, FROZEN_PS = D("freeze", "worker:1"), D("freeze", "ps")
LATE, LATER = D("delay", "worker:1", "ps:0", 0.01), D("delay", "*", "*", 0.5)
NARROW, NARROWER = D("rate", "worker:1", "ps:0", 1e6), D("rate", "*", "ps:0", 1e3)
LOSSY, LOSSIER = D("drop", "worker:1", "ps:0", 0.05), D("drop", "worker", "ps", 0.5)
BACK = D("delay", "ps:0", "worker:1", 0.01)
SLOW, SLOWER = D("slow", "worker:1", "", 2.0), D("slow", "worker", "", 5.0)

# What is in force, what becomes of what worker:1 sends to ps:0, and why.
WAYS = {
    "nothing is wrong": ((), CLEAR),
    "what is cut lets nothing through": ((CUT,), Passage(CUT)),
    "neither does a frozen sender": ((FROZEN,), Passage(FROZEN)),
    "nor a frozen receiver": ((FROZEN_PS,), Passage(FROZEN_PS)),
    "another way is another matter": ((BACK,), CLEAR),
    "a slow task sends as quickly as ever": ((SLOW,), CLEAR),
    "of two delays the longer one counts": ((LATE, LATER), Passage(late=LATER)),
    "of two rates the lower one counts": ((NARROW, NARROWER), Passage(narrow=NARROWER)),
    "of two losses the greater one counts": ((LOSSIER, LOSSY), Passage(lossy=LOSSIER)),
    "kinds go together": ((LATE, NARROW, LOSSY, CUT), Passage(CUT, LOSSY, LATE, NARROW)),
}


@pytest.mark.parametrize(("found", "passage"), WAYS.values(), ids=WAYS)
def test_ways(found, passage):
    assert way(found, "worker:1", "ps:0") == passage


def test_nothing_holds_up_what_stays_on_a_task():
    assert way([D("cut", "*", "*"), LATER, FROZEN], "worker:1", "worker:1") == CLEAR


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((), (None, 1.0)),
        ((SLOW,), (None, 2.0)),
        ((SLOW, SLOWER), (None, 5.0)),  # the worst counts, not the product
        ((FROZEN, SLOW), (FROZEN, 2.0)),
        ((FROZEN_PS, D("slow", "ps", "", 9.0), CUT), (None, 1.0)),
    ],
)
def test_tasks(found, told):
    assert task(found, "worker:1") == told


@pytest.mark.parametrize(
    ("passage", "size", "free_at", "arrives", "busy_until"),
    [
        (CLEAR, 1000, 0.0, 10.0, 0.0),
        (Passage(late=LATE), 1000, 0.0, 10.01, 0.0),
        (Passage(narrow=NARROW), 500_000, 0.0, 10.5, 10.5),
        (Passage(narrow=NARROW), 500_000, 12.0, 12.5, 12.5),  # behind what came before
        (Passage(narrow=NARROW, late=LATE), 500_000, 12.0, 12.51, 12.5),  # delays overlap
        (Passage(narrow=NARROW), 0, 0.0, 10.0, 10.0),  # a dead value has no size
    ],
)
def test_when_what_is_there_at_ten_arrives(passage, size, free_at, arrives, busy_until):
    assert passage.arrival(size, 10.0, free_at) == pytest.approx((arrives, busy_until))


@pytest.mark.parametrize(
    ("passage", "chance", "is_lost"),
    [
        (CLEAR, 0.0, False),
        (Passage(lossy=LOSSY), 0.049, True),
        (Passage(lossy=LOSSY), 0.05, False),
        (Passage(lossy=D("drop", "*", "*", 1.0)), 0.999, True),
    ],
)
def test_what_is_lost_by_chance(passage, chance, is_lost):
    assert passage.is_lost(chance) is is_lost


def test_the_worst_says_why():
    assert Passage(None, LOSSY, LATE, NARROW).worst == LOSSY
    assert CLEAR.worst is None
