"""How a graph is folded, where everything stands in its picture, and what is said of it."""

import itertools
import time
from functools import cache

import pytest

import tfdist as tf
from tests.plots.graph.graph_samples import (
    flat_graph,
    looping_graph,
    towering_graph,
    trained_graph,
    tutorial_graph,
)
from tfdist.plots.graph.colours import WAYS, kind_of
from tfdist.plots.graph.data import TIMES, around, graph_nodes, shape_text
from tfdist.plots.graph.edge_labels import labels, points_of
from tfdist.plots.graph.figure import graph_figure
from tfdist.plots.graph.layout import layout_graph
from tfdist.plots.graph.layout_layers import without_overlaps
from tfdist.plots.graph.scopes import fold_graph
from tfdist.plots.graph.view import GraphView
from tfdist.plots.shared.palette import png
from tfdist.plots.shared.themes import drawn

MAKERS = {
    "three tasks": tutorial_graph,
    "gradients and Adam": trained_graph,
    "a loop and its gradient": looping_graph,
    "20 layers with something between": lambda: towering_graph(20, 3),
    "400 nodes without scopes": lambda: flat_graph(400),
}


@pytest.fixture(scope="module")
def nodes_of():
    """Return a function that gives the nodes of a sample, which is built once."""
    return cache(lambda name: graph_nodes(MAKERS[name]()))


EACH = pytest.mark.parametrize("name", MAKERS)
DEPTHS = pytest.mark.parametrize("depth", [1, 2, 4])


@pytest.fixture(scope="module")
def layout_of(nodes_of):
    """Return a function that gives a sample as it is folded, and its layout."""

    @cache
    def call(name, depth=2):
        folded = fold_graph(nodes_of(name), depth)
        return folded, layout_graph(folded, lambda part: part.about)

    return call


def titles(folded):
    return [leaf.title for leaf in folded.leaves]


# folding


def test_every_node_is_in_one_box(nodes_of):
    for name, depth in itertools.product(MAKERS, (1, 2, 3, 9)):
        nodes = nodes_of(name)
        folded = fold_graph(nodes, depth)
        boxes = [*folded.leaves, *(part for part, _, _ in folded.aside)]
        members = sorted(member for box in boxes for member in box.members)
        assert members == list(range(len(nodes))), (name, depth)


def test_a_node_with_its_constants_is_one_box_until_depth_3(nodes_of):
    nodes = nodes_of("three tasks")
    assert titles(fold_graph(nodes)) == ["a", "b", "x", "c"]
    assert [leaf.about for leaf in fold_graph(nodes).leaves] == [
        "VariableV2 +3", "Add +1", "Placeholder", "Mul",
    ]  # fmt: skip
    assert titles(fold_graph(nodes, 3))[:4] == ["initial_value", "(a)", "Assign", "read"]


def test_scopes_are_open_down_to_the_depth(nodes_of):
    nodes = nodes_of("gradients and Adam")
    assert "layer_1" in titles(fold_graph(nodes, 1))
    opened = {part.name: part for part in fold_graph(nodes, 2).whole.parts}
    assert {"MatMul", "Relu"} < {part.title for part in opened["layer_1"].parts}


def test_layers_in_a_row_are_one_box():
    folded = fold_graph(graph_nodes(towering_graph(9)))
    assert titles(folded) == ["x", "layer_0 … layer_8"]
    assert folded.leaves[1].times == 9
    assert [(link.shapes, link.controls) for link in folded.links.values()] == [
        ((f"?{TIMES}4",), 0)
    ]


def test_layers_with_something_else_between_are_several_series():
    folded = fold_graph(graph_nodes(towering_graph(12, 4)), 1)
    assert [(leaf.title, leaf.times) for leaf in folded.leaves if leaf.times > 1] == [
        ("layer_0 … layer_3", 4),
        ("layer_4 … layer_7", 4),
        ("layer_8 … layer_11", 4),
    ]


def test_layers_that_differ_are_no_series(nodes_of):
    assert all(leaf.times == 1 for leaf in fold_graph(nodes_of("three tasks")).leaves)
    graph = tf.Graph()
    with graph.as_default():
        for i in range(8):
            with tf.name_scope(f"layer_{i}"):
                tf.negative(tf.constant(1.0)) if i % 2 else tf.abs(tf.constant(1.0))
    assert fold_graph(graph_nodes(graph), 1).leaves[0].times == 4  # those that are made alike


def test_savers_and_initialisers_are_set_aside(nodes_of):
    folded = fold_graph(nodes_of("gradients and Adam"), 1)
    assert [(part.title, after) for part, _, after in folded.aside] == [("init", 0), ("save", 0)]


def test_what_everything_takes_from_is_set_aside():
    graph = tf.Graph()
    with graph.as_default():
        rate = tf.placeholder(tf.float32, [], name="rate")
        for i in range(12):
            with tf.name_scope(f"part{chr(97 + i)}"):
                tf.multiply(tf.abs(rate), [1.0] * (i + 1))
    folded = fold_graph(graph_nodes(graph), 1)
    assert [(part.name, before, after) for part, before, after in folded.aside] == [("rate", 0, 12)]
    assert not folded.links


@EACH
@pytest.mark.parametrize("most", [5, 30])
def test_boxes_are_never_more_than_asked_for(nodes_of, name, most):
    folded = fold_graph(nodes_of(name), 9, most)
    assert len(folded.leaves) + len(folded.aside) <= most


def test_a_scope_can_be_shown_alone(nodes_of):
    nodes = nodes_of("gradients and Adam")
    shown = fold_graph(nodes, 2, scope="loss")
    assert {nodes[i].name.partition("/")[0] for i in shown.whole.members} == {"loss"}
    with pytest.raises(ValueError, match=r"no scope is called lass; there are layer_1, "):
        fold_graph(nodes, scope="lass")


# where things stand


def overlap(one, other):
    return (
        one.left < other.left + other.width - 1e-6
        and other.left < one.left + one.width - 1e-6
        and one.top < other.top + other.height - 1e-6
        and other.top < one.top + one.height - 1e-6
    )


@EACH
@DEPTHS
def test_boxes_do_not_overlap_and_stand_in_their_frames(layout_of, name, depth):
    _, layout = layout_of(name, depth)
    for one, other in itertools.combinations([*layout.boxes, *layout.aside], 2):
        assert not overlap(one, other), (one.part.name, other.part.name)
    for frame, box in itertools.product(layout.frames, layout.boxes):
        if set(box.part.members) <= set(frame.part.members):
            assert frame.left < box.left
            assert box.left + box.width < frame.left + frame.width
            assert frame.top < box.top
            assert box.top + box.height < frame.top + frame.height
        else:
            assert not overlap(frame, box)
    for box in [*layout.boxes, *layout.aside]:
        assert 0 <= box.left
        assert box.left + box.width <= layout.width
        assert 0 <= box.top < box.top + box.height <= layout.height


@EACH
@DEPTHS
def test_no_edge_passes_behind_a_box(layout_of, name, depth):
    _, layout = layout_of(name, depth)
    for wire in layout.wires:
        ends = {wire.source, wire.into}
        for x, y in points_of(wire):
            for box in layout.boxes:
                is_in = box.left < x < box.left + box.width and box.top < y < box.top + box.height
                assert not is_in or box.leaf in ends, (box.part.name, wire)


@EACH
@DEPTHS
def test_every_edge_goes_from_its_source_to_its_target(layout_of, name, depth):
    folded, layout = layout_of(name, depth)
    boxes = {box.leaf: box for box in layout.boxes}
    for source, target in folded.links:
        pieces = [w for w in layout.wires if w.source == source and target in w.targets]
        starts, ends = ({w.points[i] for w in pieces} for i in (0, 3))
        box = boxes[source]
        assert any(y == pytest.approx(box.top + box.height) for _, y in starts)
        (last,) = [w for w in pieces if w.into == target]
        assert boxes[target].left < last.points[3][0] < boxes[target].left + boxes[target].width
        loose = [p for p in starts if not any(close(p, end) for end in ends)]
        assert len(loose) == 1, "each piece begins where another one ends"


def close(one, other):
    return abs(one[0] - other[0]) < 1e-6 and abs(one[1] - other[1]) < 1e-6


def test_takers_stand_below_what_they_take(layout_of):
    folded, layout = layout_of("gradients and Adam")
    top = {box.leaf: box.top for box in layout.boxes}
    assert all(top[source] < top[target] for source, target in folded.links)


def test_labels_hide_neither_boxes_nor_each_other(layout_of):
    folded, layout = layout_of("gradients and Adam")
    found = labels(layout, folded)
    assert f"?{TIMES}6" in {text for _, _, text in found}
    for x, y, _ in found:
        assert not any(
            box.left < x < box.left + box.width and box.top < y < box.top + box.height
            for box in layout.boxes
        )
    assert len({(x, y) for x, y, _ in found}) == len(found)


@pytest.mark.parametrize(
    ("wanted", "weights", "gaps", "expected"),
    [
        pytest.param([0, 5], [1, 1], [1], [0, 5], id="what has room stays"),
        pytest.param([3, 3], [1, 1], [2], [2, 4], id="both give way"),
        pytest.param([3, 3], [1, 3], [2], [1.5, 3.5], id="the lighter one more"),
        pytest.param([9, 0, 0], [1, 1, 1], [1, 1], [2, 3, 4], id="the order stays"),
    ],
)
def test_without_overlaps(wanted, weights, gaps, expected):
    assert without_overlaps(wanted, weights, gaps) == pytest.approx(expected)


# pictures


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_graph_is_drawn_on_an_opaque_panel(by, theme):
    with drawn(theme):
        figure = graph_figure(tutorial_graph(), by, times={"a": 3.0})
        assert figure.get_facecolor()[3] == 1
        assert png(figure).startswith(b"\x89PNG")


def texts_of(figure):
    (axes,) = figure.axes
    legend = [text.get_text() for each in figure.legends for text in each.get_texts()]
    return [text.get_text() for text in axes.texts], legend


def test_a_picture_names_boxes_shapes_and_devices():
    texts, legend = texts_of(graph_figure(tutorial_graph()))
    assert {"a", "VariableV2 +3", "scalar", "x", "Placeholder"} <= set(texts)
    assert legend == ["/job:ps", "/job:worker/task:0", "/job:worker/task:1", "tensors"]


def test_by_time_says_how_long_and_what_did_not_run():
    times = {"a": 2000.0, "b": 5.0}
    texts, legend = texts_of(graph_figure(tutorial_graph(), "time", times=times))
    assert {"VariableV2 +3, 2 ms", "Add +1, 5.0 µs", "Mul, did not run"} <= set(texts)
    assert "did not run" in legend
    quiet, _ = texts_of(graph_figure(tutorial_graph(), "time", times=times, with_times=False))
    assert "VariableV2 +3, ran" in quiet


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({"by": "colour"}, "by 'colour': .*device, op, time", id="unknown colours"),
        pytest.param({"by": "time"}, "nothing was traced yet", id="no trace"),
        pytest.param({"scope": "z"}, "no scope is called z; there are a, b", id="unknown scope"),
    ],
)
def test_errors_say_what_there_is(arguments, message):
    with pytest.raises(ValueError, match=message):
        graph_figure(tutorial_graph(), **arguments)


def test_5000_nodes_are_drawn_soon():
    nodes = graph_nodes(towering_graph(450, 5))
    assert len(nodes) > 5000
    png(graph_figure(tutorial_graph()))  # matplotlib is imported
    begin = time.process_time()
    png(graph_figure(nodes))
    assert time.process_time() - begin < 6  # under 1 s on an idle core


def test_an_empty_graph_is_drawn():
    assert png(graph_figure(tf.Graph()))


# in words and in files


def test_text_says_what_the_picture_shows():
    view = GraphView(tutorial_graph(), marked=["c"])
    assert view.sentence == (
        "Graph of 8 nodes on /job:ps, /job:worker/task:0, /job:worker/task:1, "
        "drawn as 4 boxes; 1 node added."
    )
    assert view.to_text().splitlines() == [
        "a    VariableV2 +3  /job:ps",
        "b    Add +1         /job:worker/task:0; from a",
        "x    Placeholder    /job:worker/task:1",
        "✚ c  Mul            /job:worker/task:1; from b, x",
    ]


def test_text_of_a_tree_is_indented_and_tells_what_is_set_aside(nodes_of):
    text = GraphView(nodes_of("gradients and Adam")).to_text()
    assert "\nlayer_1" in text
    assert "\n  MatMul" in text
    assert "set aside:\n  init" in text


def test_closed_scopes_can_be_seen_from_inside():
    view = GraphView(trained_graph(), depth=1)
    part = next(part for part in view.closed() if part.name == "layer_2")
    inner = view.inside(part)
    assert inner.sentence.startswith("Scope layer_2 of ")
    assert "MatMul" in inner.to_text()
    assert not GraphView(flat_graph(50)).closed()  # a series of nodes has no inside


@pytest.mark.parametrize("suffix", ["png", "svg", "dot", "pb"])
def test_a_graph_is_saved(tmp_path, suffix):
    file = tmp_path / f"graph.{suffix}"
    graph = tutorial_graph()
    view = GraphView(graph)
    view.save(str(file))
    data = file.read_bytes()
    if suffix == "pb":
        assert tf.GraphDef.FromString(data) == graph.as_graph_def()
        return
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "dot": b"digraph tfdist {"}[suffix]
    assert data.startswith(begins)
    view.save(str(file))
    assert file.read_bytes() == data  # the same each time


def test_dot_has_clusters_and_balanced_braces():
    dot = GraphView(trained_graph()).to_dot()
    assert 'subgraph "cluster_layer_1" {' in dot
    assert dot.count("{") == dot.count("}")
    assert " -> " in dot


def test_other_suffixes_are_told_those_that_there_are(tmp_path):
    with pytest.raises(
        ValueError, match=r"FILE\.png, FILE\.svg, FILE\.dot, FILE\.pb, not as .*gif"
    ):
        GraphView(tutorial_graph()).save(str(tmp_path / "graph.gif"))


# data


def test_a_graph_def_is_read_as_its_graph():
    graph = trained_graph()
    assert graph_nodes(graph.as_graph_def(add_shapes=True)) == graph_nodes(graph)


def test_around_gives_neighbours(nodes_of):
    near = around(nodes_of("three tasks"), ["b"])
    assert [node.name for node in near] == ["a/read", "b/y", "b", "c"]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [(None, ""), ((), "scalar"), ((None, 3), f"?{TIMES}3"), ((7,), "7")],
)
def test_shape_text(sizes, expected):
    assert shape_text(sizes) == expected


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        ("VariableV2", "variable"), ("VarHandleOp", "variable"), ("Const", "constant"),
        ("Placeholder", "input"), ("ReadVariableOp", "variable"), ("ReluGrad", "gradient"),
        ("Conv2DBackpropFilter", "gradient"), ("Conv2D", "network"),
        ("ApplyAdam", "change of a variable"),
        ("Switch", "control flow"), ("Reshape", "shape"), ("AddV2", "arithmetic, other"),
        ("Identity", "shape"), ("AssignVariableOp", "change of a variable"),
    ],
)  # fmt: skip
def test_kinds_of_ops(op, kind):
    assert kind_of(op) == kind
