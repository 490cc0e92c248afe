"""Curves over numbers of workers."""

from dataclasses import replace

import pytest

from tfdist.simulation.scaling import MOST_POINTS, scaling, spare_values, spread_over
from tfdist.simulation.training import TrainingSetup

BUSY = TrainingSetup(compute_s=0.9, push_bytes=1e8, ps_bandwidth=1e9)
STRAGGLING = TrainingSetup(compute_s=0.1, sigma=0.1, straggle_share=0.01, straggle_factor=10.0)


def test_workers_help_until_the_servers_are_busy():
    found = scaling(BUSY, (20, 1, 5, 10))
    assert [point.workers for point in found.points] == [1, 5, 10, 20]
    assert [round(point.speedup) for point in found.points] == [1, 5, 10, 10]
    assert found.saturation == 10
    assert found.best.workers in (10, 20)


def test_more_servers_move_the_limit():
    assert scaling(replace(BUSY, ps=4), (1,)).saturation > 3 * scaling(BUSY, (1,)).saturation


def test_machines_are_paid_for_whether_they_wait_or_not():
    one, many = scaling(BUSY, (1, 100)).points
    assert one.machine_s == pytest.approx(2 * 1.0)  # a worker and a server, a second a gradient
    assert many.machine_s == pytest.approx(101 * 0.1, rel=0.02)


def test_asynchronous_points_tell_staleness_and_synchronous_ones_none():
    alone, together = scaling(STRAGGLING, (8,)), scaling(STRAGGLING, (8,), True)
    assert alone.points[0].staleness == pytest.approx(7, rel=0.02)
    assert len(alone.staleness) > 1000
    assert together.points[0].staleness == 0
    assert not len(together.staleness)


def test_spare_replicas_pay_where_some_straggle():
    none, *some = spare_values(replace(STRAGGLING, workers=100), 4)
    assert (none.spare, none.faster, none.worth) == (0, 0, 0)
    assert max(each.worth for each in some) > 1  # two times as fast, and more
    assert all(each.worth < each.faster for each in some)


def test_spare_replicas_do_not_pay_where_none_does():
    points = spare_values(TrainingSetup(workers=10, compute_s=0.1), 2)
    assert [each.worth < 0 for each in points] == [False, True, True]


def test_spares_belong_to_synchronous_training():
    assert scaling(STRAGGLING, (4,), False, spare=2).spares == ()
    assert len(scaling(STRAGGLING, (4,), True, spare=2).spares) == 3


def test_the_same_seed_gives_the_same_points():
    assert scaling(STRAGGLING, (3,)).points == scaling(STRAGGLING, (3,)).points
    assert scaling(STRAGGLING, (3,), seed=1).points != scaling(STRAGGLING, (3,)).points


@pytest.mark.parametrize(("least", "most"), [(1, 1), (3, 9), (1, 200), (50, 1000)])
def test_numbers_of_workers_begin_and_end_as_asked(least, most):
    found = spread_over(least, most)
    assert (found[0], found[-1]) == (least, most)
    assert len(found) <= MOST_POINTS
