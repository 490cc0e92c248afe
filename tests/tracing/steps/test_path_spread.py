"""Critical paths of several runs: steps written by hand, with a node that takes longer or not."""

import pytest

from tests.tracing.samples import WORKER0
from tests.tracing.steps.test_critical_path import node, transfer
from tfdist.tracing.steps.critical_path import critical_path
from tfdist.tracing.steps.path_spread import compared_paths, part_spreads, typical


def paths(*compute, way=5):
    """Return a path for each time that the node `a` takes; its tensor is on its way afterwards."""
    return [
        critical_path(
            [node("a", 0, us), transfer("a", us, way), node("b", us + way, 1, "a", device=WORKER0)]
        )
        for us in compute
    ]


def test_the_step_and_each_kind_have_a_spread():
    found = part_spreads(paths(10, 20, 30))
    assert {part: each.median for part, each in found.items()} == {
        "step": 26,
        "compute": 21,
        "transfer": 5,
    }
    assert (found["compute"].low, found["compute"].high) == pytest.approx((13, 29))


def test_what_differs_is_told_part_by_part():
    found = compared_paths(paths(*range(10, 30)), paths(*range(10, 30), way=9))
    by_part = {each.part: each for each in found}
    assert list(by_part) == ["step", "compute", "transfer"]
    assert by_part["transfer"].shift == (4, 4, 4)
    assert by_part["transfer"].shift.is_significant
    assert not by_part["compute"].shift.is_significant
    assert (by_part["step"].a.median, by_part["step"].b.median) == (25.5, 29.5)


def test_a_kind_that_only_one_set_has_is_compared_with_nothing():
    found = compared_paths(paths(10, 11, 12, 13, 14, way=0), paths(10, 11, 12, 13, 14))
    assert [each.part for each in found] == ["step", "compute", "transfer"]


@pytest.mark.parametrize(("times", "expected"), [((5,), 0), ((9, 1, 5), 2), ((1, 9, 2, 8), 2)])
def test_the_typical_run_is_that_of_median_length(times, expected):
    assert typical(paths(*times)) == expected
