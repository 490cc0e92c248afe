"""State of a task: found by container, kind and name; changed by many threads at once."""

import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from tfdist.errors import FailedPreconditionError, OutOfRangeError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.generators import Generators
from tfdist.runtime.resources.queues import Queue
from tfdist.runtime.resources.registry import Resources
from tfdist.runtime.resources.variables import Variable


def in_threads(count: int, function: Callable[[int], None]) -> None:
    """Run `function` with 0, 1, ... at the same time; raise the first error."""
    errors, start = [], threading.Barrier(count)

    def body(i):
        try:
            start.wait(10)
            function(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if errors:
        raise errors[0]


def make(cls):
    return cls("v")


def test_a_resource_is_made_once():
    resources = Resources()
    first = resources.find("variable", "", "v", make)
    assert resources.find("variable", "", "v", make) is first
    assert resources.find("variable", "localhost", "v", make) is first


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(("variable", "", "w"), id="another name"),
        pytest.param(("variable", "mine", "v"), id="another container"),
    ],
)
def test_resources_are_told_apart(key):
    resources = Resources()
    first = resources.find("variable", "", "v", make)
    assert resources.find(*key, make) is not first


def test_a_resource_is_made_once_by_many_threads():
    resources, found = Resources(), []
    in_threads(8, lambda i: found.append(resources.find("variable", "", "v", make)))
    assert len({id(each) for each in found}) == 1


@pytest.mark.parametrize(
    ("containers", "left"),
    [
        pytest.param([], [], id="all of them if none is named"),
        pytest.param(["mine"], ["localhost", "yours"], id="the named one"),
        pytest.param(["localhost"], ["mine", "yours"], id="the one without a name"),
        pytest.param(["nobodys"], ["localhost", "mine", "yours"], id="one that is not there"),
    ],
)
def test_containers_are_cleared(containers, left):
    resources = Resources()
    for container in ("", "mine", "yours"):
        resources.find("variable", container, "v", make)
    resources.clear(containers)
    assert [row[0] for row in resources.rows()] == left


def test_rows_tell_of_all_kinds():
    resources = Resources()
    resources.find("variable", "", "v", make)
    resources.find("queue", "", "q", lambda cls: cls("q", 1, [], []))
    assert [row[:3] for row in resources.rows()] == [
        ("localhost", "queue", "q"),
        ("localhost", "variable", "v"),
    ]


def test_rows_tell_of_two_resources_of_one_name():
    resources = Resources()
    for kind in ("variable", "queue"):
        resources.find(
            kind, "", "x", lambda cls: cls("x", *(() if cls is Variable else (1, [], [])))
        )
    assert len(resources.rows()) == 2


def test_a_variable_has_no_value_at_first():
    with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
        Variable("v").read()
    with pytest.raises(FailedPreconditionError):
        Variable("v").update(lambda old: old)


@pytest.fixture
def restless():
    """Let Python change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_concurrent_updates_are_not_lost():
    variable = Variable("v")
    variable.assign(np.zeros(3))

    def slow_sum(old, _):
        for _ in range(10):
            old = old + 0.1  # never in place: others may have read it
        return old

    def raise_it(_):
        for _ in range(500):
            variable.update(slow_sum)

    in_threads(6, raise_it)
    np.testing.assert_allclose(variable.read(), [3000.0] * 3)


def test_who_has_read_a_variable_keeps_what_was_read():
    variable = Variable("v")
    variable.assign(np.zeros(2))
    before = variable.read()
    variable.update(lambda old, _: old + 1.0)
    assert before.tolist() == [0.0, 0.0]


def test_an_update_that_fails_changes_nothing_and_holds_nothing():
    variable = Variable("v")
    variable.assign(np.zeros(2))
    with pytest.raises(ValueError, match="broadcast"):
        variable.update(lambda old, _: old + np.zeros(3))
    variable.update(lambda old, _: old + 1.0)
    assert variable.read().tolist() == [1.0, 1.0]


def started(wait):
    """Start a wait; return its outcomes so far, to which later ones are appended."""
    outcomes = []
    now = wait.start(outcomes.append)
    return [now] if now is not PENDING else outcomes


def test_a_wait_is_over_at_once_or_later():
    queue = Queue("q", 1, [], [])
    waiting = started(queue.take(1))
    assert waiting == []
    assert started(queue.put(["x"])) == [None]
    assert waiting == [["x"]]
    assert queue.size() == 0


def test_a_wait_can_be_given_up_once():
    queue = Queue("q", 1, [], [])
    wait = queue.take(1)
    outcomes = started(wait)
    assert wait.cancel()
    assert not wait.cancel()
    started(queue.put(["x"]))
    assert outcomes == []
    assert queue.size() == 1


def test_what_came_too_late_can_be_given_back():
    queue = Queue("q", 9, [], [])
    wait = queue.take(2)
    outcomes = started(wait)
    started(queue.put(["x", "y", "z"]))
    assert not wait.cancel()
    wait.give_back(outcomes[0])
    assert started(queue.take(3)) == [["x", "y", "z"]]


def test_closing_tells_who_waits():
    queue = Queue("q", 9, [], [])
    outcomes = started(queue.take(1))
    queue.close(False)
    assert queue.closed
    assert isinstance(outcomes[0], OutOfRangeError)


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        pytest.param(
            lambda q: q.take(3),
            "dequeue_many(3) on queue 'q' waits for 2 more elements (it holds 0 of 1)",
            id="elements",
        ),
        pytest.param(
            lambda q: q.put(["b", "c"]),
            "enqueue on queue 'q' waits for 2 more free places (it holds 1 of 1)",
            id="places",
        ),
    ],
)
def test_a_wait_says_what_for(begin, text):
    queue = Queue("q", 1, [], [])
    started(queue.put(["a"]))
    wait = begin(queue)
    started(wait)
    assert wait.describe() == text


def test_an_unbounded_queue_says_so():
    queue = Queue("q", -1, [], [])
    wait = queue.take(1)
    started(wait)
    assert "-1" not in wait.describe()


def test_many_producers_and_consumers_lose_nothing():
    queue, got, lock = Queue("q", 3, [], []), [], threading.Lock()

    def blocking(wait):
        outcome, event = [], threading.Event()

        def done(result):
            outcome.append(result)
            event.set()

        now = wait.start(done)
        assert now is not PENDING or event.wait(30)
        return outcome[0] if now is PENDING else now

    def work(i):
        for n in range(100):
            if i % 2:
                blocking(queue.put([(i, n)]))
            else:
                taken = blocking(queue.take(1))
                with lock:
                    got.extend(taken)

    in_threads(8, work)
    assert sorted(got) == [(i, n) for i in (1, 3, 5, 7) for n in range(100)]


def test_random_generators_live_as_long_as_the_session():
    one, other = Generators(), Generators()
    first = one.find("node", 1, 2).random()
    assert one.find("node", 1, 2).random() != first
    assert other.find("node", 1, 2).random() == first
    assert other.find("other", 1, 3).random() != first


def test_without_seeds_nothing_repeats():
    draws = {Generators().find("node", 0, 0).random() for _ in range(5)}
    assert len(draws) == 5


def test_seeds_may_be_negative():
    assert Generators().find("n", -1, 5).random() == Generators().find("n", -1, 5).random()
