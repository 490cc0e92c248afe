"""What a disturbance is called, what it says of itself, and what it concerns."""

import pytest

from tfdist.tracing.device_names import short_name
from tfdist.tracing.disturbances import (
    Disturbance,
    concerning,
    disturbances_in,
    includes,
    label_of,
)

# Each with the words that make it, what it does, and what ends it.
SAID = [
    (
        Disturbance("slow", "worker:1", "", 3),
        "slow worker:1 3",
        "what worker:1 computes takes 3 times as long",
        "%cluster heal slow worker:1",
    ),
    (Disturbance("freeze", "ps:0"), "freeze ps:0", "ps:0 is frozen", "%cluster thaw ps:0"),
    (
        Disturbance("delay", "worker:1", "ps:0", 0.03),
        "delay worker:1 ps:0 30ms",
        "what worker:1 sends to ps:0 comes 30ms late",
        "%cluster heal delay worker:1 ps:0",
    ),
    (
        Disturbance("rate", "*", "ps:0", 1.5e6),
        "rate * ps:0 1.5MB/s",
        "what every task sends to ps:0 goes at 1.5MB/s",
        "%cluster heal rate * ps:0",
    ),
    (
        Disturbance("drop", "worker:1", "*", 0.05),
        "drop worker:1 * 5%",
        "5% of what worker:1 sends to all others is lost",
        "%cluster heal drop worker:1 *",
    ),
    (
        Disturbance("drop", "worker:1", "ps:0", 1.0),
        "drop worker:1 ps:0",
        "what worker:1 sends to ps:0 is lost",
        "%cluster heal drop worker:1 ps:0",
    ),
    (
        Disturbance("cut", "ps:0,worker:1", "worker:0"),
        "cut ps:0,worker:1|worker:0",
        "ps:0 and worker:1 and worker:0 are cut off from each other",
        "%cluster heal cut ps:0,worker:1|worker:0",
    ),
    (
        Disturbance("cut", "worker", "*"),
        "cut worker",
        "all of worker is cut off from all others",
        "%cluster heal cut worker",
    ),
]


@pytest.mark.parametrize(("found", "words", "told", "cure"), SAID, ids=[s[1] for s in SAID])
def test_words_sentence_and_cure(found, words, told, cure):
    assert (found.words, found.told, found.cure) == (words, told, cure)
    assert found.named == f"{told} by %cluster {found.verb}; {cure} ends that"


def test_labels_carry_all_of_them():
    found = [each for each, *_ in SAID]
    label = "_SOURCE = NoOp()" + label_of(found) + " [clock +1 us +- 2 us]"
    assert disturbances_in([label, label, "_SOURCE = NoOp()"]) == found


def test_nothing_wrong_leaves_no_label():
    assert label_of(()) == ""


@pytest.mark.parametrize(
    ("places", "task", "is_in"),
    [
        ("worker:1", "worker:1", True),
        ("worker:1", "worker:11", False),  # names, not their beginnings
        ("worker", "worker:11", True),  # all of a job
        ("work", "worker:1", False),
        ("*", "ps:0", True),
        ("ps,worker:1", "worker:1", True),
        ("ps,worker:1", "worker:0", False),
        ("", "worker:0", False),
    ],
)
def test_places_include_tasks(places, task, is_in):
    assert includes(places, task) is is_in


@pytest.mark.parametrize(
    ("found", "there", "back"),
    [
        (Disturbance("delay", "ps:0", "worker:1", 1), True, False),  # one way
        (Disturbance("cut", "ps:0", "worker:1"), True, True),
        (Disturbance("cut", "worker:1", "*"), True, True),
        (Disturbance("delay", "*", "*", 1), True, True),
        (Disturbance("delay", "worker", "worker", 1), False, False),
        (Disturbance("slow", "*", "", 2), False, False),  # no way, but tasks
    ],
    ids=lambda each: getattr(each, "words", each),
)
def test_ways(found, there, back):
    assert found.is_between("ps:0", "worker:1") is there
    assert found.is_between("worker:1", "ps:0") is back


def test_nothing_is_between_a_task_and_itself():
    assert not Disturbance("delay", "*", "*", 1).is_between("ps:0", "ps:0")


def test_what_concerns_a_node_or_a_transfer():
    device = "/job:{}/replica:0/task:{}/device:CPU:0".format
    found = [Disturbance("slow", "ps", "", 2), Disturbance("delay", "ps:0", "worker:1", 1)]
    assert concerning(found, device("ps", 0)) == "slow ps 2"
    assert concerning(found, device("worker", 1)) == ""
    assert concerning(found, device("worker", 1), device("ps", 0)) == "delay ps:0 worker:1 1s"
    assert concerning(found, device("ps", 0), device("worker", 1)) == ""


def test_tasks_as_they_are_typed():
    assert short_name("/job:worker/replica:0/task:1/device:GPU:0") == "worker:1"
    assert short_name("/job:ps/task:0") == "ps:0"
