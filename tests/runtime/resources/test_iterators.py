"""Turns at an iterator, without steps and threads: who drives, who stands in line."""

import pytest

from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.iterators import Iterator


@pytest.fixture
def iterator():
    return Iterator("named", [], [])


def stand_in_line(iterator, outcomes, name):
    wait = iterator.enter()
    assert wait.start(lambda outcome: outcomes.append(name)) is PENDING
    return wait


def test_one_drives_and_the_others_follow_in_order(iterator):
    outcomes = []
    assert iterator.enter() is None
    for name in "ab":
        stand_in_line(iterator, outcomes, name)
    assert outcomes == []
    iterator.leave()
    assert outcomes == ["a"]
    iterator.leave()
    assert outcomes == ["a", "b"]
    iterator.leave()
    assert iterator.enter() is None


def test_who_gives_up_is_passed_over(iterator):
    outcomes = []
    assert iterator.enter() is None
    first, _ = [stand_in_line(iterator, outcomes, name) for name in "ab"]
    assert first.cancel()
    assert not first.cancel()
    iterator.leave()
    assert outcomes == ["b"]


def test_a_turn_that_comes_too_late_goes_to_the_next(iterator):
    outcomes = []
    assert iterator.enter() is None
    first, _ = [stand_in_line(iterator, outcomes, name) for name in "ab"]
    iterator.leave()
    assert not first.cancel()
    first.give_back(None)
    assert outcomes == ["a", "b"]


def test_a_turn_that_is_free_by_then_is_taken_at_once(iterator):
    assert iterator.enter() is None
    wait = iterator.enter()
    iterator.leave()
    assert wait.start(lambda outcome: None) is None
    assert "which another step asks now" in wait.describe()
    assert iterator.enter() is not None
