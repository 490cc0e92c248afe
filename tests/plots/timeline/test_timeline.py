"""Where a timeline's bars stand, and that the picture is one."""

import random

import pytest

from tests.tracing.samples import (
    EPOCH,
    PS,
    WORKER0,
    WORKER1,
    beginning,
    disturbed,
    in_round,
    loop,
    node,
    step,
    three_tasks,
    transfer,
)
from tfdist.plots.shared.device_colours import device_colours, place_tasks
from tfdist.plots.shared.palette import ink_on, png, tint
from tfdist.plots.shared.time_axis_breaks import MOST_BARS
from tfdist.plots.timeline.figure import time_scale, timeline_figure
from tfdist.plots.timeline.layout import CHARACTER, MOST_LANES, layout_timeline, shorten
from tfdist.tracing.steps.rows import rows


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
    room = (len(bar.label) + 1.5) * CHARACTER * span if bar.label else 0
    left = room if bar.side == "left" else 0
    right = room if bar.side == "right" else 0
    return bar.start - max(left, bar.waited), bar.end + right


@pytest.mark.parametrize(
    "found",
    [
        rows(three_tasks()), waiting(), crowd(20), crowd(200), crowd(400),
        rows(loop(5)), rows(loop(500)),
    ],
    ids=len,
)  # fmt: skip
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


def test_a_picture_says_where_bars_lie_over_each_other():
    found = layout_timeline(rows(step((PS, [node(f"n{i}", "Add", "", 0, 9) for i in range(300)]))))
    assert found.notes == ()
    assert found.still_notes[0].endswith("the lowest lanes of a device lie over each other")
    assert layout_timeline(crowd(400)).still_notes == ()


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
        ("tower_0/layer1/weights/read", 12, "tow…hts/read"),
        ("tower_0/layer1/weights/read", 16, "tower_0/…/read"),
        ("tower_0/layer1/weights/read", 22, "tower_0/…/weights/read"),
        ("one_name_without_any_scope", 12, "one…ny_scope"),
    ],
)
def test_shorten_leaves_out_the_middle_of_a_name(name, most, expected):
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


def test_figure_marks_what_was_disturbed():
    figure = timeline_figure(rows(disturbed()))
    (axes,) = figure.axes
    assert len([each for each in axes.patches if not each.get_fill()]) == 2  # of three bars
    assert axes.get_xlabel().splitlines()[1:] == [
        "clock of /job:worker/task:0: +5.0 µs ± 2.0 µs, corrected",
        "disturbed on purpose: slow ps 3, delay ps:0 worker:0 30ms",
    ]
    assert "disturbed on purpose" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_same_step_gives_the_same_bytes():
    found = rows(three_tasks())
    assert png(timeline_figure(found)) == png(timeline_figure(found))


def test_colours_repeat_after_24_devices():
    colours = device_colours([f"/job:w/task:{i}" for i in range(25)])
    assert len(set(colours.values())) == 24


@pytest.fixture
def placed():
    """Know a cluster of one ps and twelve workers."""
    place_tasks([("ps", 0), *(("worker", i) for i in range(12))])
    yield
    place_tasks([])


@pytest.mark.parametrize(
    "name",
    ["/job:worker/replica:0/task:10/device:CPU:0", "/job:worker/task:10", "worker:10"],
)
def test_a_device_has_one_colour_whoever_stands_beside_it(placed, name):
    alone = device_colours([name])[name]
    assert alone == device_colours([PS, WORKER0, WORKER1, "/job:worker/task:9", name])[name]
    assert alone not in device_colours([PS, WORKER0, WORKER1, name + "/device:GPU:0"]).values()


def test_a_job_alone_has_the_colour_of_its_first_task(placed):
    assert device_colours(["/job:worker"])["/job:worker"] == device_colours([WORKER0])[WORKER0]


def test_tint_mixes_with_white():
    assert tint("#000000", 0.0) == "#FFFFFF"
    assert tint("#0072B2", 1.0) == "#0072B2"


def test_ink_reads_on_its_ground():
    assert ink_on("#0072B2") == "#FFFFFF"
    assert ink_on("#F0E442") == "#222222"


# loops


def test_rounds_stand_above_the_bars_of_their_device():
    layout = layout_timeline(rows(loop(3)))
    for band in layout.bands:
        rounds = [bar for bar in layout.rounds if band.first <= bar.lane < band.first + band.count]
        bars = [bar for bar in layout.bars if bar.row.device == band.device]
        assert max(bar.lane for bar in rounds) < min(bar.lane for bar in bars)
        for bar in bars:
            around = [each for each in rounds if each.rounds == bar.row.rounds]
            if around and not bar.is_quiet:
                assert around[0].start <= bar.start <= bar.end <= around[0].end


def test_rounds_that_overlap_stand_below_each_other():
    overlapping = [in_round(node("while/n", "Add", "", 5 * i, 20), i) for i in range(3)]
    layout = layout_timeline(rows(step((PS, overlapping))))
    assert [bar.lane for bar in layout.rounds] == [0, 1, 2]


def test_every_round_has_its_number_and_a_wide_one_its_loop():
    labels = {bar.label for bar in layout_timeline(rows(loop(3))).rounds}
    assert {"round 0 of while", "0", "3"} <= labels
    [wide] = layout_timeline(rows(step((PS, [in_round(node("n", "Add", "", 0, 9), 2)])))).rounds
    assert wide.label == "round 2 of while"


def test_the_machinery_of_a_loop_has_quiet_bars_without_names():
    quiet = {bar.row.name for bar in layout_timeline(rows(loop(3))).bars if bar.is_quiet}
    ops = ("Enter", "Exit", "Identity", "LoopCond", "Merge", "NextIteration", "Switch")
    assert quiet == {f"while/{op}" for op in ops} | {"while/k"}
    assert all(not bar.label for bar in layout_timeline(rows(loop(3))).bars if bar.is_quiet)


def test_a_loop_has_no_rounds_in_a_trace_that_does_not_tell_them():
    assert layout_timeline(rows(three_tasks())).rounds == ()


def test_of_a_long_loop_the_first_and_last_rounds_are_drawn():
    layout = layout_timeline(rows(loop(2000)))
    numbers = sorted({bar.rounds.numbers[0] for bar in layout.rounds})
    kept = len(numbers) // 2
    assert numbers == [*range(kept), *range(2001 - kept, 2001)]
    assert len(layout.bars) <= MOST_BARS
    left_out = 2001 - 2 * kept
    assert layout.notes == (f"rounds {kept} to {2000 - kept} of while left out ({left_out:,})",)


def test_the_time_of_what_is_left_out_is_cut_out():
    layout = layout_timeline(rows(loop(2000)))
    [cut] = layout.cuts
    assert cut.duration_us + layout.span_us - cut.width == pytest.approx(200_042)
    assert 0 < cut.width < 0.1 * layout.span_us
    for bar in layout.bars:
        assert bar.row.end_us <= cut.start + 1e-6 or bar.row.start_us >= cut.end - 1e-6
    assert layout.span_us < 5000


def test_times_on_both_sides_of_a_cut_are_those_of_the_step():
    figure = timeline_figure(rows(loop(2000)))
    (axes,) = figure.axes
    [cut] = layout_timeline(rows(loop(2000))).cuts
    times = {
        place: 1000 * float(label.get_text())
        for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    }
    for place, time in times.items():
        is_behind = place > cut.start
        assert time == pytest.approx(place + is_behind * (cut.duration_us - cut.width), abs=1)
    assert any(place > cut.start for place in times)
    assert "left out" in axes.get_xlabel()
    assert any("ms left out" in text.get_text() for text in axes.texts)


def test_a_gap_in_which_nothing_is_left_out_is_not_cut():
    shown = [node("a", "Const", "", 0, 1), node("b", "Const", "", 90_000, 1)]
    ran = [in_round(node("while/n", "Add", "", 100_000 + i, 1), i) for i in range(2000)]
    layout = layout_timeline(rows(step((PS, [*shown, *ran]))))
    assert all(cut.start_us >= 100_000 for cut in layout.cuts)


def test_a_loop_is_drawn_with_its_rounds():
    texts = [text.get_text() for text in timeline_figure(rows(loop(3))).axes[0].texts]
    assert {"round 0 of while", "1", "while/less", "while/grow"} <= set(texts)
    assert not {"while/Merge", "while/Switch"} & set(texts)


def texts(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_tensor_that_has_come_and_is_not_taken_is_an_empty_end():
    late = transfer("a", PS, WORKER0, 10, 22)
    late.op_end_rel_micros = 5
    ran = (PS, [node("a", "Const", "", 0, 10)])
    found = rows(step((WORKER0, [late]), ran))
    [held] = [bar for bar in layout_timeline(found).bars if bar.held]
    assert (held.end - held.held, held.end) == (15, 32)
    [arrow] = layout_timeline(found).arrows
    assert arrow.end[0] == 15
    assert "come, not taken yet" in texts(timeline_figure(found))
    late.op_end_rel_micros = 22
    assert "come, not taken yet" not in texts(timeline_figure(rows(step((WORKER0, [late]), ran))))
