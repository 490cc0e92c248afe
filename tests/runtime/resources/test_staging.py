"""What staging areas do: elements in order or by key, within bounds."""

import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError, ResourceExhaustedError
from tfdist.runtime.resources.map_staging import MapStage
from tfdist.runtime.resources.staging import Stage
from tfdist.runtime.resources.wait_info import Waiting


def begun(wait):
    """Start a wait; return its outcomes so far, to which later ones are appended."""
    from tfdist.graph.op_def import PENDING

    outcomes = []
    now = wait.start(outcomes.append)
    return [now] if now is not PENDING else outcomes


def stage(capacity=0, memory_limit=0):
    return Stage("s", ["int32"], capacity, memory_limit)


def test_elements_leave_in_order():
    area = stage()
    begun(area.put([1])), begun(area.put([2]))
    assert [*begun(area.get()), *begun(area.get())] == [[1], [2]]
    assert area.size() == 0


def test_an_element_is_waited_for():
    area = stage()
    first, second = begun(area.get()), begun(area.get())
    begun(area.put([1]))
    assert (first, second) == ([[1]], [])


def test_a_full_area_lets_nobody_put():
    area = stage(capacity=1)
    assert begun(area.put([1])) == [None]
    waiting = begun(area.put([2]))
    assert waiting == []
    assert begun(area.get()) == [[1]]
    assert (waiting, area.size()) == ([None], 1)


def test_bytes_are_counted():
    area = stage(memory_limit=10)
    four = [np.zeros(1, np.float32)]
    begun(area.put(four)), begun(area.put(four))
    waiting = begun(area.put(four))
    assert waiting == []
    area.clear()
    assert (waiting, area.size()) == ([None], 1)
    [error] = begun(area.put([np.zeros(3, np.float32)]))
    assert isinstance(error, ResourceExhaustedError)


def test_what_is_seen_stays():
    area = stage()
    seen = begun(area.peek(1))
    begun(area.put([1]))
    assert seen == []
    begun(area.put([2]))
    assert (seen, area.size()) == ([[2]], 2)


@pytest.mark.parametrize("is_peek", [False, True])
def test_what_comes_too_late_goes_back(is_peek):
    area = stage()
    wait = area.peek(0) if is_peek else area.get()
    outcomes = begun(wait)
    begun(area.put([1])), begun(area.put([2]))
    assert not wait.cancel()
    wait.give_back(outcomes[0])
    assert [*begun(area.get()), *begun(area.get()), area.size()] == [[1], [2], 0]


def test_who_leaves_gets_nothing():
    area = stage()
    wait = area.get()
    outcomes = begun(wait)
    assert wait.cancel()
    begun(area.put([1]))
    assert (outcomes, area.size()) == ([], 1)


def test_it_tells_who_waits():
    area = stage(capacity=1, memory_limit=100)
    begun(area.put([np.zeros(2, np.float32)]))
    wait = area.put([1])
    begun(wait)
    info = area.info()
    assert (info.kind, info.fill, info.capacity) == ("StagingArea", 1, 1)
    assert info.producers == (Waiting(wait, 1),)
    assert wait.describe() == (
        "put on staging area 's' waits for room (it holds 1 of 1, 8 of 100 bytes)"
    )


def by_key(capacity=0, is_ordered=False):
    return MapStage("m", ["int32", "int32"], capacity, 0, is_ordered)


def test_parts_come_one_by_one():
    area = by_key()
    got = begun(area.get(3, [0, 1]))
    begun(area.put(3, {1: "b"}))
    assert (got, area.size(), area.incomplete_size()) == ([], 0, 1)
    begun(area.put(3, {0: "a"}))
    assert (got, area.size(), area.incomplete_size()) == ([(3, ["a", "b"])], 0, 0)


@pytest.mark.parametrize(("is_ordered", "first"), [(True, 1), (False, 5)])
def test_without_a_key_the_least_or_the_first_leaves(is_ordered, first):
    area = by_key(is_ordered=is_ordered)
    for key in (5, 1):
        begun(area.put(key, {0: "a", 1: "b"}))
    assert begun(area.get(None, [0, 1])) == [(first, ["a", "b"])]


def test_parts_leave_one_by_one():
    area = by_key()
    begun(area.put(5, {0: "a", 1: "b"}))
    assert begun(area.get(5, [1])) == [(5, ["b"])]
    [error] = begun(area.get(5, [1]))
    assert isinstance(error, InvalidArgumentError)
    assert begun(area.get(5, [0])) == [(5, ["a"])]
    assert area.size() == 0


def test_a_part_comes_once():
    area = by_key()
    begun(area.put(5, {0: "a"}))
    [error] = begun(area.put(5, {0: "z"}))
    assert isinstance(error, InvalidArgumentError)
    begun(area.put(5, {1: "b"}))
    assert begun(area.peek(5, [0, 1])) == [(5, ["a", "b"])]


def test_what_comes_too_late_goes_back_to_its_key():
    area = by_key()
    wait = area.get(5, [1])
    outcomes = begun(wait)
    begun(area.put(5, {0: "a", 1: "b"}))
    wait.give_back(outcomes[0])
    assert begun(area.get(5, [0, 1])) == [(5, ["a", "b"])]


def test_new_keys_wait_for_room_and_known_ones_do_not():
    area = by_key(capacity=1)
    begun(area.put(1, {0: "a"}))
    waiting = begun(area.put(2, {0: "c"}))
    assert begun(area.put(1, {1: "b"})) == [None]
    assert waiting == []
    begun(area.get(1, [0, 1]))
    assert waiting == [None]
