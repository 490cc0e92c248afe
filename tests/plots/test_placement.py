"""Where a placement's boxes and edges stand, and that the picture is one."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.plots.samples import layered_nodes, three_task_nodes
from tests.tracing.samples import PS, WORKER0, WORKER1
from tfdist.plots.layout_placement import layout_placement
from tfdist.plots.palette import png
from tfdist.plots.placement import placement_figure
from tfdist.plots.placement_data import by_device, fold, levels, node_of
from tfdist.plots.routes import BOX
from tfdist.session.recording import PlacedNode

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
    layout = layout_placement(nodes)
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
        x0 < spot.x + BOX[0] / 2
        and x1 > spot.x - BOX[0] / 2
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
