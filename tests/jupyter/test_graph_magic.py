"""%graph and %%graph: what they draw and say, which graph they build in, and wrong lines."""

import re

import pytest
from IPython.core.error import UsageError

import tfdist as tf


@pytest.fixture
def small(notebook):
    """Return a notebook with a small graph, and no cluster."""
    notebook.run(
        "import tfdist as tf\n"
        "with tf.name_scope('first'):\n"
        "    one = tf.constant(1.0, name='one')\n"
        "    two = tf.add(one, one, name='two')\n"
        "three = tf.negative(two, name='three')"
    )
    return notebook


def test_a_graph_is_a_picture_and_a_tree(small):
    (shown,) = small.run("%graph")
    assert shown["image/png"]
    assert shown["text/plain"].splitlines() == [
        "Graph of 3 nodes, drawn as 3 boxes.",
        "first  2 nodes  no device asked for",
        "  one  Const    no device asked for",
        "  two  Add      no device asked for; from first/one",
        "three  Neg      no device asked for; from first/two",
    ]


def test_closed_scopes_can_be_opened_without_scripts(small):
    small.run("%config TFDist.live = 'off'")
    _, insides = small.run("%graph --depth 1")
    assert insides["text/html"].startswith("<details><summary>Scope first of 2 nodes")
    assert "data:image/png;base64," in insides["text/html"]
    assert not re.search(r"<style|<svg|<script", insides["text/html"])
    assert "  two  Add    no device asked for; from first/one" in insides["text/plain"]


def test_scopes_open_in_the_picture_where_scripts_may_run(small):
    (shown,) = small.run("%graph --depth 1")
    assert shown["text/html"].startswith('<div class="tfdist-place"><p><img alt="Graph of')
    assert shown["text/html"].count("new GraphPicture(") == 1


def test_devices_are_those_of_the_placement_where_a_cluster_runs(on_cluster):
    text = on_cluster.text("%graph")
    assert "a  VariableV2 +3  /job:ps/task:0" in text
    assert "c  Add +1         /job:worker/task:1; from a" in text


def test_a_node_that_cannot_be_placed_is_where_it_asked_to_be(on_cluster):
    on_cluster.run("with tf.device('/job:nowhere'): tf.constant(1, name='lost')")
    text = on_cluster.text("%graph")
    assert re.search(r"^lost +Const +/job:nowhere$", text, re.MULTILINE)
    assert re.search(r"^a +VariableV2 \+3 +/job:ps/task:0$", text, re.MULTILINE)


def test_by_time_draws_the_last_trace(on_cluster):
    with pytest.raises(UsageError, match="nothing was traced yet"):
        on_cluster.run("%graph --by time")
    on_cluster.run("%trace -q c")
    assert re.search(r"c  Add \+1 +[\d.]+ µs; from a", on_cluster.text("%graph --by time"))
    on_cluster.run("%config TFDist.live = 'off'")
    text = on_cluster.text("%graph --by time")  # the same each time
    assert "c  Add +1         ran; from a" in text
    assert "Assign         Assign      did not run" in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("first", "Scope first of 2 nodes", id="a name scope"),
        pytest.param("three", "Graph of 3 nodes", id="a tensor's graph"),
        pytest.param("three.graph", "Graph of 3 nodes", id="an expression"),
        pytest.param("definition", "Graph of 3 nodes", id="a GraphDef"),
        pytest.param("other", "The graph has no nodes", id="another graph"),
    ],
)
def test_what_can_be_drawn(small, line, expected):
    small.run("other = tf.Graph(); definition = tf.get_default_graph().as_graph_def()")
    assert small.text(f"%graph {line}").startswith(expected)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%graph nothing", "no scope is called nothing; there are first"),
        ("%graph tf", "tf is .*, and has no graph"),
        ("%graph --new", "--new belongs to %%graph"),
        ("%graph --by colour", "device"),
        ("%graph --depth 0", "one or more"),
        ("%graph --save a.gif", r"FILE\.dot, FILE\.pb, not as a\.gif"),
        ("%graph -t worker:9", "no cluster runs"),
        ("%%graph one\npass", "one is Tensor, not a Graph"),
        ("%%graph missing --extend\npass", "there is no graph missing"),
        ("%%graph --new --extend\npass", "not both"),
    ],
)
def test_wrong_lines_are_told_in_one_line(small, cell, message):
    with pytest.raises(UsageError, match=message):
        small.run(cell)


def test_a_cell_extends_the_default_graph_and_is_marked(small):
    text = small.text("%%graph --device /job:ps\nfour = tf.abs(three, name='four');")
    assert "1 node added" in text
    assert "✚ four  Abs      /job:ps; from three" in text
    assert small.value("four").graph is tf.get_default_graph()
    small.run("five = tf.abs(four)")  # the next cell is as it was
    assert small.value("five").device == ""


def test_a_cell_makes_a_graph_of_its_own(small):
    before = len(tf.get_default_graph().get_operations())
    small.run("%%graph mine --no-draw\na = tf.constant(1)\na;")
    small.run("%%graph mine --extend -q\nb = tf.negative(a)\nb;")
    small.run("%%graph --new -q -o fresh\ntf.constant(1);")
    assert [op.type for op in small.value("mine").get_operations()] == ["Const", "Neg"]
    assert len(small.value("fresh").get_operations()) == 1
    assert len(tf.get_default_graph().get_operations()) == before


def test_in_a_large_graph_only_the_surroundings_are_drawn(small):
    small.run("for i in range(80): last = tf.negative(three if i == 0 else last)")
    text = small.text("%%graph\ntf.abs(last, name='new');")
    assert text.startswith("Graph of 2 nodes, drawn as 2 boxes; 1 node added.")


def test_errors_of_the_cell_come_out_and_what_it_built_stays(small):
    with pytest.raises(ZeroDivisionError):
        small.run("%%graph mine\ntf.constant(1)\n1 / 0")
    assert len(small.value("mine").get_operations()) == 1


def test_saving_and_quiet(small, tmp_path):
    assert small.run(f"%graph --save {tmp_path / 'g.pb'} -q") == []
    data = (tmp_path / "g.pb").read_bytes()
    assert tf.GraphDef.FromString(data) == tf.get_default_graph().as_graph_def()


def test_text_mode_and_dark_pictures(small):
    light = small.run("%graph")[0]["image/png"]
    small.run("%config TFDist.theme = 'dark'")
    assert small.run("%graph")[0]["image/png"] != light
    small.run("%config TFDist.live = 'text'")
    assert list(small.run("%graph")[0]) == ["text/plain"]
