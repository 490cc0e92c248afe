"""Where a timeline's bars stand, and that the picture is one."""

import random

import pytest

from tests.tracing.samples import (
    EPOCH,
    PS,
    WORKER0,
    WORKER1,
    beginning,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.plots.layout_timeline import CHARACTER, MOST_LANES, layout_timeline, shorten
from tfdist.plots.palette import PANEL, device_colours, ink_on, png, tint
from tfdist.plots.timeline import time_scale, timeline_figure
from tfdist.tracing.rows import rows


def crowd(count):
    chance = random.Random(1)
    stats = [
        node(
            f"layer{i}/MatMul", "MatMul", "", i * 11 + chance.randint(0, 60), chance.randint(2, 90)
        )
        for i in range(count)
    ]
    return rows(step((PS, stats[::2]), (WORKER0, stats[1::2])))


def waiting():
    """Return rows of a transfer that was waited for, and of others meanwhile."""
    late = transfer("late", PS, WORKER0, 400, 50)
    late.scheduled_micros = EPOCH + 10
    early = [transfer(f"early{i}", PS, WORKER0, 20 + 90 * i, 60) for i in range(3)]
    return rows(step((WORKER0, [late, *early]), (PS, [node("late", "Const", "", 0, 400)])))


def extent(bar, span):
    """Return the interval of a bar, its name and what it was waited for."""
    room = (len(bar.label) + 1.5) * CHARACTER * span
    left = room if bar.side == "left" else 0
    right = room if bar.side == "right" else 0
    return bar.start - max(left, bar.waited), bar.end + right


@pytest.mark.parametrize(
    "found", [rows(three_tasks()), waiting(), crowd(20), crowd(200), crowd(400)], ids=len
)
def test_neither_bars_nor_names_meet_in_a_lane(found):
    layout = layout_timeline(found)
    lanes = {}
    for bar in layout.bars:
        lanes.setdefault(bar.lane, []).append(extent(bar, layout.span_us))
    for intervals in lanes.values():
        intervals.sort()
        ends = [end for _, end in intervals[:-1]]
        starts = [start for start, _ in intervals[1:]]
        assert all(end <= start + 1e-6 for end, start in zip(ends, starts, strict=True))


def test_each_lane_belongs_to_the_band_of_its_device():
    layout = layout_timeline(rows(three_tasks()))
    bands = {band.device: band for band in layout.bands}
    assert list(bands) == [PS, WORKER0, WORKER1]
    for bar in layout.bars:
        band = bands[bar.row.device]
        assert band.first <= bar.lane < band.first + band.count


def test_arrows_lead_from_sender_to_receiver():
    layout = layout_timeline(rows(three_tasks()))
    lane = {(bar.row.device, bar.row.name, bar.row.kind): bar.lane for bar in layout.bars}
    ends = {(arrow.start[1], arrow.end[1]) for arrow in layout.arrows}
    assert len(layout.arrows) == 4
    assert (lane[PS, "a/read", "compute"], lane[WORKER0, "a/read", "transfer"]) in ends


def test_a_step_of_many_nodes_is_packed():
    assert layout_timeline(crowd(400)).lanes <= MOST_LANES


def test_what_is_packed_keeps_its_name_where_there_is_room():
    bars = layout_timeline(crowd(400)).bars
    assert {"right", "none"} <= {bar.side for bar in bars}


def test_waiting_for_a_tensor_is_shown_before_its_bar():
    [bar] = [bar for bar in layout_timeline(waiting()).bars if bar.waited]
    assert (bar.label, bar.waited, bar.start - bar.waited) == ("late", 390, 10)


def test_a_fed_value_has_the_name_of_its_placeholder():
    found = rows(step((WORKER0, [transfer("_recv_x_0", PS, WORKER0, 0, 5)])))
    assert [bar.label for bar in layout_timeline(found).bars] == ["x (fed)"]


def test_a_sliver_is_widened_to_be_seen():
    found = rows(step((PS, [node("a", "Const", "", 0, 0), node("b", "Const", "", 0, 10_000)])))
    assert layout_timeline(found).bars[0].width > 0


def test_a_device_that_only_sent_has_a_band():
    found = rows(step((WORKER0, [transfer("x", PS, WORKER0, 0, 5)])))
    assert [band.device for band in layout_timeline(found).bands] == [PS, WORKER0]


@pytest.mark.parametrize(
    ("name", "most", "expected"),
    [
        ("a", 12, "a"),
        ("tower_0/layer1/weights/read", 12, "…eights/read"),
        ("tower_0/layer1/weights/read", 16, "…/weights/read"),
        ("one_name_without_any_scope", 12, "…t_any_scope"),
    ],
)
def test_shorten_keeps_the_end_of_a_name(name, most, expected):
    assert shorten(name, most) == expected


@pytest.mark.parametrize(
    ("span", "expected"), [(1300, "µs"), (30_000, "ms"), (5_000_000, "s")], ids=str
)
def test_time_scale(span, expected):
    assert time_scale(span)[1] == expected


@pytest.mark.parametrize("found", [rows(three_tasks()), crowd(100), []], ids=len)
def test_figure_is_drawn_on_an_opaque_panel(found):
    figure = timeline_figure(found)
    assert figure.get_facecolor() == (1, 1, 1, 1)
    assert png(figure).startswith(b"\x89PNG")


def test_figure_names_devices_and_kinds():
    figure = timeline_figure(rows(three_tasks()))
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert {"/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"} <= set(texts)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["computing", "receiving a tensor", "sent to received"]


def test_figure_explains_what_was_waited_for():
    legend = [text.get_text() for text in timeline_figure(waiting()).legends[0].get_texts()]
    assert "asked for, not there yet" in legend


@pytest.mark.parametrize(
    ("clock", "notes"),
    [
        ("+123 us +- 40 us", ["clock of /job:worker/task:1: +123 µs ± 40 µs, corrected"]),
        ("-3200000 us +- 250 us", ["clock of /job:worker/task:1: -3.2 s ± 250 µs, corrected"]),
        ("+0 us +- 40 us", []),
        ("", []),
    ],
)
def test_figure_states_clocks_that_were_put_right(clock, notes):
    stats = step((WORKER1, [beginning(clock=clock), node("a", "Const", "", 0, 9)]))
    (axes,) = timeline_figure(rows(stats)).axes
    assert axes.get_xlabel().splitlines() == ["µs since the step began", *notes]


def test_the_same_step_gives_the_same_bytes():
    found = rows(three_tasks())
    assert png(timeline_figure(found)) == png(timeline_figure(found))


def test_colours_repeat_after_eight_devices():
    colours = device_colours([f"/job:w/task:{i}" for i in range(9)])
    assert len(set(colours.values())) == 8


def test_tint_mixes_with_white():
    assert tint("#000000", 0.0) == PANEL
    assert tint("#0072B2", 1.0) == "#0072B2"


def test_ink_reads_on_its_ground():
    assert ink_on("#0072B2") == "#FFFFFF"
    assert ink_on("#F0E442") == "#222222"
