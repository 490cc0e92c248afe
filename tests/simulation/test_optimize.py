"""Placements that are found: what holds for all of them, and how good they are."""

import numpy as np
import pytest

from tests.simulation.problems import Maker, layered, scalars, towers
from tfdist import errors
from tfdist.simulation.list_schedule import ORDERS, contracted, list_schedule
from tfdist.simulation.optimize import optimize
from tfdist.simulation.step import simulate_step


class Turns:
    """Time that passes by being asked for: a search of so many turns is the same everywhere."""

    def __init__(self, turns):
        self._turns, self._asked = turns, 0

    def __call__(self):
        self._asked += 1
        return 1 - self._asked / self._turns


def find(problem, present=None, turns=150, seed=0):
    present = [problem.client] * len(problem.names) if present is None else present
    return optimize(problem, present, np.random.default_rng(seed), Turns(turns))


@pytest.mark.parametrize(
    ("made", "speedup"), [(layered(200), 2.0), (towers(200), 2.0), (scalars(200), 1.0)]
)
def test_speedup_over_one_device_of_four(made, speedup):
    problem = made.problem(4)
    one = simulate_step(problem, [0] * len(problem.names)).span_us
    assert one / find(problem).span_us >= speedup


def test_nothing_is_worth_a_transfer_where_nodes_cost_nothing():
    found = find(scalars(200).problem(4))
    assert set(found.placed) == {0}


@pytest.mark.parametrize("seed", range(6))
def test_it_is_never_slower_than_what_is_there_or_one_device(seed):
    problem = layered(120, seed).problem(3)
    present = np.random.default_rng(seed).integers(3, size=len(problem.names)).tolist()
    found = find(problem, present, seed=seed)
    assert found.span_us <= simulate_step(problem, present).span_us
    assert found.span_us <= simulate_step(problem, [0] * len(present)).span_us
    assert found.span_us == simulate_step(problem, found.placed).span_us


@pytest.mark.parametrize("seed", range(4))
def test_pins_and_colocation_hold(seed):
    chance, made = np.random.default_rng(seed), layered(80, seed, wide=8)
    for node in chance.choice(80, 12, replace=False).tolist():
        made.pins[made.groups[node]] = int(chance.integers(3))
    made.add(500, [3, 5], group=7)
    problem = made.problem(3)
    placed = find(problem, turns=40).placed
    for group, members in enumerate(problem.members):
        (device,) = {placed[node] for node in members}
        assert device in problem.allowed[group]


def test_what_is_kept_fits():
    made = Maker()
    ends = [made.add(10) for _ in range(4)]
    made.add(2_000, ends)
    problem = made.problem(2, state_bytes=(60, 60, 60, 60, 0), limit_bytes=(130, 130))
    found = find(problem, [0, 0, 1, 1, 0])
    kept = [sum(60 for node in range(4) if found.placed[node] == device) for device in (0, 1)]
    assert kept == [120, 120]


@pytest.mark.parametrize("order", ORDERS)
def test_what_fits_nowhere_is_told_of(order):
    made = Maker()
    made.add(10)
    problem = made.problem(2, state_bytes=(500,), limit_bytes=(100, 100))
    with pytest.raises(errors.ResourceExhaustedError, match="500 bytes, fits on none of /job"):
        list_schedule(problem, order)


def test_the_same_seed_finds_the_same():
    problem = towers(60).problem(3)
    assert find(problem, seed=3) == find(problem, seed=3)


def test_chains_are_contracted_and_nothing_is_lost():
    problem = towers(100).problem(3)
    smaller, stands_for = contracted(problem)
    assert len(smaller.names) < len(problem.names) / 2
    assert sum(smaller.cost_us) == pytest.approx(sum(problem.cost_us))
    placed = np.random.default_rng(1).integers(3, size=len(smaller.names)).tolist()
    whole = [placed[joined] for joined in stands_for]
    few, all_ = simulate_step(smaller, placed), simulate_step(problem, whole)
    assert few.transfers == all_.transfers
    assert few.transfer_bytes == all_.transfer_bytes


@pytest.mark.parametrize("order", ORDERS)
def test_a_schedule_balances_what_is_independent(order):
    made = Maker()
    for _ in range(8):
        made.add(10_000)
    placed = list_schedule(made.problem(2), order)
    assert sorted(placed) == [0] * 4 + [1] * 4
