"""What a queue does, as a table: lines of producers and consumers, and who is served when.

Events are written as sentences: "p puts 1 2", "c takes 2", "c takes up to 2", "c leaves", "close",
"close and cancel", "1 2 come back". What happens is "p done", "c gets 1 2", "c OutOfRangeError".
"""

import random
from collections import deque

import pytest

from tfdist.errors import CancelledError, OutOfRangeError
from tfdist.runtime.resources.queue_state import QueueState
from tfdist.runtime.resources.queue_stores import Heap
from tfdist.runtime.resources.wait_info import ResourceInfo, Waiting


def happen(queue, event):
    """Let `event` happen to `queue`; return the completions in words."""
    words = event.split()
    numbers = [int(word) for word in words if word.isdigit()]
    if words[0] == "close":
        done = queue.close("cancel" in words)
    elif "back" in words:
        done = queue.give_back(numbers)
    elif words[1] == "puts":
        done = queue.put(words[0], numbers)
    elif words[1] == "takes":
        done = queue.take(words[0], numbers[0], "up" in words)
    else:
        was_there, done = queue.cancel(words[0])
        assert was_there
    return [in_words(*each) for each in done]


def in_words(who, outcome):
    if outcome is None:
        return f"{who} done"
    if isinstance(outcome, Exception):
        return f"{who} {type(outcome).__name__}"
    return " ".join([who, "gets", *map(str, outcome)])


TABLE = [
    # elements and order
    pytest.param(9, "p puts 1; c takes 1", "p done; c gets 1", "", id="one in, one out"),
    pytest.param(9, "p puts 1 2 3; c takes 2", "p done; c gets 1 2", "3", id="first in, first out"),
    pytest.param(9, "c takes 1; p puts 1", "p done; c gets 1", "", id="a consumer waits"),
    pytest.param(
        9, "b takes 1; c takes 1; p puts 1 2", "p done; b gets 1; c gets 2", "",
        id="consumers are served in the order they came",
    ),
    pytest.param(
        9, "b takes 2; c takes 1; p puts 1; q puts 2; r puts 3",
        "p done; q done; b gets 1 2; r done; c gets 3", "",
        id="who wants one waits behind who wants two",
    ),
    pytest.param(9, "c takes 0", "c gets", "", id="nothing is wanted, nothing is waited for"),
    pytest.param(-1, "p puts 1 2 3 4", "p done", "1 2 3 4", id="-1 is no bound"),
    # capacity
    pytest.param(1, "p puts 1; q puts 2", "p done", "1", id="a full queue lets nobody put"),
    pytest.param(
        1, "p puts 1; q puts 2; c takes 1", "p done; c gets 1; q done", "2", id="a place is free"
    ),
    pytest.param(
        1, "p puts 1; q puts 2; r puts 3; c takes 1; d takes 1",
        "p done; c gets 1; q done; d gets 2; r done", "3",
        id="producers are served in the order they came",
    ),
    pytest.param(2, "p puts 1 2 3", "", "1 2", id="a batch enters as far as there is room"),
    pytest.param(
        2, "p puts 1 2 3; c takes 1", "c gets 1; p done", "2 3", id="a batch is done when all is in"
    ),
    pytest.param(
        1, "p puts 1 2 3; c takes 3", "p done; c gets 1 2 3", "",
        id="more can be taken than the queue holds",
    ),
    pytest.param(
        1, "c takes 3; p puts 1; q puts 2; r puts 3", "p done; q done; r done; c gets 1 2 3", "",
        id="what is collected leaves room",
    ),
    # close
    pytest.param(9, "close; p puts 1", "p CancelledError", "", id="a closed queue takes no more"),
    pytest.param(9, "close; c takes 1", "c OutOfRangeError", "", id="it has nothing to wait for"),
    pytest.param(9, "p puts 1; close; c takes 1", "p done; c gets 1", "", id="what is in comes"),
    pytest.param(
        9, "p puts 1; close; c takes 2", "p done; c OutOfRangeError", "1",
        id="too few stay where they are",
    ),
    pytest.param(
        9, "p puts 1; close; c takes up to 2", "p done; c gets 1", "", id="up to two may be one"
    ),
    pytest.param(9, "close; c takes up to 2", "c OutOfRangeError", "", id="but not none"),
    pytest.param(
        9, "p puts 1; c takes up to 2; q puts 2", "p done; q done; c gets 1 2", "",
        id="up to two waits for two while the queue is open",
    ),
    pytest.param(
        9, "p puts 1; c takes 2; close", "p done; c OutOfRangeError", "1",
        id="closing answers those who wait; what they had goes back",
    ),
    pytest.param(
        9, "p puts 1; c takes up to 3; d takes up to 1; close",
        "p done; c gets 1; d OutOfRangeError", "", id="closing answers them in order",
    ),
    pytest.param(
        1, "p puts 1; q puts 2; close; c takes 1; d takes 1",
        "p done; c gets 1; q done; d gets 2", "", id="who stood in line before may still put",
    ),
    pytest.param(
        1, "p puts 1; q puts 2; close; c takes 3", "p done; q done; c OutOfRangeError", "1 2",
        id="then it is over",
    ),
    pytest.param(
        1, "p puts 1; q puts 2; close and cancel", "p done; q CancelledError", "1",
        id="unless they are cancelled",
    ),
    pytest.param(
        2, "p puts 1 2 3; close and cancel", "p CancelledError", "1 2",
        id="what entered of a cancelled batch stays",
    ),
    pytest.param(9, "close; close", "", "", id="closing twice"),
    pytest.param(
        9, "p puts 1 2; c takes 3; d takes 1; close", "p done; c OutOfRangeError; d gets 1", "2",
        id="what one gives back on closing serves the next",
    ),
    # leaving
    pytest.param(9, "c takes 1; c leaves; p puts 1", "p done", "1", id="nobody is waited for"),
    pytest.param(
        9, "p puts 1 2; c takes 3; c leaves", "p done", "1 2",
        id="what was collected comes back in order",
    ),
    pytest.param(
        9, "p puts 1 2; b takes 3; c takes 2; b leaves", "p done; c gets 1 2", "",
        id="it goes to the next in line",
    ),
    pytest.param(
        9, "b takes 3; p puts 1; q puts 2; c takes 1; b leaves", "p done; q done; c gets 1", "2",
        id="who waited behind is served first come first",
    ),
    pytest.param(
        1, "p puts 1; q puts 2; q leaves; c takes 1", "p done; c gets 1", "", id="a producer leaves"
    ),
    pytest.param(
        1, "p puts 1; q puts 2; r puts 3; q leaves; c takes 1", "p done; c gets 1; r done", "3",
        id="the next producer moves up",
    ),
    pytest.param(
        1, "p puts 1 2; p leaves", "", "1", id="what had entered of a batch stays"
    ),
    # coming back
    pytest.param(
        9, "p puts 1 2 3; c takes 2; 1 2 come back", "p done; c gets 1 2", "1 2 3",
        id="elements come back to the front",
    ),
    pytest.param(
        9, "p puts 1; c takes 1; d takes 1; 1 come back", "p done; c gets 1; d gets 1", "",
        id="and go to who waits",
    ),
    pytest.param(
        1, "p puts 1; c takes 1; q puts 2; 1 come back", "p done; c gets 1; q done", "1 2",
        id="even if the queue is full meanwhile",
    ),
    pytest.param(
        9, "p puts 1; c takes 1; close; 1 come back; d takes 1", "p done; c gets 1; d gets 1", "",
        id="even if it is closed meanwhile",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("capacity", "events", "outcome", "left"), TABLE)
def test_a_queue(capacity, events, outcome, left):
    queue = QueueState("q", capacity)
    done = [each for event in events.split("; ") for each in happen(queue, event)]
    assert done == outcome.split("; ") * bool(outcome)
    assert [str(element) for element in queue.elements] == left.split()


KEPT = [
    pytest.param("p puts 1 2 3; c takes 1", "p done; c gets 1", "2 3", id="two may stay"),
    pytest.param("p puts 1 2; c takes 1", "p done", "1 2", id="two have to stay"),
    pytest.param(
        "p puts 1 2; c takes 1; q puts 3", "p done; q done; c gets 1", "2 3", id="until more come"
    ),
    pytest.param(
        "p puts 1 2 3; c takes 2; d takes 1; q puts 4 5", "p done; q done; c gets 1 2; d gets 3",
        "4 5", id="a part is collected",
    ),
    pytest.param(
        "p puts 1 2; c takes 2; close", "p done; c gets 1 2", "", id="until the queue is closed"
    ),
    pytest.param(
        "p puts 1 2; c takes up to 3; close", "p done; c gets 1 2", "", id="fewer are enough then"
    ),
    pytest.param(
        "p puts 1 2 3; c takes 3; c leaves", "p done", "1 2 3", id="what was collected comes back"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("events", "outcome", "left"), KEPT)
def test_some_elements_stay_while_it_is_open(events, outcome, left):
    queue = QueueState("q", 9, min_after_dequeue=2)
    done = [each for event in events.split("; ") for each in happen(queue, event)]
    assert done == outcome.split("; ")
    assert [str(element) for element in queue.elements] == left.split()


TOGETHER = [
    pytest.param("c takes 2; p puts 5; q puts 1", "p done; q done; c gets 1 5", "", id="the least"),
    pytest.param(
        "c takes 4; p puts 5 6 7 8", "p done; c gets 5 6 7 8", "", id="more than there is room for"
    ),
    pytest.param("p puts 5; c takes 2; close", "p done; c OutOfRangeError", "5", id="too few"),
    pytest.param(
        "p puts 5; c takes up to 2; close",
        "p done; c OutOfRangeError",
        "",
        id="TensorFlow gives no fewer, and loses them",
    ),
]


@pytest.mark.parametrize(("events", "outcome", "left"), TOGETHER)
def test_by_priority_elements_leave_together(events, outcome, left):
    queue = QueueState("q", 3, Heap(lambda batch: batch[0]))
    done = [each for event in events.split("; ") for each in happen(queue, event)]
    assert done == outcome.split("; ")
    assert [str(element) for element in queue.elements] == left.split()


def test_facts_tell_who_misses_what():
    queue = QueueState("q", 2, min_after_dequeue=1, kind="RandomShuffleQueue", container="mine")
    queue.put("p", [1, 2, 3])
    assert queue.info() == ResourceInfo(
        "RandomShuffleQueue", "q", "mine", 2, 2, 1, False, (Waiting("p", 1),), ()
    )
    queue.take("c", 4)
    queue.take("d", 1)
    info = queue.info()
    assert (info.fill, info.producers) == (1, ())
    assert info.consumers == (Waiting("c", 2), Waiting("d", 1))


def test_who_does_not_stand_in_line_cannot_leave():
    queue = QueueState("q", 1)
    queue.put("p", [1])
    assert queue.cancel("p") == (False, [])
    assert list(queue.elements) == [1]


def test_how_many_are_missing():
    queue = QueueState("q", 2)
    queue.put("p", [1, 2, 3, 4])
    assert (queue.missing("p"), queue.missing("nobody")) == (2, 0)
    queue.take("c", 7)
    assert queue.missing("c") == 3


def test_the_errors_say_what_happened():
    queue = QueueState("q", 9)
    queue.put("p", [1])
    queue.close()
    [(_, error)] = queue.take("c", 2)
    assert isinstance(error, OutOfRangeError)
    assert "'q' is closed and has insufficient elements (requested 2, current size 1)" in str(error)
    [(_, error)] = queue.put("p", [1])
    assert isinstance(error, CancelledError)
    assert "'q' is closed" in str(error)


class Model:
    """A queue under random events, with an account of every element."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.queue = QueueState("q", self.rng.choice([-1, 1, 2, 5]))
        self.next = 0
        self.given = []  # elements that consumers got, in the order they got them
        self.dropped = set()  # elements of producers who left or were cancelled
        self.putting = {}  # producer in line -> its elements
        self.taking = {}  # consumer in line -> (wanted, up to)

    def step(self):
        kind = self.rng.choice(["put", "put", "take", "take", "leave"])
        if kind == "put":
            self.put(self.rng.randrange(4))
        elif kind == "take":
            self.take(self.rng.randrange(4), self.rng.random() < 0.3)
        elif self.putting or self.taking:
            self.leave(self.rng.choice([*self.putting, *self.taking]))

    def put(self, count):
        who = object()
        elements = list(range(self.next, self.next + count))
        self.next += count
        self.putting[who] = elements
        before = len(self.queue.elements)
        self.settle(self.queue.put(who, elements))
        if self.queue.capacity > 0:  # only what comes back may exceed it
            assert len(self.queue.elements) <= max(before, self.queue.capacity)

    def take(self, wanted, up_to):
        who = object()
        self.taking[who] = (wanted, up_to)
        self.settle(self.queue.take(who, wanted, up_to))

    def leave(self, who):
        if who in self.putting:
            [line] = [put for put in self.queue.puts if put.who is who]
            self.dropped |= set(line.elements)
        found, done = self.queue.cancel(who)
        assert found
        self.putting.pop(who, None)
        self.taking.pop(who, None)
        self.settle(done)

    def close(self, cancel):
        if cancel:
            self.dropped |= {each for put in self.queue.puts for each in put.elements}
        self.settle(self.queue.close(cancel))

    def settle(self, done):
        for who, outcome in done:
            if who in self.putting:
                del self.putting[who]
                assert outcome is None or self.queue.closed
            else:
                self.got(*self.taking.pop(who), outcome)

    def got(self, wanted, up_to, outcome):
        if isinstance(outcome, OutOfRangeError):
            assert self.queue.closed
            return
        assert len(outcome) == wanted or (up_to and self.queue.closed and outcome)
        self.given += outcome

    def check(self):
        inside = [*self.queue.elements]
        for take in reversed(self.queue.takes):
            inside = [*take.got, *inside]
        waiting = [each for put in self.queue.puts for each in put.elements]
        found = [*self.given, *inside, *waiting]
        assert len(found) == len(set(found)), "an element is there twice"
        assert set(found) | self.dropped == set(range(self.next)), "an element is lost"
        assert self.given + inside + waiting == sorted(found), "elements are out of order"
        assert deque(put.who for put in self.queue.puts) == deque(self.putting)
        assert deque(take.who for take in self.queue.takes) == deque(self.taking)


@pytest.mark.parametrize("seed", range(40))
def test_no_element_is_ever_lost_doubled_or_overtaken(seed):
    model = Model(seed)
    for _ in range(200):
        model.step()
        model.check()
    model.close(cancel=seed % 2 == 0)
    model.check()
    while model.putting:  # the others may still put, as room is made
        model.take(1, False)
        model.check()
    model.take(10**6, True)
    model.check()
    assert not model.taking
    assert sorted([*model.given, *model.dropped]) == list(range(model.next))
