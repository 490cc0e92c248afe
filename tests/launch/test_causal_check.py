"""Slowing all but one part: on a cluster that only reckons what a step would take."""

from contextlib import contextmanager

import pytest

from tests.tracing.samples import WORKER0
from tests.tracing.steps.test_critical_path import node, transfer
from tfdist.launch.causal_check import checked_savings
from tfdist.tracing.disturbances import Disturbance
from tfdist.tracing.steps.replay import Replay

STEP = [
    node("a", 0, 4000), transfer("a", 4000, 3000), node("b", 7000, 6000, "a", device=WORKER0),
    node("short", 0, 10, device=WORKER0),
]  # fmt: skip


class Reckoning:
    """A cluster on which a step takes what its disturbances make of 4, 3 and 6 milliseconds."""

    def __init__(self, *there):
        self.disturbances, self.now, self.states = there, 0.0, []

    @contextmanager
    def disturbed(self, *texts):
        self.texts = set(texts)
        self.states.append(self.texts)
        yield
        self.texts = set()

    def run(self):
        slow = [8e-3 if "slow ps:0 2" in self.texts else 4e-3]
        slow.append(6e-3 if "delay ps:0 worker:0 3.000ms" in self.texts else 3e-3)
        slow.append(12e-3 if "slow worker:0 2" in self.texts else 6e-3)
        self.now += 1e-3 + sum(slow)  # a millisecond is the runtime's

    def clock(self):
        return self.now


def checked(cluster, **options):
    savings = Replay(STEP).savings()
    return checked_savings(cluster, cluster.run, [STEP], savings, clock=cluster.clock, **options)


def test_what_is_measured_is_what_each_part_saves_whatever_the_runtime_takes():
    found = checked(Reckoning())
    assert [each.saving.kind for each in found] == ["task", "task", "link"]
    for each in found:
        assert each.measured == pytest.approx((each.saving.saved_us,) * 3)
    assert [each.saving.saved_us for each in found] == [3000, 2000, 1500]


def test_everything_but_that_part_is_slowed():
    cluster = Reckoning()
    checked(cluster, most=1)
    everything = {"slow ps:0 2", "slow worker:0 2", "delay ps:0 worker:0 3.000ms"}
    assert cluster.states[:2] == [everything, everything - {"slow worker:0 2"}]


def test_what_was_slow_before_gets_twice_as_slow():
    there = Disturbance("slow", "worker:0", "", 3.0), Disturbance("delay", "ps:0", "worker:0", 2e-3)
    cluster = Reckoning(*there)
    checked(cluster)
    assert cluster.states[0] == {"slow ps:0 2", "slow worker:0 6", "delay ps:0 worker:0 5.000ms"}


def test_a_link_that_is_too_quick_to_be_delayed_is_not_checked():
    step = [node("a", 0, 4000), transfer("a", 4000, 50), node("b", 4050, 10, "a", device=WORKER0)]
    cluster = Reckoning()
    found = checked_savings(cluster, cluster.run, [step], Replay(step).savings())
    assert {each.saving.kind for each in found} == {"task"}


def test_runs_are_made_in_turn():
    cluster = Reckoning()
    checked(cluster, runs=6, most=1)
    assert len(cluster.states) == 2 * 2
    assert cluster.states[0] == cluster.states[2] != cluster.states[1]
