"""Guards: on which predicates it depends whether a node runs; what is not proven is told."""

from itertools import pairwise

import pytest

import tfdist as tf
from tests.plan.graphs import nodes_of
from tfdist.graph.records import Node, is_back_edge
from tfdist.plan.branch_predicates import (
    NotProvenError,
    always_run,
    choice,
    guard_of,
    guarded,
    guards_after,
    needs,
    output_guard,
    predicate,
)
from tfdist.plan.frames import frames_of
from tfdist.plan.prune import prune


def guards(build, fed=(), roots=None):
    """Return the nodes that `build` makes, or those that `roots` need, guarded, by name."""
    graph = nodes_of(build)
    return {node.name: node for node in guarded(prune(graph, roots or graph, fed), fed)}


def one_cond():
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [], name="x")
    tf.cond(p, lambda: tf.negative(x, name="t"), lambda: tf.square(x, name="f"), name="c")


def cond_in_a_cond():
    p, q = (tf.placeholder(tf.bool, [], name=name) for name in "pq")
    x = tf.placeholder(tf.float32, [], name="x")

    def inner():
        return tf.cond(q, lambda: tf.negative(x, "a"), lambda: tf.square(x, "b"), name="d")

    tf.cond(p, inner, lambda: tf.exp(x, name="f"), name="c")


P, Q = ("p", 0), ("q", 0)
HERE_Q = ("c/d/Switch/Switch", 1)  # q as it is in the outer branch


@pytest.mark.parametrize(
    ("build", "name", "guard"),
    [
        pytest.param(one_cond, "x", (), id="what is outside always runs"),
        pytest.param(one_cond, "c/t", ((P, True),), id="the branch that is taken if true"),
        pytest.param(one_cond, "c/f", ((P, False),), id="the other one"),
        pytest.param(one_cond, "c/Merge", (), id="a Merge of both always runs"),
        pytest.param(cond_in_a_cond, "c/f", ((P, False),), id="the outer branch"),
        pytest.param(cond_in_a_cond, "c/d/a", ((P, True), (HERE_Q, True)), id="an inner branch"),
        pytest.param(cond_in_a_cond, "c/d/b", ((P, True), (HERE_Q, False)), id="the other inner"),
        pytest.param(cond_in_a_cond, "c/d/Merge", ((P, True),), id="an inner Merge"),
        pytest.param(cond_in_a_cond, "c/Merge", (), id="the outer Merge"),
    ],
)
def test_what_must_hold_for_a_node_to_run(build, name, guard):
    assert guard_of(guards(build)[name]) == guard


def test_a_predicate_is_known_by_the_tensor_that_its_copies_are_of():
    found = guards(cond_in_a_cond)
    assert predicate(found["c/Switch"]) == P
    assert choice(found["c/Merge"]) == (P, False)  # its first input is the false branch


def test_the_outputs_of_a_switch_live_one_at_a_time():
    found = guards(one_cond)
    switch = next(node for node in found.values() if node.name == "c/t/Switch")
    assert output_guard(switch, 0) == ((P, False),)
    assert output_guard(switch, 1) == ((P, True),)
    after = guards_after(found.values())
    assert after["c/t", 0] == ((P, True),)
    assert ("c/Merge", 0) not in after


def test_a_guarded_node_needs_its_predicates_too():
    found = guards(one_cond)
    assert set(needs(found["c/t"])) == {("c/t/Switch", 1), P}
    assert set(needs(found["c/Merge"])) == {("c/f", 0), ("c/t", 0), P}
    assert needs(found["x"]) == ()


def test_equal_guards_stand_together():
    def build():
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.placeholder(tf.float32, [], name="x")
        for _ in range(4):
            x = tf.cond(p, lambda x=x: tf.exp(-x), lambda x=x: tf.sin(-x))

    order = [guard_of(node) for node in guards(build).values()]
    borders = sum(one != other for one, other in pairwise(order))
    assert borders == 3 * 4  # to a branch, to the other one, and to the Merge before the next


def test_what_is_fed_is_there_whatever_runs():
    fed = {("c/t/Switch", 1)}
    assert guard_of(guards(one_cond, fed, ["c/t"])["c/t"]) == ()
    with pytest.raises(NotProvenError, match="does not join the two sides"):
        guards(one_cond, fed)  # its Merge has a value from here, and perhaps one from there


def test_a_copy_of_a_variable_is_a_predicate_of_its_own():
    def build():
        v = tf.Variable(False, name="v")
        tf.cond(v, lambda: 1, lambda: 2, name="c")

    found = guards(build)  # the variable may have changed when its branches run
    assert predicate(found["c/Switch"]) == ("v/read", 0)
    assert guard_of(found["c/Const"]) == ((("v/read", 0), True),)


def test_guards_of_what_ran_before_go_on():
    nodes = [node("x", "Const"), node("p", "Const"), node("s", "Switch", "x", "p"),
             node("a", "Neg", "s:1")]  # fmt: skip
    before = guarded(nodes)
    [found] = guarded([node("b", "Neg", "a")], before=before)
    assert guard_of(found) == ((P, True),)


# what is not proven


def node(name, op, *inputs):
    """Return a node; inputs are names, "name:1", or dependencies that begin with ^."""
    control = tuple(each[1:] for each in inputs if each[0] == "^")
    ends = [each.partition(":") for each in inputs if each[0] != "^"]
    return Node(name, op, tuple((end[0], int(end[2] or 0)) for end in ends), control)


SWITCHED = [node("x", "Const"), node("p", "Const"), node("q", "Const"),
            node("s", "Switch", "x", "p"), node("r", "Switch", "x", "q")]  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        pytest.param([node("m", "Merge", "s", "r:1")], "does not join the two sides of one",
                     id="a Merge of two predicates"),
        pytest.param([node("m", "Merge", "s", "s")], "does not join the two sides of one",
                     id="a Merge of one side twice"),
        pytest.param([node("m", "Merge", "s", "x")], "does not join the two sides of one",
                     id="a Merge with what is always there"),
        pytest.param([node("m", "Merge", "s", "s:1", "x")], "joins 3 ways",
                     id="a Merge of three"),
        pytest.param([node("a", "Add", "s", "s:1")], "both true and false",
                     id="a node that takes both sides"),
        pytest.param([node("b", "Identity", "s:1"), node("a", "Identity", "s", "^b")],
                     "both true and false", id="a dependency on the other side"),
        pytest.param([node("t", "Switch", "s:1", "q"), node("m", "Merge", "s", "t:1")],
                     "joins ways that depend on more than",
                     id="a Merge that is dead if an inner branch is not taken"),
        pytest.param([node("a", "Identity", "b"), node("b", "Identity", "a")],
                     "takes what it gives", id="a circle"),
        pytest.param([node("v", "VariableV2"), node("t", "Switch", "x", "v")],
                     "reads a variable", id="a predicate that may change while branches run"),
    ],
)  # fmt: skip
def test_what_is_not_a_python_if_is_told(nodes, text):
    with pytest.raises(NotProvenError, match=text):
        guarded([*SWITCHED, *nodes], ())


def count(name=None):
    return tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name=name)


def test_what_runs_in_every_step():
    def build():
        one_cond()
        count("w")
        tf.cond(tf.placeholder(tf.bool, [], name="q"), count, lambda: 0, name="d")

    graph = nodes_of(build)
    nodes = prune(graph, graph)
    found = always_run(nodes, frames_of(nodes), ())
    assert {"x", "p", "c/Merge", "w/Exit", "d/Merge", "c/Switch"} <= found
    assert found.isdisjoint({"c/t", "c/f", "w/add", "d/while/Exit", "d/while/Enter"})
    assert not any(is_back_edge(graph["w/Merge"], graph[name]) for name in found)


def enter(name, source):
    attrs = {"frame_name": b"loop", "is_constant": False, "parallel_iterations": 1}
    return node(name, "Enter", source)._replace(attrs=attrs)


LOOP = [node("x", "Const"), node("p", "Const"), enter("e", "x"), enter("ep", "p"),
        node("m", "Merge", "e", "n"), node("c", "LoopCond", "ep"),
        node("s", "Switch", "m", "c"), node("o", "Switch", "s:1", "ep"),
        node("n", "NextIteration", "s:1")]  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "certain"),
    [
        pytest.param([node("y", "Exit", "s")], True, id="a variable leaves its loop in the end"),
        pytest.param([node("y", "Exit", "o")], False, id="what leaves a loop perhaps"),
        pytest.param([node("y", "Exit", "s:1")], False, id="what leaves in most rounds"),
        pytest.param([node("z", "Exit", "o"), node("t", "Switch", "z", "p"),
                      node("f", "Switch", "x", "p"), node("y", "Merge", "f", "t:1")],
                     False, id="a branch that takes what may be dead anyway"),
        pytest.param([node("z", "Exit", "o"), node("y", "Merge", "z", "x")], False,
                     id="a Merge of what is not known"),
    ],
)  # fmt: skip
def test_what_is_not_certain_to_run(nodes, certain):
    named = {each.name: each for each in [*LOOP, *nodes]}
    found = prune(named, ["y"])
    assert ("y" in always_run(found, frames_of(found), ())) is certain
