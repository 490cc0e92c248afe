"""Frames: which loop each node runs in, and graphs whose loops are not as loops must be."""

import pytest

import tfdist as tf
from tests.plan.graphs import nodes_of
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.frames import (
    DEEPEST,
    frame_number,
    frames_of,
    has_control_flow,
    legacy_frame_number,
    loop_conditions,
)
from tfdist.plan.prune import prune


def nested():
    """Build a loop in a loop."""
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        inner = tf.while_loop(lambda j: j < i, lambda j: j + x, [0], parallel_iterations=3)
        return i + 1, s + inner

    tf.while_loop(lambda i, s: i < 3, body, [0, x], name="outer")


def frames(build):
    """Return the frames of what `build` makes."""
    graph = nodes_of(build)
    return frames_of(prune(graph, graph))


OUTER, INNER = ("outer/while_context",), ("outer/while_context", "outer/while/while_context")


@pytest.mark.parametrize(
    ("name", "runs_in", "gives_to"),
    [
        pytest.param("x", (), (), id="what is outside"),
        pytest.param("outer/Enter", (), OUTER, id="an Enter leads inside"),
        pytest.param("outer/Merge", OUTER, OUTER, id="a Merge that takes what comes round"),
        pytest.param("outer/NextIteration", OUTER, OUTER, id="what comes round"),
        pytest.param("outer/add", OUTER, OUTER, id="a node of the body"),
        pytest.param("outer/while/Const", OUTER, OUTER, id="a node that a dependency holds inside"),
        pytest.param("outer/while/Enter", OUTER, INNER, id="an Enter into the inner loop"),
        pytest.param("outer/while/add", INNER, INNER, id="a node of the inner body"),
        pytest.param("outer/while/Exit", INNER, OUTER, id="an Exit into the outer loop"),
        pytest.param("outer/Exit_1", OUTER, (), id="an Exit to the outside"),
    ],
)
def test_where_a_node_runs_and_where_its_outputs_live(name, runs_in, gives_to):
    found = frames(nested)
    assert (found.runs_in[name], found.gives_to[name]) == (runs_in, gives_to)


def test_conditions_and_how_many_rounds_may_overlap():
    graph = nodes_of(nested)
    nodes = prune(graph, graph)
    assert loop_conditions(nodes, frames_of(nodes).gives_to) == {
        OUTER: (("outer/LoopCond", 0), 10),
        INNER: (("outer/while/LoopCond", 0), 3),
    }


def test_what_has_branches_or_loops():
    assert has_control_flow(nodes_of(nested).values())
    assert has_control_flow(
        nodes_of(lambda: tf.cond(tf.constant(True), lambda: 1, lambda: 2)).values()
    )
    assert not has_control_flow(nodes_of(lambda: tf.constant(1) + 2).values())


# graphs from elsewhere


def enter(name, source, frame="loop", **attrs):
    defaults = {"frame_name": frame.encode(), "is_constant": False, "parallel_iterations": 10}
    return Node(name, "Enter", ((source, 0),), (), "", {**defaults, **attrs})


def node(name, op, *inputs):
    """Return a node; an input that begins with ^ is a dependency."""
    control = tuple(each[1:] for each in inputs if each[0] == "^")
    return Node(name, op, tuple((each, 0) for each in inputs if each[0] != "^"), control)


X = node("x", "Placeholder")


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        pytest.param(
            [X, enter("e", "x"), node("y", "Add", "e", "x")],
            r"'y' \(Add\) has inputs from different frames: 'e' is in loop 'loop', 'x' in no loop",
            id="inputs from a loop and from the outside",
        ),
        pytest.param(
            [X, enter("e", "x"), enter("f", "x", "other"), node("y", "Add", "e", "f")],
            "'e' is in loop 'loop', 'f' in loop 'other'",
            id="inputs from two loops",
        ),
        pytest.param(
            [X, enter("e", "x"), node("y", "Identity", "x", "^e")],
            "'x' is in no loop, 'e' in loop 'loop'",
            id="a dependency across a loop's border",
        ),
        pytest.param(
            [X, node("y", "Exit", "x")],
            r"'y' \(Exit\) leaves a loop or an iteration that it is not in",
            id="an Exit outside",
        ),
        pytest.param(
            [X, node("y", "NextIteration", "x")],
            r"'y' \(NextIteration\) leaves a loop or an iteration that it is not in",
            id="a NextIteration outside",
        ),
        pytest.param(
            [X, enter("e", "x"), node("m", "Merge", "e", "n"), enter("f", "x", "other"),
             node("n", "NextIteration", "f")],
            r"'m' \(Merge\) has inputs from different frames",
            id="what comes round comes from another loop",
        ),
        pytest.param([X, enter("e", "x", "")], "must have a frame name", id="a loop without name"),
        pytest.param(
            [X, *(enter(f"e{i}", f"e{i - 1}" if i else "x", f"f{i}") for i in range(DEEPEST + 1))],
            "100 deep in each other at most",
            id="loops in loops without end",
        ),
    ],
)  # fmt: skip
def test_entangled_frames_are_told(nodes, text):
    with pytest.raises(InvalidArgumentError, match=text):
        frames_of(nodes)


def test_what_is_fed_is_outside():
    nodes = [X, enter("e", "x"), node("y", "Add", "e", "z")]
    assert frames_of(nodes).runs_in["y"] == ("loop",)  # z comes from elsewhere
    with pytest.raises(InvalidArgumentError, match="'z' in no loop"):
        frames_of(nodes, {("z", 0)})


def test_a_loop_with_two_conditions_is_told():
    nodes = [X, enter("e", "x"), node("a", "LoopCond", "e"), node("b", "LoopCond", "e")]
    with pytest.raises(InvalidArgumentError, match="more than one LoopCond: 'a' and 'b'"):
        loop_conditions(nodes, frames_of(nodes).gives_to)


def test_a_frames_name_may_be_any_bytes():
    nodes = [X, enter("e", "x", frame_name=b"\xff")]
    [name] = frames_of(nodes).gives_to["e"]
    assert name == "\\xff"


def test_the_number_of_a_running_frame_is_that_of_tensorflow():
    assert frame_number(0, 0, "while/while_context") == 18186195969791715286


def test_frames_are_numbered_as_by_tensorflow_1_15():
    """A server of 1.15.5 asked for this key."""
    assert legacy_frame_number(";0;while/while_context") == 1496156560211570566


@pytest.mark.parametrize("parent", [0, frame_number(0, 0, "while/while_context")])
def test_every_run_of_a_frame_has_a_number_of_its_own(parent):
    names = ("a", "b", "while/while_context", "x" * 40)
    numbers = {frame_number(parent, round_, name) for round_ in range(2000) for name in names}
    assert len(numbers) == 2000 * len(names)
    assert all(0 <= number < 1 << 64 for number in numbers)
