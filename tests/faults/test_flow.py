"""The checker of a shared queue itself: what it accepts, and what it catches."""

from __future__ import annotations

import pytest

from tests.faults.flow import Flow, Producer, Trainer, check_flow

KILLED = Producer(acknowledged=2, pending=3)  # in a call that was to put 2, 3 and 4


def numbers(*found, of=0):
    """Return elements of a producer."""
    return [(of, number) for number in found]


def test_what_clients_print_is_followed():
    producer, trainer = Producer(), Trainer()
    for line in ("put 1", "done", "put 3", "done", "put 7"):
        producer.hear(line)
    for line in ("take 2", "got 0:0 1:5", "take 4"):
        trainer.hear(line)
    assert producer == Producer(acknowledged=4, pending=7)
    assert trainer == Trainer([(0, 0), (1, 5)], pending=4)


def test_what_was_refused_did_not_happen():
    producer, trainer = Producer(), Trainer()
    producer.hear("put 3")
    producer.hear("refused")
    trainer.hear("take 3")
    trainer.hear("refused")
    assert producer == Producer()
    assert trainer == Trainer()


def test_a_batch_of_another_size_is_caught():
    trainer = Trainer()
    trainer.hear("take 3")
    with pytest.raises(AssertionError, match="3 wanted: got 0:1"):
        trainer.hear("got 0:1")


@pytest.mark.parametrize(
    ("producers", "trainers", "inside", "flow"),
    [
        pytest.param(
            [Producer(3), Producer(2)],
            [Trainer([(0, 0), (1, 0), (1, 1)]), Trainer(numbers(1))],
            numbers(2),
            Flow(put=5, untold=0, taken=4, inside=1, lost=0),
            id="nobody was killed",
        ),
        pytest.param(
            [KILLED], [Trainer(numbers(0))], numbers(1),
            Flow(put=2, untold=0, taken=1, inside=1, lost=0),
            id="a put that had not happened",
        ),
        pytest.param(
            [KILLED], [Trainer(numbers(0, 1))], numbers(2, 3),
            Flow(put=4, untold=2, taken=2, inside=2, lost=0),
            id="a put of which a beginning had happened",
        ),
        pytest.param(
            [Producer(5)], [Trainer(numbers(0), pending=3), Trainer(numbers(4))], [],
            Flow(put=5, untold=0, taken=2, inside=0, lost=3),
            id="a take that had happened",
        ),
        pytest.param(
            [Producer(2)], [Trainer(pending=3)], numbers(0, 1),
            Flow(put=2, untold=0, taken=0, inside=2, lost=0),
            id="a take that had not happened",
        ),
        pytest.param(
            [KILLED], [Trainer(pending=2), Trainer(numbers(0))], numbers(3),
            Flow(put=4, untold=2, taken=1, inside=1, lost=2),
            id="both had happened",
        ),
    ],
)  # fmt: skip
def test_where_elements_went(producers, trainers, inside, flow):
    assert check_flow(dict(enumerate(producers)), trainers, inside) == flow


@pytest.mark.parametrize(
    ("producers", "trainers", "inside", "text"),
    [
        pytest.param(
            [Producer(3)], [Trainer(numbers(0))], numbers(2), "takes of producer 0 are lost",
            id="lost",
        ),
        pytest.param(
            [Producer(4)], [Trainer(numbers(0), pending=1)], numbers(3), "2 elements are lost, 1",
            id="more are lost than one take can explain",
        ),
        pytest.param(
            [Producer(5)], [Trainer(numbers(1, 3), pending=9)], [], "3 takes of producer 0",
            id="one take that had happened thrice",
        ),
        pytest.param(
            [Producer(2)], [Trainer(numbers(0, 1)), Trainer(numbers(1))], [], "came twice",
            id="given to both",
        ),
        pytest.param(
            [Producer(2)], [Trainer(numbers(0, 0, 1))], [], "0 of producer 0 came twice",
            id="given twice",
        ),
        pytest.param(
            [Producer(2)], [Trainer(numbers(0, 1))], numbers(1), "came twice", id="given and kept"
        ),
        pytest.param(
            [Producer(2)], [Trainer(numbers(1, 0))], [], "0 came after 1", id="out of order"
        ),
        pytest.param(
            [Producer(2)], [Trainer(numbers(1))], numbers(0), "0 is inside", id="overtaken"
        ),
        pytest.param(
            [KILLED], [Trainer(numbers(0, 1, 3), pending=1)], numbers(4, 5), "5 elements at most",
            id="more was put than was to be",
        ),
        pytest.param(
            [Producer(1)], [Trainer(numbers(0))], numbers(0, of=7), r"of producers \{7\}",
            id="from nowhere",
        ),
    ],
)  # fmt: skip
def test_a_wrong_flow_is_caught(producers, trainers, inside, text):
    with pytest.raises(AssertionError, match=text):
        check_flow(dict(enumerate(producers)), trainers, inside)
