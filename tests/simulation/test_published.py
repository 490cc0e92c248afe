"""The simulation beside figures that others measured; `python -m tests.simulation.published`."""

import pytest

from tests.simulation.published import FIGURES


@pytest.mark.parametrize(
    "figure",
    [
        pytest.param(
            each,
            id=f"{each.source} {each.what}",
            marks=[pytest.mark.xfail(reason=each.fails, strict=True)] if each.fails else [],
        )
        for each in FIGURES
    ],
)
def test_the_simulation_is_near(figure):
    assert abs(figure.error()) <= figure.within


def test_figures_of_the_benchmark_agree_within_6_percent_on_average():
    errors = [abs(each.error()) for each in FIGURES if each.source == "benchmarks"]
    assert len(errors) == 9
    assert sum(errors) / len(errors) < 0.06
