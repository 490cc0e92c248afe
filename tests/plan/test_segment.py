"""Segments: what runs without waiting, as large as possible, grouped by the waits above."""

import random

import pytest

from tfdist.graph.records import Node
from tfdist.plan.segment import lay_out, segments, singles
from tfdist.plan.step_plan import Partition

ATTRS = {"T": None, "tensor_type": None, "component_types": [None]}


def partition(text, fetches=""):
    """Return nodes from "name: inputs ^control; ..."; names in capitals wait, sX is a send."""
    nodes = []
    for part in text.split("; "):
        name, _, rest = part.partition(":")
        op = "_Recv" if name.isupper() else "_Send" if name.startswith("s") else "Identity"
        inputs = tuple((each, 0) for each in rest.split() if not each.startswith("^"))
        control = tuple(each[1:] for each in rest.split() if each.startswith("^"))
        nodes.append(Node(name, op, inputs, control, "", ATTRS))
    return Partition("/job:a", tuple(nodes), (), tuple((name, 0) for name in fetches.split()))


def named(units):
    return sorted(" ".join(node.name for node in unit.nodes) for unit in units)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a:; b: a; c: b", ["a b c"], id="nothing waits: one segment"),
        pytest.param("a:; b:; c: ^a", ["a b c"], id="nor need they depend on each other"),
        pytest.param("Q:; a: Q; b: a", ["Q", "a b"], id="what is below a wait comes after it"),
        pytest.param("Q:; a:; b: Q; c: a", ["Q", "a c", "b"], id="what is not below it does not"),
        pytest.param("a:; Q: ^a; b: Q", ["Q", "a", "b"], id="what is above a wait comes before"),
        pytest.param(
            "P:; Q:; a: P; b: Q; c: a b", ["P", "Q", "a", "b", "c"], id="two waits: three groups"
        ),
        pytest.param(
            "P:; Q:; a: P; b: P; c: a Q; d: b ^Q", ["P", "Q", "a b", "c d"],
            id="the same waits above: the same group",
        ),
        pytest.param("P:; Q: ^P; a: Q; b: P", ["P", "Q", "a", "b"], id="a wait behind a wait"),
        pytest.param(
            "a:; b: a; c: b; sa: a", ["a sa b c"], id="a send stands right behind what it sends"
        ),
        pytest.param("Q:; a: Q; sQ: Q; b: a", ["Q", "sQ a b"], id="a send of what was waited for"),
        pytest.param("a:; b: a; s1: a; s2: a", ["a s1 s2 b"], id="two sends of one value"),
    ],
)  # fmt: skip
def test_segments(text, expected):
    assert named(segments(partition(text))) == expected


def test_waiting_nodes_are_units_of_their_own():
    assert [unit.waits for unit in segments(partition("Q:; a: Q; b: a"))] == [True, False]


def test_singles_are_one_node_each():
    assert named(singles(partition("Q:; a: Q; b: a"))) == ["Q", "a", "b"]


def test_a_layout_says_what_follows_what():
    part = partition("P:; Q:; a: P; b: a; c: b Q", fetches="b c")
    layout = lay_out(part, segments(part))
    index = {unit.nodes[0].name: i for i, unit in enumerate(layout.units)}
    assert layout.pending[index["P"]] == layout.pending[index["Q"]] == 0
    assert layout.pending[index["a"]] == 1
    assert layout.pending[index["c"]] == 2
    assert layout.dependents[index["P"]] == (index["a"],)
    assert set(layout.dependents[index["Q"]]) == {index["c"]}


def test_only_values_that_leave_a_unit_have_a_place():
    part = partition("P:; a: P; b: a; c: b", fetches="c")
    layout = lay_out(part, segments(part))
    assert {name for name, _ in layout.slots} == {"P", "c"}
    assert sorted(layout.slots.values()) == list(range(layout.size - 2, layout.size))


def random_partition(seed):
    """Return a partition of 40 nodes, a fifth of which wait."""
    rng = random.Random(seed)
    names, parts = [], []
    for i in range(40):
        name = f"{rng.choice('Qnnnn')}{i}"
        above = rng.sample(names, min(len(names), rng.randrange(4)))
        marks = [rng.choice(["", "^"]) for _ in above]
        above = [] if name[0] == "Q" and rng.random() < 0.5 else above
        dependencies = " ".join(m + a for m, a in zip(marks, above, strict=False))
        parts.append(f"{name}: {dependencies}" if name[0] != "Q" else f"{name}:" + "".join(
            f" ^{a}" for a in above))  # fmt: skip
        names.append(name)
    return partition("; ".join(parts), fetches=names[-1])


@pytest.mark.parametrize("seed", range(20))
def test_units_hold_every_node_once_and_never_wait_in_a_circle(seed):
    part = random_partition(seed)
    layout = lay_out(part, segments(part))
    nodes = [node.name for unit in layout.units for node in unit.nodes]
    assert sorted(nodes) == sorted(node.name for node in part.nodes)
    ran, ready = set(), [i for i, count in enumerate(layout.pending) if not count]
    pending, order = list(layout.pending), []
    while ready:
        unit = ready.pop()
        for node in layout.units[unit].nodes:
            assert {name for name, _ in node.inputs} | set(node.control) <= ran
            ran.add(node.name)
        order.append(unit)
        for dependent in layout.dependents[unit]:
            pending[dependent] -= 1
            if not pending[dependent]:
                ready.append(dependent)
    assert len(order) == len(layout.units)


@pytest.mark.parametrize("seed", range(20))
def test_what_does_not_depend_on_a_wait_never_waits_for_it(seed):
    part = random_partition(seed)
    waits = {}
    for node in part.nodes:
        above = [name for name, _ in node.inputs] + list(node.control)
        waits[node.name] = set().union(*(waits[name] for name in above))
        if node.name[0] == "Q":
            waits[node.name].add(node.name)
    layout = lay_out(part, segments(part))
    for unit in layout.units:
        if not unit.waits:
            assert len({frozenset(waits[node.name]) for node in unit.nodes}) == 1
