"""Histograms as data, in words and as pictures, now and over steps."""

import numpy as np
import pytest

from tfdist.plots.graph.data import TIMES
from tfdist.plots.histogram.data import (
    GRADIENT,
    VARIABLE,
    histogram_of,
    histogram_sentence,
    histogram_table,
    share_text,
)
from tfdist.plots.histogram.figure import MOST_PANELS, histogram_figure
from tfdist.plots.histogram.recorder import HistogramRecorder
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.themes import drawn

NAN, INF = float("nan"), float("inf")
HUGE = np.finfo(np.float64).max


def texts_of(figure):
    (axes,) = figure.axes
    return {text.get_text() for text in axes.texts}


def test_a_histogram_counts_every_finite_value_once():
    values = np.random.RandomState(0).randn(30, 7)
    found = histogram_of("w", values)
    assert found.counts.sum() == found.size == 210
    assert (found.edges[0], found.edges[-1]) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean())
    assert found.std == pytest.approx(values.std())
    assert found.shape == (30, 7)


@pytest.mark.parametrize(
    ("values", "zeros", "nans", "infinities", "counted"),
    [
        pytest.param([0.0, -0.0, 1.0], 2, 0, 0, 3, id="zeros of both signs"),
        pytest.param(
            [1.0, NAN, INF, -INF], 0, 1, 2, 1, id="what is not finite is told, not counted"
        ),
        pytest.param([NAN, NAN], 0, 2, 0, 0, id="nothing finite"),
        pytest.param([], 0, 0, 0, 0, id="nothing"),
        pytest.param(5, 0, 0, 0, 1, id="a scalar of integers"),
        pytest.param([True, False], 1, 0, 0, 2, id="booleans"),
        pytest.param([1.0, np.nextafter(1.0, 2.0)], 0, 0, 0, 2, id="nearly equal"),
        pytest.param([-HUGE, HUGE], 0, 0, 0, 2, id="so far apart that the range overflows"),
        pytest.param(np.array([65504, 1], np.float16), 0, 0, 0, 2, id="half precision"),
    ],
)
def test_values_of_any_kind(values, zeros, nans, infinities, counted):
    found = histogram_of("w", values)
    assert (found.zeros, found.nans, found.infinities) == (zeros, nans, infinities)
    assert found.counts.sum() == counted
    assert np.all(np.diff(found.edges) > 0)
    assert png(histogram_figure([found]))


def test_what_is_equal_everywhere_stands_in_the_middle():
    counts = histogram_of("w", np.zeros(5)).counts
    assert counts[len(counts) // 2] == 5


def test_texts_have_no_histogram():
    with pytest.raises(ValueError, match=r"name holds .*, no numbers"):
        histogram_of("name", ["a", "b"])


def test_rebinning_keeps_the_number_of_values():
    found = histogram_of("w", np.arange(50.0))
    assert found.rebinned(np.linspace(-10, 60, 8)).sum() == pytest.approx(50)
    assert found.rebinned(np.linspace(100, 110, 3)).sum() == 0


def test_the_table_says_what_the_panels_show():
    found = [
        histogram_of("w", [[0.0, 1.0], [2.0, NAN]], VARIABLE),
        histogram_of("w", [[0.5, 0.5], [0.5, 0.5]], GRADIENT),
    ]
    first, second = histogram_table(found).rows
    assert first[:10] == (
        "w", "variable", f"2{TIMES}2", "4", "1", "0.8165", "0", "2", "25 %", "1 NaN",
    )  # fmt: skip
    assert second[4:6] == ("0.5", "0")
    assert histogram_sentence(found) == (
        "Histograms of 1 variable and 1 gradient: 8 values; w has 1 NaN."
    )
    texts = texts_of(histogram_figure(found))
    assert {"w", "! 1 NaN", "mean 1, std 0.816", f"gradient 2{TIMES}2"} <= texts


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [(0, 9, "0 %"), (1, 999, "<1 %"), (1, 3, "33 %"), (998, 999, ">99 %"), (9, 9, "100 %"),
     (0, 0, "0 %")],
)  # fmt: skip
def test_shares_do_not_tell_little_as_nothing_nor_much_as_all(count, size, expected):
    assert share_text(count, size) == expected


def test_too_many_panels_are_cut_with_a_note():
    found = [histogram_of(f"w{i}", [i]) for i in range(MOST_PANELS + 3)]
    (legend,) = histogram_figure(found).legends
    assert "3 more are not drawn" in [text.get_text() for text in legend.get_texts()]
    assert "... and 11 more rows" in histogram_table(found, most=40).note


# over steps


def recorded(steps):
    recorder = HistogramRecorder()
    for step in range(steps):
        recorder.add({"w": np.arange(10.0) * step, "b": [1.0 * step]})
    return recorder


def test_steps_are_counted_unless_they_are_given():
    recorder = recorded(2)
    recorder.add({"w": [1.0]}, step=50)
    recorder.add({"w": [2.0]})
    recorder.add({"w": [3.0]}, step=50)  # once more: the later one stays
    assert [step for step, _ in recorder.rows] == [0, 1, 50, 51]
    assert recorder.rows[2][1][0].mean == 3.0


def test_a_recorder_tells_its_steps():
    assert repr(HistogramRecorder()) == "<HistogramRecorder of nothing yet>"
    assert repr(recorded(1)) == "<HistogramRecorder of 2 tensors at 1 step>"
    assert recorded(3).sentence == "Histograms of 2 tensors: 11 values at 3 steps, 0 to 2."


def test_a_table_of_many_steps_has_the_first_and_the_last():
    table = recorded(30).table()
    assert [row[2] for row in table.rows if row[0] == "w"] == ["0", "7", "14", "22", "29"]
    assert table.note == "25 steps in between are not shown"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ridges_are_drawn_the_last_step_in_front(theme):
    with drawn(theme):
        figure = recorded(60).figure()
        assert png(figure).startswith(b"\x89PNG")
    (axes,) = figure.axes
    ridges = [patch for patch in axes.patches if len(patch.get_xy()) > 10]
    levels = [patch.get_zorder() for patch in ridges[: len(ridges) // 2]]
    assert len(levels) == 40  # of 60 steps
    assert levels == sorted(levels)


def test_one_step_is_drawn_as_panels():
    assert "tensor scalar" in texts_of(_one().figure())


def _one():
    recorder = HistogramRecorder()
    recorder.add({"x": 3.0})
    return recorder
