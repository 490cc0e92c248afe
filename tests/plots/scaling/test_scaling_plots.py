"""How training scales, in words and as curves."""

from dataclasses import replace
from functools import cache

import pytest

from tfdist.plots.scaling.figure import scaling_figure
from tfdist.plots.scaling.text import (
    scaling_sentence,
    scaling_table,
    setup_sentence,
    spares_sentence,
    spares_table,
)
from tfdist.plots.shared.palette import png
from tfdist.simulation.scaling import scaling
from tfdist.simulation.training import TrainingSetup

SETUP = TrainingSetup(
    compute_s=0.9, push_bytes=1e8, ps_bandwidth=1e9, straggle_share=0.01, straggle_factor=5.0
)


@cache
def alone():
    return scaling(SETUP, (1, 5, 50))


@cache
def together():
    return scaling(SETUP, (1, 5, 50), True, spare=2)


@cache
def few():
    return scaling(SETUP, (1, 5), True)


@pytest.mark.parametrize("found", [alone, together, few])
@pytest.mark.parametrize("batch", [0, 32])
def test_three_panels_are_drawn(found, batch):
    figure = scaling_figure(found(), batch)
    assert len(figure.axes) == 3
    assert figure.axes[0].get_title(loc="left") == ("examples/s" if batch else "gradients/s")
    assert png(figure).startswith(b"\x89PNG")


def test_the_limit_is_drawn_where_it_is_reached():
    (text,) = scaling_figure(alone()).axes[0].texts
    assert text.get_text() == " servers busy\n from 10 on"
    assert not scaling_figure(scaling(SETUP, (1, 5))).axes[0].texts


@pytest.mark.parametrize(
    ("setup", "workers", "is_in_step", "told"),
    [
        (replace(SETUP, straggle_share=0.0), (1, 5, 50), False,
         "50 workers, each on its own, make 10 gradients/s, 10 times as many as one. "
         "The parameter server is busy all the time from 10 workers on."),
        (TrainingSetup(compute_s=0.1), (1, 4), False,
         "4 workers, each on its own, make 40 gradients/s, 4 times as many as one. "
         "The parameter servers cost no time in this setup."),
        (TrainingSetup(compute_s=0.1), (1, 4), True,
         "4 workers, in step, make 40 gradients/s, 4 times as many as one. A step takes 100 ms "
         "with 4 workers and 100 ms with 1: all wait for the slowest and for the servers."),
    ],
)  # fmt: skip
def test_a_sentence_says_how_far(setup, workers, is_in_step, told):
    assert scaling_sentence(scaling(setup, workers, is_in_step)) == told


def test_a_step_of_one_worker_is_told():
    told = setup_sentence(SETUP, " (from 3 traced runs)")
    assert told == (
        "In a step of one worker (from 3 traced runs): a gradient takes 936 ms on average; "
        "0 B come and 100 MB go at 1 GB/s."
    )


def test_the_table_has_a_row_for_each_number_of_workers():
    table = scaling_table(alone())
    assert [row[0] for row in table.rows] == ["1", "5", "50"]
    assert table.header[-2:] == ("staleness", "machine time")
    assert "staleness" not in scaling_table(together()).header


def test_a_price_needs_a_batch():
    assert scaling_table(alone(), 32, 0.9).header[-1] == "cost of 1M"
    assert scaling_table(alone(), 0, 0.9).header[-1] == "machine time"


def test_spare_replicas_are_compared():
    assert [row[0] for row in spares_table(together()).rows] == ["0", "1", "2"]
    assert "spare replica" in spares_sentence(together())
