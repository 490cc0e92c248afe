"""Which loops, conds and sides of conds a node is in."""

import pytest

import tfdist as tf
from tfdist.graph.records import Node, records
from tfdist.graph.scopes import get_default_graph
from tfdist.session.blocks import blocks_of


def blocks(*prefixes):
    """Return what the nodes of the default graph are in, as text, by name."""
    found = blocks_of(records(get_default_graph().get_operations()))
    return {
        name: " > ".join(f"{kind} {of}" for kind, of in path)
        for name, path in found.items()
        if name.startswith(prefixes or "")
    }


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [], name="x")


def test_a_graph_without_loops_and_conds_has_no_blocks(x):
    tf.add(x, 1.0)
    assert blocks() == {}


def test_a_loop_has_its_nodes_and_those_that_lead_in_and_out(x):
    ends = tf.while_loop(lambda i: i < x, lambda i: tf.add(i, 1.0, name="add"), [0.0])
    tf.negative(ends, name="after")
    found = blocks()
    assert set(found.values()) == {"loop while"}
    assert {"while/Enter", "while/Less/Enter", "while/add", "while/add/y", "while/Exit"} <= set(
        found
    )
    assert not {"x", "Const", "after"} & set(found)


def test_a_loop_in_a_loop(x):
    def body(i):
        return tf.while_loop(lambda j: j < 3.0, lambda j: j + x, [i], name="inner")

    tf.while_loop(lambda i: i < 9.0, body, [x], name="outer")
    found = blocks()
    assert found["outer/Less"] == "loop outer"
    assert found["outer/inner/Enter"] == "loop outer > loop outer/inner"
    assert found["outer/inner/add"] == "loop outer > loop outer/inner"
    both = {within for name, within in found.items() if name.startswith("outer/inner/add/Enter")}
    assert both == {"loop outer", "loop outer > loop outer/inner"}  # x comes in by two Enters
    assert found["outer/inner/Exit"] == "loop outer > loop outer/inner"


def test_a_cond_has_sides(x):
    tf.cond(x > 0.0, lambda: tf.multiply(x, 2.0, name="a"), lambda: tf.negative(x, name="b"))
    found = blocks()
    assert found["cond/a"] == found["cond/a/y"] == found["cond/a/Switch"] == "cond cond > true cond"
    assert found["cond/b"] == found["cond/switch_f"] == "cond cond > false cond"
    assert found["cond/Switch"] == found["cond/pred_id"] == found["cond/Merge"] == "cond cond"
    assert not {"x", "Greater"} & set(found)


def test_conds_of_one_predicate_stay_apart(x):
    pred = x > 0.0
    for name in ("first", "second"):
        tf.cond(pred, lambda: tf.negative(x, name="n"), lambda: tf.constant(0.0), name=name)
    found = blocks()
    assert found["first/n"] == "cond first > true first"
    assert found["second/n"] == found["second/n/Switch"] == "cond second > true second"
    assert found["second/Const"] == "cond second > false second"


def test_conds_in_conds_and_loops_in_conds(x):
    def loop():
        return tf.while_loop(lambda j: j < 3.0, lambda j: j + x, [x], name="loop")

    tf.cond(
        x > 1.0,
        loop,
        lambda: tf.cond(x > 0.0, lambda: x + 1.0, lambda: -x, name="in"),
        name="out",
    )
    found = blocks()
    assert found["out/in/add"] == "cond out > false out > cond out/in > true out/in"
    assert found["out/in/Merge"] == "cond out > false out > cond out/in"
    assert found["out/loop/add"] == "cond out > true out > loop out/loop"
    assert found["out/loop/Enter"] == "cond out > true out > loop out/loop"
    assert found["out/Merge"] == "cond out"


def test_conds_in_loops(x):
    def body(i):
        return tf.cond(i > x, lambda: tf.add(i, 1.0, name="a"), lambda: i + 2.0, name="pick")

    tf.while_loop(lambda i: i < 9.0, body, [0.0], name="loop")
    found = blocks()
    assert found["loop/pick/a"] == "loop loop > cond loop/pick > true loop/pick"
    assert found["loop/pick/Merge"] == "loop loop > cond loop/pick"
    assert found["loop/NextIteration"] == found["loop/Identity"] == "loop loop"


def test_an_imported_cond_without_its_scopes_is_called_after_its_predicate():
    nodes = [
        Node("p", "Const"), Node("d", "Const"), Node("s", "Switch", (("d", 0), ("p", 0))),
        Node("a", "Neg", (("s", 1),)), Node("b", "Neg", (("s", 0),)),
        Node("m", "Merge", (("b", 0), ("a", 0))), Node("end", "Neg", (("m", 0),)),
    ]  # fmt: skip
    assert blocks_of(nodes) == {
        "s": (("cond", "p"),),
        "a": (("cond", "p"), ("true", "p")),
        "b": (("cond", "p"), ("false", "p")),
        "m": (("cond", "p"),),
    }


def test_of_entangled_loops_nothing_is_told():
    frame = {"frame_name": b"f", "is_constant": False, "parallel_iterations": 1}
    enter = Node("e", "Enter", (("c", 0),), attrs=frame)
    nodes = [Node("c", "Const"), enter, Node("both", "Add", (("e", 0), ("c", 0)))]
    assert blocks_of(nodes) == {}


def test_placement_tells_blocks(x):
    ends = tf.while_loop(lambda i: i < x, lambda i: i + 1.0, [0.0])
    with tf.Session() as session:
        found = {node.name: node.within for node in session.placement(ends)}
    assert found["while/add"] == (("loop", "while"),)
    assert found["x"] == ()
