"""Where a placement's boxes and edges stand, and that the picture is one."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import tfdist as tf
from tests.plots.samples import layered_nodes, looping_nodes, three_task_nodes
from tests.tracing.samples import PS, WORKER0, WORKER1
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.placement.layout import layout_placement
from tfdist.plots.shared.blocks import from_inside, members_of, unknown_names
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.placed_nodes import by_device, fold, levels, node_of
from tfdist.plots.shared.routes import BOX
from tfdist.session.recording import PlacedNode
from tfdist.wire.server import start_servers

GRAPHS = pytest.mark.parametrize(
    "nodes",
    [three_task_nodes(), layered_nodes(6), layered_nodes(25)],
    ids=["three tasks", "layers", "folded"],
)


def placed(name, *inputs, device=PS):
    return PlacedNode(name, "Add", "", device, "", inputs)


@GRAPHS
def test_boxes_do_not_overlap(nodes):
    spots = [box.spot for box in layout_placement(nodes).boxes]
    for a, b in itertools.combinations(spots, 2):
        assert abs(a.x - b.x) >= BOX[0] or abs(a.y - b.y) >= BOX[1]


@GRAPHS
def test_boxes_stand_in_the_column_of_their_device(nodes):
    layout = layout_placement(nodes)
    columns = {device: (left, left + width) for device, left, width in layout.columns}
    for box in layout.boxes:
        left, right = columns[box.group.device]
        assert left <= box.spot.x - BOX[0] / 2
        assert box.spot.x + BOX[0] / 2 <= right
        assert box.spot.y < layout.height


@GRAPHS
def test_takers_stand_below_what_they_take(nodes):
    layout = layout_placement(nodes)
    for edge in layout.edges:
        assert layout.boxes[edge.source].spot.row < layout.boxes[edge.target].spot.row


@GRAPHS
def test_no_edge_passes_behind_a_box(nodes):
    check_edges(layout_placement(nodes))


def check_edges(layout):
    """Check that no edge passes behind a box that it has nothing to do with."""
    for edge in layout.edges:
        others = [
            box.spot for i, box in enumerate(layout.boxes) if i not in (edge.source, edge.target)
        ]
        for corner, following in itertools.pairwise(edge.corners):
            assert not [spot for spot in others if hits(corner, following, spot)]


def hits(start, end, spot):
    """Return whether an upright or level line runs through a box."""
    (x0, x1), (y0, y1) = sorted((start[0], end[0])), sorted((start[1], end[1]))
    return (
        x0 < spot.x + spot.width / 2
        and x1 > spot.x - spot.width / 2
        and y0 < spot.y + BOX[1] / 2
        and y1 > spot.y - BOX[1] / 2
    )


def test_edges_between_devices_are_marked():
    layout = layout_placement(three_task_nodes())
    crossing = {
        (layout.boxes[edge.source].group.name, layout.boxes[edge.target].group.name)
        for edge in layout.edges
        if edge.crosses
    }
    assert crossing == {("a/read", "add"), ("a/read", "add_1"), ("add", "add_1"), ("x", "mul")}


def test_fold_keeps_single_nodes_below_the_limit():
    assert [group.name for group in fold(three_task_nodes(), 9)] == [
        node.name for node in three_task_nodes()
    ]


def test_fold_draws_a_scope_on_one_device_as_one():
    groups = {(g.name, g.device): g.op for g in fold(three_task_nodes(), 7)}
    assert groups["a", PS] == "4 nodes"
    assert groups["add", WORKER0] == "2 nodes"
    assert groups["add_1", WORKER1] == "AddV2"


def test_fold_connects_groups_once_and_never_with_themselves():
    groups = fold(three_task_nodes(), 7)
    names = [group.name for group in groups]
    assert [names[i] for i in groups[names.index("add_1")].inputs] == ["a", "add"]
    assert groups[names.index("a")].inputs == ()


def test_fold_leaves_one_group_a_device_when_scopes_are_too_many():
    groups = fold([placed(f"n{i}", f"n{i - 1}") for i in range(100)], 10)
    assert len(groups) <= 10
    assert groups[-1].name == "everything else"


def test_levels_put_what_is_taken_late_right_above_its_taker():
    groups = fold(
        [placed("a"), placed("b", "a"), placed("c", "b"), placed("k"), placed("d", "c", "k")], 9
    )
    assert levels(groups) == [0, 1, 2, 2, 3]


def test_levels_of_a_loop_are_finite():
    groups = fold([placed("merge", "next"), placed("next", "merge")], 9)
    assert sorted(levels(groups)) == [0, 1]


def test_levels_of_a_deep_graph_need_no_recursion():
    groups = fold([placed(f"n{i}", f"n{i - 1}") for i in range(5000)][::-1], 10_000)
    assert max(levels(groups)) == 4999


@pytest.mark.parametrize(("name", "expected"), [("^a", "a"), ("a:1", "a"), ("a/b", "a/b")])
def test_node_of(name, expected):
    assert node_of(name) == expected


def test_by_device_goes_in_natural_order():
    nodes = [placed("w", device=WORKER1), placed("p"), placed("v", device=WORKER0)]
    assert list(by_device(nodes)) == [PS, WORKER0, WORKER1]


@pytest.mark.parametrize("nodes", [three_task_nodes(), [placed("a", device="")], []], ids=len)
def test_figure_is_drawn_on_an_opaque_panel(nodes):
    figure = placement_figure(nodes)
    assert figure.get_facecolor() == (1, 1, 1, 1)
    assert png(figure).startswith(b"\x89PNG")


def test_long_names_stay_inside_their_boxes():
    figure = placement_figure([placed("GradientDescent/update"), placed("W" * 40), placed("i")])
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    left, right = (axes.transData.transform((x, 0))[0] for x in (0, BOX[0]))
    for text in axes.texts[1:]:
        assert text.get_window_extent().width < right - left, text.get_text()


def test_figure_names_devices_nodes_and_ops():
    (axes,) = placement_figure(three_task_nodes()).axes
    texts = {text.get_text() for text in axes.texts}
    assert {"/job:ps/task:0", "a/read", "VariableV2", "add_1"} <= texts


# loops and conds

OPENED = pytest.mark.parametrize(
    "opened", [(), ("while",), ("*",)], ids=["closed", "loop open", "all open"]
)


def names(layout):
    return [box.group.name for box in layout.boxes]


def test_a_loop_is_one_box_across_its_devices():
    layout = layout_placement(looping_nodes())
    assert names(layout) == ["start", "while", "done", "extra"]
    box = layout.boxes[1]
    assert (box.group.op, box.group.devices) == ("15 nodes", (WORKER0, WORKER1))
    columns = {device: (left, left + width) for device, left, width in layout.columns}
    assert columns[WORKER0][0] < box.spot.x - box.spot.width / 2 < columns[WORKER0][1]
    assert columns[WORKER1][0] < box.spot.x + box.spot.width / 2 < columns[WORKER1][1]
    assert layout.frames == ()


def test_edges_of_a_closed_loop_are_those_of_its_nodes():
    layout = layout_placement(looping_nodes())
    ends = [(names(layout)[edge.source], names(layout)[edge.target]) for edge in layout.edges]
    assert ends == [("start", "while"), ("while", "done"), ("start", "extra")]
    assert [edge.crosses for edge in layout.edges] == [False, False, True]


def test_an_open_loop_is_a_frame_around_its_nodes():
    layout = layout_placement(looping_nodes(), opened=["while"])
    [frame] = layout.frames
    assert frame.title == "loop while"
    for box in layout.boxes:
        is_inside = box.group.name.startswith("while/")
        x_fits = frame.left < box.spot.x - box.spot.width / 2
        x_fits = x_fits and box.spot.x + box.spot.width / 2 < frame.right
        y_fits = frame.top < box.spot.y - BOX[1] / 2 and box.spot.y + BOX[1] / 2 < frame.bottom
        assert (x_fits and y_fits) is is_inside
    assert "while/choose" in names(layout)  # the cond stays closed


def test_what_is_around_an_open_cond_is_open_too():
    layout = layout_placement(looping_nodes(), opened=["while/choose"])
    titles = [frame.title for frame in layout.frames]
    assert titles[:2] == ["loop while", "cond while/choose"]
    assert sorted(titles[2:]) == ["if false", "if true"]


def test_frames_nest():
    layout = layout_placement(looping_nodes(), opened=["*"])
    frames = {frame.path: frame for frame in layout.frames}
    for path, frame in frames.items():
        if len(path) > 1:
            around = frames[path[:-1]]
            assert around.left < frame.left < frame.right < around.right
            assert around.top < frame.top < frame.bottom < around.bottom
    true, false = (f for f in layout.frames if f.title.startswith("if"))
    assert true.bottom <= false.top or false.bottom <= true.top or true.left >= false.right


@OPENED
def test_with_blocks_boxes_do_not_overlap_and_stay_in_the_picture(opened):
    layout = layout_placement(looping_nodes(), opened=opened)
    spots = [box.spot for box in layout.boxes]
    for a, b in itertools.combinations(spots, 2):
        assert abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= BOX[1]
    for spot in spots:
        assert 0 < spot.x - spot.width / 2 < spot.x + spot.width / 2 < layout.right
        assert spot.y + BOX[1] / 2 < layout.height


def test_edges_that_go_around_stay_in_the_picture():
    servers = start_servers({"ps": 1, "worker": 2})
    with tf.device("/job:ps"):
        weights = tf.Variable([[0.0], [0.0]])
    gradients = []
    for task in range(2):
        with tf.device(f"/job:worker/task:{task}"):
            error = tf.matmul(tf.constant([[1.0, 2.0]] * 2), weights) - tf.constant([[1.0]] * 2)
            gradients += tf.gradients(tf.reduce_mean(tf.square(error)), weights)
    with tf.Session(servers[0].target) as session:
        layout = layout_placement(session.placement(tf.add_n(gradients)))
    for server in servers:
        server.stop()
    sides = [x for edge in layout.edges for x, _ in edge.corners]
    assert layout.left < min(sides) < max(sides) < layout.right


@OPENED
def test_with_blocks_no_edge_passes_behind_a_box(opened):
    check_edges(layout_placement(looping_nodes(), opened=opened))


@OPENED
def test_with_blocks_takers_stand_below_but_for_what_comes_round(opened):
    layout = layout_placement(looping_nodes(), opened=opened)
    for edge in layout.edges:
        source, target = layout.boxes[edge.source], layout.boxes[edge.target]
        comes_round = (source.group.op, target.group.op) == ("NextIteration", "Merge")
        assert (source.spot.row < target.spot.row) is not comes_round


def test_nodes_that_make_a_loop_go_round_are_quiet():
    groups = fold(looping_nodes(), 60, ["*"])
    loud = [group.name for group in groups if not group.is_quiet]
    assert loud == [
        "start", "while/less", "while/pick", "while/choose/a", "while/choose/b", "done", "extra",
    ]  # fmt: skip
    assert not any(group.is_quiet for group in fold(three_task_nodes(), 60))


def test_gates_and_transfers_are_quiet_too():
    gate = PlacedNode("_cloop0_while/pivot", "Identity", "", PS, "", ())
    moved = PlacedNode("a_S1", "_Recv", "", PS, "", ())
    assert [group.is_quiet for group in fold([gate, moved, placed("a")], 9)] == [True, True, False]


def test_an_open_loop_of_many_nodes_is_folded_by_scope():
    nodes = [*looping_nodes(), *layered_nodes(25)]
    groups = fold(nodes, 20, ["while"])
    assert len(groups) <= 20
    assert {group.around for group in groups if group.name.startswith("while")} == {
        looping_nodes()[1].within
    }


@pytest.mark.parametrize(
    ("opened", "unknown"), [(["while", "*/choose"], []), (["whale", "while"], ["whale"])]
)
def test_names_that_nothing_has_are_found(opened, unknown):
    assert unknown_names(looping_nodes(), opened) == unknown


def test_the_inside_of_a_block_can_be_seen_alone():
    [(loop, _), (cond, members)] = members_of(looping_nodes()).items()
    assert cond[: len(loop)] == loop
    layout = layout_placement(from_inside(cond, members), opened=["while/choose"])
    titles = {frame.title for frame in layout.frames}
    assert titles == {"cond while/choose", "if true", "if false"}
    assert all(name.startswith("while/choose/") for name in names(layout))


def test_figure_names_blocks_and_rounds():
    def texts(**options):
        (axes,) = placement_figure(looping_nodes(), rounds={"while": "4 rounds"}, **options).axes
        return {text.get_text() for text in axes.texts}

    assert {"▸ loop while", "15 nodes, 4 rounds", "start"} <= texts()
    assert "while/less" not in texts()
    assert {"▾ loop while, 4 rounds", "while/less", "▸ cond while/choose"} <= texts(
        opened=["while"]
    )
    assert {"▾ cond while/choose", "if true", "while/choose/a"} <= texts(opened=["*"])


def lines(edge):
    """Yield the straight lines of an edge: whether it runs across, where, its ends, its source."""
    for (x1, y1), (x2, y2) in itertools.pairwise(edge.corners):
        across = y1 == y2
        yield across, y1 if across else x1, *sorted((x1, x2) if across else (y1, y2)), edge.source


@pytest.mark.parametrize("nodes", [three_task_nodes(), layered_nodes(6), looping_nodes()])
def test_edges_of_different_sources_run_beside_each_other(nodes):
    """Else nobody could tell whose arrow it is."""
    layout = layout_placement(nodes, opened="*")
    found = [line for edge in layout.edges for line in lines(edge)]
    for (across, at, low, high, source), other in itertools.combinations(found, 2):
        if other[0] == across and other[4] != source and abs(other[1] - at) < 0.02:
            assert high <= other[2] or other[3] <= low
