"""Disturbances as they are typed, and what is healed by which words."""

import re

import pytest

from tfdist.launch.disturbances import added, disturbance_of, healed
from tfdist.tracing.disturbances import Disturbance as D

TASKS = ("ps:0", "worker:0", "worker:1")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("slow worker:1 3", D("slow", "worker:1", "", 3.0)),
        ("slow /job:worker/task:1 2.5x", D("slow", "worker:1", "", 2.5)),
        ("slow worker 3", D("slow", "worker", "", 3.0)),  # all of a job
        ("slow ps 3", D("slow", "ps:0", "", 3.0)),  # which has one task only
        ("freeze *", D("freeze", "*")),
        ("delay worker:0 worker:1 30ms", D("delay", "worker:0", "worker:1", 0.03)),
        ("delay * ps:0 1.5s", D("delay", "*", "ps:0", 1.5)),
        ("rate ps:0 worker 10MB/s", D("rate", "ps:0", "worker", 1e7)),
        ("drop worker:0 ps:0 5%", D("drop", "worker:0", "ps:0", 0.05)),
        ("drop worker:0 ps:0", D("drop", "worker:0", "ps:0", 1.0)),  # all
        ("cut worker:0|ps:0", D("cut", "worker:0", "ps:0")),
        ("cut worker:0 | ps:0", D("cut", "worker:0", "ps:0")),
        ("cut worker:0 ps:0", D("cut", "worker:0", "ps:0")),
        ("cut ps:0,worker:0|worker:1", D("cut", "ps:0,worker:0", "worker:1")),
        ("cut worker:1", D("cut", "worker:1", "*")),  # off from all others
    ],
)
def test_what_is_typed(text, found):
    assert disturbance_of(text, TASKS) == found
    assert disturbance_of(found.words, TASKS) == found  # so what is listed can be typed again


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'' is no disturbance; there are slow, freeze, delay, rate, drop, cut"),
        ("slwo worker:1 3", "did you mean slow?"),
        ("slow", "slow: which task, and how much? Try: slow worker:1 3"),
        ("slow worker:1", "slow: which task, and how much?"),
        ("slow worker:1 worker:0 3", "slow: which task, and how much?"),
        ("freeze", "freeze: which task? Try: freeze worker:1"),
        ("freeze worker:1 3", "freeze: which task?"),
        ("delay worker:0 30ms", "delay: from which task to which, and how much?"),
        ("cut", "cut: from which task to which?"),
        ("cut a|b|c", "cut: from which task to which?"),
        ("slow worker:3 3", "slow: no task worker:3; did you mean worker:"),
        ("slow wroker:1 3", "did you mean worker:1? The cluster has ps:0, worker:0, worker:1"),
        ("delay ps:0 chief:0 1s", "delay: no task chief:0; the cluster has ps:0, worker:0"),
        ("slow worker:1 much", "slow: 'much' is not a number above 1"),
        ("slow worker:1 1", "slow: '1' is not a number above 1"),
        ("slow worker:1 nan", "slow: 'nan' is not a number above 1"),
        ("delay ps:0 worker:1 30", "delay: '30' is not a duration: 50ms, 1.5s"),
        ("delay ps:0 worker:1 0ms", "delay: '0ms' delays nothing"),
        ("delay ps:0 worker:1 30MB", "'30MB' is not a duration"),
        ("rate ps:0 worker:1 10MB", "rate: '10MB' is not a rate: 10MB/s, 1GB/s"),
        ("rate ps:0 worker:1 0MB/s", "rate: '0MB/s' lets nothing through: cut does that"),
        ("drop ps:0 worker:1 150%", "drop: '150%' is more than all"),
        ("drop ps:0 worker:1 0%", "drop: '0%' loses nothing"),
        ("drop ps:0 worker:1 -5%", "drop: '-5%' is not a share"),
        ("delay ps:0 ps:0 1s", "delay: ps:0 and ps:0: no two tasks, and so no way between them"),
    ],
)
def test_what_cannot_be_is_told(text, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        disturbance_of(text, TASKS)


SLOW, LATE = D("slow", "worker:1", "", 3.0), D("delay", "worker:1", "ps:0", 0.03)
BACK, CUT = D("delay", "ps:0", "worker:1", 0.03), D("cut", "worker:1,worker:0", "ps:0")
ALL = [SLOW, LATE, BACK, CUT]


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("delay", [LATE, BACK]),  # all of a kind
        ("worker:0", [CUT]),  # all that concerns a task
        ("/job:worker/task:1", ALL),
        ("delay worker:1 ps:0", [LATE]),  # one way
        ("delay worker:1 ps:0 30ms", [LATE]),  # as it was typed
        ("slow worker:1 3", [SLOW]),
        ("cut ps:0|worker:1,worker:0", [CUT]),  # which goes both ways
    ],
)
def test_what_is_healed(text, ended):
    assert healed(ALL, text) == [each for each in ALL if each not in ended]


@pytest.mark.parametrize("text", ["freeze", "worker:7", "delay ps:0 worker:0", "nonsense"])
def test_what_is_not_there_cannot_be_healed(text):
    with pytest.raises(ValueError, match="names no disturbance; disturbed are: slow worker:1 3; d"):
        healed(ALL, text)
    with pytest.raises(ValueError, match="nothing is disturbed"):
        healed([], text)


def test_a_second_one_takes_the_place_of_the_first():
    slower = SLOW._replace(amount=5.0)
    assert added([SLOW, LATE], [slower]) == [LATE, slower]
