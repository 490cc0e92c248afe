"""Curves for many settings at once."""

from dataclasses import replace

import numpy as np
import pytest

from tfdist.errors import InvalidArgumentError
from tfdist.simulation.scaling import scaling
from tfdist.simulation.scaling_grid import FACTOR, SHARES, scaling_grid
from tfdist.simulation.training import TrainingSetup, saturation, synchronous, synchronous_runs

SETUP = TrainingSetup(ps=2, compute_s=0.9, sigma=0.1, push_bytes=1e8, ps_bandwidth=1e9)


@pytest.fixture(scope="module")
def grid():
    return scaling_grid(SETUP, most=20, spare=2)


def test_what_was_set_up_is_among_the_choices():
    grid = scaling_grid(replace(SETUP, ps=17, straggle_share=0.03, straggle_factor=7.0), most=2)
    ps, share = grid.chosen
    assert (grid.ps[ps], grid.shares[share]) == (17, 0.03)
    assert grid.setup.straggle_factor == 7.0
    assert grid.ps == (4, 8, 17, 34, 68)


def test_each_axis_is_as_long_as_its_choices(grid):
    assert (grid.ps, grid.shares, grid.spares) == ((1, 2, 4, 8), SHARES, (0, 1, 2))
    assert grid.setup.straggle_factor == FACTOR
    assert grid.alone.shape == (4, 4, len(grid.workers))
    assert grid.together.shape == grid.step_s.shape == (4, 4, 3, len(grid.workers))


@pytest.mark.parametrize("is_synchronous", [False, True])
def test_the_curves_are_those_of_the_setup_alone(grid, is_synchronous):
    ps, share = grid.chosen
    curve = grid.together[ps, share, 0] if is_synchronous else grid.alone[ps, share]
    found = scaling(SETUP, grid.workers, is_synchronous)
    expected = [point.gradients_per_s for point in found.points]
    np.testing.assert_allclose(curve, expected, rtol=0.05)


def test_more_servers_and_fewer_stragglers_are_never_slower(grid):
    assert (np.diff(grid.together, axis=0) > -1e-9).all()
    assert (np.diff(grid.together[:, :, 0], axis=1) < 1e-9).all()
    assert (np.diff(grid.saturation, axis=0) > 0).all()


def test_spare_replicas_help_where_many_straggle(grid):
    many = grid.together[-1, -1, :, -1]
    assert many[2] > many[1] > many[0]


def test_where_the_servers_are_busy_is_the_setups(grid):
    assert grid.saturation[grid.chosen] == saturation(SETUP)


def test_runs_at_once_are_those_one_by_one():
    setups = [replace(SETUP, workers=6, spare=1, ps=ps) for ps in (1, 3)]
    at_once = synchronous_runs(setups, np.random.default_rng(3), 30)
    for setup, run in zip(setups, at_once, strict=True):
        alone = synchronous(setup, np.random.default_rng(3), 30)
        np.testing.assert_allclose(run.step_s, alone.step_s)
        assert run.dropped == alone.dropped


def test_setups_that_share_no_chance_are_refused():
    with pytest.raises(InvalidArgumentError, match="differ in parameter servers and stragglers"):
        synchronous_runs([SETUP, replace(SETUP, workers=2)], np.random.default_rng(0))
