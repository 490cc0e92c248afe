"""Pruning: what a step needs, inputs first; feeds cut, and circles are told."""

import pytest

from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.records import Node
from tfdist.plan.prune import prune


def graph(text):
    """Return nodes from "name: input input:1 ^control; ..."."""
    nodes = {}
    for part in text.split("; "):
        name, _, rest = part.partition(":")
        inputs = [each for each in rest.split() if not each.startswith("^")]
        endpoints = tuple((n.partition(":")[0], int(n.partition(":")[2] or 0)) for n in inputs)
        control = tuple(each[1:] for each in rest.split() if each.startswith("^"))
        nodes[name] = Node(name, "NoOp", endpoints, control)
    return nodes


DIAMOND = "a:; b: a; c: a; d: b c; e: d ^a; lone:"


@pytest.mark.parametrize(
    ("text", "roots", "fed", "expected"),
    [
        pytest.param(DIAMOND, "d", "", "a b c d", id="what is above a root"),
        pytest.param(DIAMOND, "a", "", "a", id="nothing is above"),
        pytest.param(DIAMOND, "b c", "", "a b c", id="several roots"),
        pytest.param(DIAMOND, "b b", "", "a b", id="a root that is named twice"),
        pytest.param(DIAMOND, "e lone", "", "a b c d e lone", id="dependencies count as well"),
        pytest.param(DIAMOND, "d", "b:0", "a c d", id="a feed cuts an edge"),
        pytest.param(DIAMOND, "d", "b:0 c:0", "d", id="feeds cut all edges"),
        pytest.param(DIAMOND, "e", "d:0", "a e", id="but not a dependency"),
        pytest.param("x:; y: x x:1", "y", "x:0", "x y", id="another output is still needed"),
        pytest.param("x:; y: x x:1", "y", "x:0 x:1", "y", id="all outputs are fed"),
        pytest.param("x:; y: ^x", "y", "x:0", "x y", id="a fed node runs as a dependency"),
        pytest.param("x: y; y: x", "x", "y:0", "x", id="a feed cuts a circle"),
    ],
)
def test_prune(text, roots, fed, expected):
    endpoints = {(name.split(":")[0], int(name.split(":")[1])) for name in fed.split()}
    found = [node.name for node in prune(graph(text), roots.split(), endpoints)]
    assert sorted(found) == expected.split()
    position = {name: i for i, name in enumerate(found)}
    for node in prune(graph(text), roots.split(), endpoints):
        above = [e[0] for e in node.inputs if e not in endpoints] + list(node.control)
        assert all(position[name] < position[node.name] for name in above)


def test_a_fed_placeholder_is_there_for_those_that_wait_for_it():
    nodes = {"x": Node("x", "Placeholder"), "y": Node("y", "NoOp", (), ("x",))}
    assert [node.name for node in prune(nodes, ["y"], {("x", 0)})] == ["y"]
    assert [node.name for node in prune(nodes, ["y"])] == ["x", "y"]


@pytest.mark.parametrize(
    "text", ["x: x", "x: y; y: x", "x: ^x", "x: ^y; y: z; z: x"], ids=["self", "two", "^", "three"]
)
def test_a_circle_is_told(text):
    with pytest.raises(InvalidArgumentError, match="depends on itself"):
        prune(graph(text), ["x"])


def test_what_is_not_there_is_told():
    with pytest.raises(NotFoundError, match="'y' is not in the graph of 1 nodes"):
        prune(graph("x: y"), ["x"])


def test_a_long_chain_needs_no_stack():
    nodes = {"n0": Node("n0", "NoOp")}
    for i in range(1, 20_000):
        nodes[f"n{i}"] = Node(f"n{i}", "NoOp", ((f"n{i - 1}", 0),))
    assert len(prune(nodes, ["n19999"])) == 20_000


# loops


def loop(*changes):
    """Return the nodes of a loop, from "name op: input input:1 ^control; ...", some changed."""
    nodes = {}
    for part in "; ".join([LOOP, *changes]).split("; "):
        head, _, rest = part.partition(":")
        name, op = head.split()
        nodes[name] = graph(f"{name}:{rest}")[name]._replace(op=op)
    return nodes


LOOP = (
    "x Const: ; e Enter: x; m Merge: e n; c LoopCond: m; s Switch: m c; b Neg: s:1; "
    "n NextIteration: b; y Exit: s"
)


def test_what_comes_round_is_needed_and_comes_after_its_merge():
    found = [node.name for node in prune(loop(), ["y"])]
    assert sorted(found) == sorted("xemcsbny")
    assert found.index("m") < found.index("n")
    assert found.index("b") < found.index("n")


@pytest.mark.parametrize(
    ("changes", "roots", "fed", "expected"),
    [
        pytest.param([], "m", "", "bcemnsx", id="a Merge needs all that comes round"),
        pytest.param([], "y", "s:0", "y", id="a feed cuts a loop off"),
        pytest.param([], "y", "n:0", "cemsxy", id="what comes round is fed"),
        pytest.param([], "y", "e:0", "bcmnsy", id="what enters is fed"),
        pytest.param(["z Neg: s:1"], "y", "", "bcemnsxy", id="what nobody takes is not needed"),
        pytest.param(["d NoOp: ", "n NextIteration: b ^d"], "y", "", "bcdemnsxy",
                     id="what comes round has dependencies"),
        pytest.param(["n NextIteration: m"], "y", "", "cemnsxy", id="the shortest way round"),
    ],
)  # fmt: skip
def test_prune_of_a_loop(changes, roots, fed, expected):
    endpoints = {(name[0], int(name[2])) for name in fed.split()}
    assert "".join(sorted(n.name for n in prune(loop(*changes), roots, endpoints))) == expected


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("n Identity: b", id="only a NextIteration comes round"),
        pytest.param("m Add: e n", id="only a Merge takes what comes round"),
        pytest.param("m Merge: e n ^n", id="no dependency comes round"),
    ],
)
def test_a_circle_that_is_no_loop_is_told(change):
    with pytest.raises(InvalidArgumentError, match="depends on itself"):
        prune(loop(change), ["y"])
