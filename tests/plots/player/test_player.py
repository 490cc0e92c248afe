"""The scene of a step player, in numbers and words, and its stills."""

import json
from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.plots.samples import looping_nodes, three_task_nodes
from tests.tracing.samples import PS, WORKER0, WORKER1, loop, node, step, three_tasks, transfer
from tfdist.plots.player.payload import payload
from tfdist.plots.player.scene import (
    caption,
    placed_nodes,
    scene,
    shot,
    telling_moments,
    told_event,
    way_inside,
)
from tfdist.plots.player.stills import moment_figure, strip_figure
from tfdist.plots.shared.themes import drawn
from tfdist.session.blocks import Block
from tfdist.session.recording import PlacedNode
from tfdist.tracing.steps.node_row import TRANSFER, NodeRow
from tfdist.tracing.steps.rows import rows


@pytest.fixture(scope="module")
def tutorial():
    """Return the scene of the tutorial's step."""
    return scene(rows(three_tasks()), three_task_nodes())


@pytest.fixture(scope="module")
def looping():
    """Return the scene of a loop over two workers; its box is closed."""
    block = (Block("loop", "while"),)
    traced = placed_nodes(rows(loop(3)))
    nodes = [n._replace(within=block if n.name.startswith("while/") else ()) for n in traced]
    return scene(rows(loop(3)), nodes)


def box_of(found, name):
    return next(i for i, box in enumerate(found.layout.boxes) if box.group.name == name)


def event_of(found, name, kind):
    return next(e for e in found.events if e.row.name == name and (e.row.kind == TRANSFER) is kind)


def test_a_node_lights_up_its_box(tutorial):
    for event in tutorial.events:
        if event.row.kind != TRANSFER:
            assert event.boxes == (box_of(tutorial, event.row.name),)


def test_a_tensor_travels_from_its_maker_to_its_takers(tutorial):
    event = next(e for e in tutorial.events if e.row.name == "a/read" and e.row.device == WORKER1
                 and e.row.kind == TRANSFER)  # fmt: skip
    assert event.maker == box_of(tutorial, "a/read")
    assert event.boxes == (box_of(tutorial, "add_1"),)
    (edge,) = (tutorial.layout.edges[i] for i in event.edges)
    assert (edge.source, edge.target) == (event.maker, event.boxes[0])


def test_a_tensor_that_is_fetched_goes_out_of_its_box(tutorial):
    event = next(e for e in tutorial.events if e.row.name == "add_1" and e.row.kind == TRANSFER)
    assert (event.boxes, event.edges) == ((), ())
    ((start, end),) = way_inside(tutorial, event)
    assert end[1] > start[1]


def test_what_waits_and_what_moves_at_a_moment(tutorial):
    start = event_of(tutorial, "add", kind=True).row
    found = shot(tutorial, start.start_us + start.duration_us / 4)
    assert [(tutorial.events[i].row.name, share) for i, share in found.moving] == [("add", 0.25)]
    assert box_of(tutorial, "a") in found.done
    assert box_of(tutorial, "add_1") not in found.begun


def test_a_busy_device_waits_for_nothing():
    stats = step(
        (WORKER0, [_asked(transfer("a", PS, WORKER0, 50, 10), 0)]),
        (WORKER0, [node("busy", "Neg", "", 0, 40), node("b", "Neg", "a_S1", 65, 5)]),
        (PS, [node("a", "Const", "", 0, 45)]),
    )
    found = scene(rows(stats))
    assert shot(found, 20).waiting == {}
    assert set(shot(found, 45).waiting) == {box_of(found, "b")}
    assert caption(found, 45.5) == "46 µs: worker:0 waits for a from ps:0 since 40 µs"


def _asked(stats, start):
    """Return the statistics of a transfer that was asked for at another time."""
    stats.scheduled_micros = stats.all_start_micros - 50 + start
    return stats


@pytest.mark.parametrize(("took", "waits"), [(500, True), (5, False)])
def test_a_queue_that_keeps_a_node_long_is_waited_for(took, waits):
    ends = node("last", "Neg", "take", 900, 100)
    found = scene(rows(step((PS, [node("take", "QueueDequeueV2", "", 0, took), ends]))))
    seen = shot(found, took / 2)
    assert set(seen.computing) == {box_of(found, "take")}
    assert set(seen.waiting) == (set(seen.computing) if waits else set())


def test_captions_tell_who_computes_first(tutorial):
    row = event_of(tutorial, "add", kind=False).row
    told = caption(tutorial, row.start_us + 1)
    assert told.startswith(f"{row.start_us + 1:.0f} µs: worker:0 computes add")
    assert caption(tutorial, 1e9).endswith(": the step is over")


def test_an_event_is_told_in_a_line(tutorial):
    event = next(e for e in tutorial.events if e.row.name == "a/read" and e.row.device == WORKER1)
    assert told_event(event).startswith("a/read, RecvTensor on ps:0 to worker:1: ")
    assert told_event(event).endswith(", 4 B")


def test_the_rounds_of_a_loop_light_up_its_box(looping):
    box = box_of(looping, "while")
    grown = [event for event in looping.events if event.row.name == "while/grow"]
    assert {event.boxes for event in grown} == {(box,)}
    assert "while/grow (round 2)" in caption(looping, grown[-1].row.start_us + 1)


def test_within_a_loop_a_tensor_goes_from_column_to_column(looping):
    event = next(e for e in looping.events if e.row.name == "while/grow" and e.edges == ()
                 and e.row.kind == TRANSFER)  # fmt: skip
    ((start, end),) = way_inside(looping, event)
    assert start[0] > end[0]  # from worker 1 to worker 0
    assert start[1] == end[1]


def test_of_a_very_long_loop_the_middle_is_left_out(monkeypatch):
    monkeypatch.setattr("tfdist.plots.player.scene.MOST_EVENTS", 60)
    found = scene(rows(loop(30)))
    assert len(found.events) <= 60
    assert payload(found)["notes"] == [str(found.left_out[0])]


def test_what_ran_without_a_session_that_told_has_a_picture_too():
    found = scene(rows(three_tasks()))
    assert {box.group.name for box in found.layout.boxes} == {
        "a",
        "a/read",
        "add/y",
        "add",
        "add_1",
    }
    assert event_of(found, "add", kind=True).edges


def test_pauses_are_short_if_all_events_are_alike(tutorial):
    lengths = dict(zip(tutorial.ticks, tutorial.lengths, strict=False))
    assert lengths[event_of(tutorial, "add", kind=False).row.start_us] == 1
    assert min(lengths.values()) < 1


@pytest.mark.parametrize(
    ("durations", "uneven"), [([10, 10, 10, 10], False), ([1, 1, 1, 1000], True)]
)
def test_few_stretches_that_take_most_time_make_a_step_uneven(durations, uneven):
    ends = [sum(durations[: i + 1]) for i in range(len(durations))]
    found = [NodeRow(PS, f"n{i}", "Neg", "compute", end - took, took)
             for i, (end, took) in enumerate(zip(ends, durations, strict=True))]  # fmt: skip
    assert scene(found).is_uneven is uneven


def test_telling_moments_are_inside_the_step_and_not_on_a_tick(tutorial):
    moments = telling_moments(tutorial)
    assert len(moments) == 4
    assert moments == sorted(moments)
    for moment in moments:
        assert 0 < moment < tutorial.span_us
        assert moment not in tutorial.ticks


def test_the_payload_says_all_of_it_in_json(tutorial):
    found = json.loads(json.dumps(payload(tutorial)))
    assert [device["name"] for device in found["devices"]] == ["ps:0", "worker:0", "worker:1"]
    assert len({len(each) for each in found["events"].values()}) == 1
    assert len(found["lengths"]) == len(found["ticks"]) - 1
    assert all(a < b for a, b in pairwise(found["ticks"]))
    states = {found["states"][k] for each in found["doing"] for k in each["state"]}
    assert {"computes", "receives", "done"} <= states


def test_a_device_that_has_no_column_is_told_as_well():
    nodes = [PlacedNode("a", "Const", "", PS, "", ())]
    stats = step(
        (PS, [node("a", "Const", "", 0, 5)]), (WORKER0, [transfer("a", PS, WORKER0, 5, 5)])
    )
    found = payload(scene(rows(stats), nodes))
    assert [device["name"] for device in found["devices"]] == ["ps:0", "worker:0"]
    assert [column["device"] for column in found["columns"]] == [0]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_stills_are_drawn(tutorial, looping, theme):
    with drawn(theme):
        figures = [strip_figure(looping), moment_figure(tutorial, telling_moments(tutorial)[2])]
    for figure in figures:
        FigureCanvasAgg(figure).draw()
    assert len(figures[0].axes) == 5  # four moments, and the lanes


def test_a_strip_of_chosen_moments_has_their_captions(tutorial):
    figure = strip_figure(tutorial, [100.0, 50.0])
    titles = [axes.get_title(loc="left") for axes in figure.axes[:2]]
    assert [title[:7] for title in titles] == ["①  50 µs"[:7], "②  100 µs"[:7]]


def test_open_loops_do_not_disturb_other_scenes():
    assert scene([], looping_nodes()).ticks == (0.0, 1.0)
