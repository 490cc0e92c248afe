"""Waits as records: which of them say most."""

from tfdist.tracing.waits import Wait, foremost

TAKE = Wait(1, "ps", "take", "QueueDequeueV2", "cpu", "queue", "an element of 'q'")
RECEIVE = Wait(1, "worker", "take/_recv", "_Recv", "cpu", "tensor", "take of ps", tensor="take:0")


def test_a_receive_says_less_than_what_it_waits_for():
    assert foremost([RECEIVE, TAKE]) == [TAKE]


def test_a_receive_alone_says_what_is_known():
    assert foremost([RECEIVE]) == [RECEIVE]


def test_a_wait_is_told_with_its_node():
    assert TAKE.told == "take: an element of 'q'"
