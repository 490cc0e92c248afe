"""Pictures and tables of a census: all is inside, nothing overlaps, and the text says the same."""

import math
import re

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.plots.texts import assert_inside_and_apart
from tfdist.plots.live.census import ClusterCensus
from tfdist.plots.live.census_figure import MANY
from tfdist.plots.live.holdings_figure import MOST_ROOMS, holdings_figure
from tfdist.plots.live.queues import (
    chosen,
    holdings_sentence,
    holds_text,
    is_named,
    queues_sentence,
    waiting_text,
)
from tfdist.plots.live.queues_figure import MOST_QUEUES, fills_figure, queues_figure
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.themes import THEMES, drawn
from tfdist.tracing.census import Allocation, Census, TaskStatus, Traffic, Waiter
from tfdist.tracing.census_history import CensusHistory
from tfdist.tracing.waits import ResourceStatus, Unreachable
from tfdist.web.cluster import cluster_html

PS, WORKER = "/job:ps/replica:0/task:{}", "/job:worker/replica:0/task:{}"
FULL = ResourceStatus(
    "full", "FIFOQueue", "batches", WORKER.format(0), 20, 20, closed=True, producers=3
)
OPEN = ResourceStatus(
    "open", "RandomShuffleQueue", "shuffled", PS.format(0), 4, -1, "", 3, consumers=1
)
WAITING = Waiter("open", "take", PS.format(0), "elements", 2, 3.25)


def census(servers, workers, count):
    """Return the census of a cluster after so many steps."""
    names = [PS.format(i) for i in range(servers)] + [WORKER.format(i) for i in range(workers)]
    tasks = [
        TaskStatus(name, 1, ("cpu:0",), 9, 10**8, i, 10**6 * i, 10**5, 1, count, i % 2, count / 50)
        for i, name in enumerate(names)
    ]
    pairs = [(names[i], names[servers + k]) for i in range(servers) for k in range(workers)]
    sent = [Traffic(*pair, count, 1000 * count) for pair in pairs]
    sent += [Traffic(target, source, count, 500 * count) for source, target in pairs]
    wave = OPEN._replace(fill=5 + round(5 * math.sin(count / 5)))
    silent = (Unreachable("/job:far/task:0", "does not tell: it is not a tfdist server"),)
    return Census(tuple(tasks), (FULL, wave), (WAITING,), tuple(sent), (), silent)


def held(count, containers=("",), tasks=1):
    """Return so many variables in each of some containers on each of some tasks."""
    return [
        Allocation(PS.format(task), "variable", f"{room}layer{i}/weights", i, "float32[1]", room)
        for task in range(tasks)
        for room in containers
        for i in range(count)
    ]


def history(servers=1, workers=2, samples=30):
    found = CensusHistory()
    for i in range(samples):
        found.add(i / 5, census(servers, workers, 10 * i))
    return found


CLUSTERS = pytest.mark.parametrize(("servers", "workers"), [(1, 2), (2, 8)])


@pytest.mark.parametrize("theme", THEMES)
@CLUSTERS
def test_texts_of_the_overview_stand_inside_and_apart(theme, servers, workers):
    with drawn(theme):
        figure = ClusterCensus(history(servers, workers)).figure()
    assert_inside_and_apart(figure)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("count", "containers", "tasks"),
    [
        pytest.param(1, [""], 1, id="one variable"),
        pytest.param(9, ["", "experiment-a", "a" * 80], 2, id="more than has room"),
        pytest.param(1, [str(i) for i in range(MOST_ROOMS)], 2, id="more rooms than are drawn"),
    ],
)
def test_texts_of_what_is_held_stand_inside_and_apart(theme, count, containers, tasks):
    with drawn(theme):
        figure = holdings_figure(held(count, containers, tasks))
    FigureCanvasAgg(figure).draw()
    boxes = {text.get_window_extent(): text.get_text() for text in figure.axes[0].texts}
    assert all(figure.bbox.contains(*box.min) and figure.bbox.contains(*box.max) for box in boxes)
    pairs = [(a, b) for a in boxes for b in boxes if a is not b and a.overlaps(b)]
    assert [(boxes[a], boxes[b]) for a, b in pairs] == []


def test_what_is_held_stands_in_its_container():
    queue = Allocation(PS.format(0), "queue", "batches", 4, container="room")
    valueless = Allocation(PS.format(0), "variable", "later")
    figure = holdings_figure([*held(1, ["", "room"]), queue, valueless])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == [
        "/job:ps/task:0",
        "default container", "later  no value", "layer0/weights  0 B",
        "room", "batches  queue", "roomlayer0/weights  0 B",
    ]  # fmt: skip


def test_words_for_what_is_held():
    assert holdings_sentence([]) == "No task holds anything."
    assert holdings_sentence(held(2, ["", "a"], 2)) == "8 variables, in 4 containers on 2 tasks."


def test_containers_are_told_where_there_are_others_than_the_default_one():
    found = CensusHistory()
    found.add(0.0, Census((TaskStatus(PS.format(0)),), holdings=tuple(held(1, ["", "a"]))))
    table = ClusterCensus(found).tables()[-1]
    assert table.header[:3] == ("on", "container", "name")
    assert [row[1] for row in table.rows] == ["(default)", "a"]


@CLUSTERS
def test_arcs_say_how_many_bytes_unless_there_are_many(servers, workers):
    figure = ClusterCensus(history(servers, workers)).figure()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert (texts.count("290 kB") > 0) == (2 * servers * workers <= MANY)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "figure",
    [
        pytest.param(lambda: ClusterCensus(CensusHistory()).figure(), id="no cluster"),
        pytest.param(lambda: ClusterCensus(history(samples=1)).figure(), id="one census"),
        pytest.param(lambda: queues_figure([FULL, OPEN]), id="bars"),
        pytest.param(lambda: queues_figure([OPEN] * (MOST_QUEUES + 1)), id="too many bars"),
        pytest.param(lambda: fills_figure(history(), [FULL, OPEN]), id="over time"),
        pytest.param(lambda: fills_figure(history(samples=1), [FULL]), id="at one moment"),
        pytest.param(lambda: fills_figure(history(), []), id="no queue"),
        pytest.param(lambda: holdings_figure([]), id="nothing held"),
    ],
)
def test_pictures_are_drawn(figure, theme):
    with drawn(theme):
        assert png(figure()).startswith(b"\x89PNG")


def test_a_queue_over_time_has_its_capacity_its_end_and_who_waits():
    figure = fills_figure(history(), [FULL, OPEN])
    first, second = figure.axes
    assert first.get_title(loc="left") == (
        "batches  (FIFOQueue on /job:worker/task:0): 20 of 20, closed, 3 wait for room"
    )
    assert "3 wait" not in second.get_title(loc="left")
    assert [patch.get_hatch() for patch in first.patches] == ["////"]
    assert not second.patches
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[:3] == ["elements", "capacity", "closed"]


def test_text_says_what_the_picture_says():
    text = str(ClusterCensus(history()))
    assert text.startswith("4 tasks, 1 of them silent; steps are in flight.")
    for word in ("does not tell", "the same", "50", "290 kB", "50 kB/s", "20 of 20", "closed"):
        assert word in text
    assert "take for 2 elements, 3.2 s" in text


def test_text_without_times_is_the_same_in_every_run():
    text = ClusterCensus(history()).text(times=False)
    for word in ("steps/s", "bytes/s", "process", "3.2 s"):
        assert word not in text
    assert "take for 2 elements" in text


def test_holdings_are_listed_the_largest_first():
    found = CensusHistory()
    holdings = [Allocation("/job:a/task:0", "variable", f"v{i}", i, "float32[]") for i in range(3)]
    found.add(0.0, Census((TaskStatus("/job:a/task:0"),), holdings=tuple(holdings)))
    table = ClusterCensus(found).tables()[-1]
    assert [row[1] for row in table.rows] == ["v2", "v1", "v0"]
    assert table.rows[0][4] == "2 B"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [("", True), ("BATCH", True), ("b*s", True), ("b*", True), ("atch*", False), ("x", False)],
)
def test_names_by_pattern(pattern, fits):
    assert is_named("batches", pattern) is fits


def test_barriers_are_shown_when_all_are_asked_for():
    barrier = ResourceStatus("b", "Barrier", "b", PS.format(0))
    assert chosen([FULL, barrier, OPEN]) == [OPEN, FULL]
    assert chosen([barrier], every=True) == [barrier]


def test_words_for_queues():
    assert (holds_text(FULL), holds_text(OPEN)) == ("20 of 20", "4, keeps 3")
    assert queues_sentence([FULL, OPEN], [WAITING]) == "2 queues; 1 node waits."
    assert queues_sentence([FULL], [WAITING]) == "1 queue; nobody waits."
    many = [WAITING._replace(node=f"n{i}", seconds=i, needs="room", missing=1) for i in range(5)]
    assert waiting_text(many) == (
        "n4 for 1 place, 4.0 s; n3 for 1 place, 3.0 s; n2 for 1 place, 2.0 s; 2 more"
    )


def test_the_live_panel_has_tasks_by_their_numbers_and_leaves_none_out_that_is_silent():
    history = CensusHistory()
    gone = Unreachable("/job:worker/task:90", "Connection refused")
    found = census(1, 60, 5)._replace(silent=(gone,))
    history.add(1.0, found)
    html = cluster_html(history)
    shown = re.findall('data-task="/job:worker/task:(.*?)"', html)
    assert shown == [*map(str, range(38)), "90"]
    assert "22 more tasks are not shown" in html
    assert "Connection refused" in html
