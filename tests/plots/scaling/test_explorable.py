"""Curves to explore, as JSON."""

import json

import pytest

from tfdist.plots.scaling.explorable import explorable_payload
from tfdist.simulation.scaling_grid import scaling_grid
from tfdist.simulation.training import TrainingSetup


@pytest.fixture(scope="module")
def grid():
    return scaling_grid(TrainingSetup(ps=2, compute_s=1.0), most=4, spare=1)


def test_it_is_json_and_says_what_can_be_chosen(grid):
    found = explorable_payload(grid)
    assert json.loads(json.dumps(found))["workers"] == [1, 2, 3, 4]
    assert found["ps"][found["chosen"]["ps"]] == 2
    assert found["shares"][found["chosen"]["share"]] == 0
    assert found["together"][0][0][0] == [1.0, 2.0, 3.0, 4.0]


def test_servers_that_cost_no_time_are_never_busy(grid):
    assert explorable_payload(grid)["saturation"][0][0] is None


def test_with_a_batch_it_tells_examples(grid):
    found = explorable_payload(grid, 32)
    assert found["unit"] == "examples/s"
    assert found["together"][0][0][0][0] == 32
