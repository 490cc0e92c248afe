"""Loops and branches of graphs from elsewhere, which may be anything: a value or an error, soon."""

import random

import numpy as np
import pytest

import tfdist as tf
from tests.plan.graphs import nodes_of
from tfdist.errors import DeadlineExceededError, InvalidArgumentError, OpError
from tfdist.graph.records import CONTROL_FLOW
from tfdist.plan.step_plan import Signature
from tfdist.runtime.step.requests import SessionOptions
from tfdist.session.connection import find_master

EXECUTORS = ("interpreter", "compiler")
PATIENCE = 0.2  # seconds: what mutations make of a loop may have no end


def run(nodes, fetches, x=2, patience=60.0):
    """Return the first outputs of nodes, of a step of a graph from another process."""
    master = find_master("")
    handle = master.create_session(SessionOptions())
    try:
        master.extend_session(handle, tuple(nodes), 0, is_foreign=True)
        feeds = (("x", 0),) if any(node.name == "x" for node in nodes) else ()
        signature = Signature(feeds, tuple((name, 0) for name in fetches), ())
        step = master.prepare(handle, signature)
        values = master.run_step(step, [np.int32(x)] * len(feeds), patience, False).values
        return [np.asarray(value).tolist() for value in values]
    finally:
        master.close_session(handle)


@pytest.fixture(params=EXECUTORS)
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


def test_loops_may_take_from_each_other(executor):
    """Loop a's first variable is done, b starts with it, and a's second variable with b's."""

    def build():
        first = tf.while_loop(lambda i, k: i < 3, lambda i, k: (i + 1, k + i), [0, 0], name="a")
        tf.while_loop(lambda j: j < 10, lambda j: j + 2, [first[0]], name="b")

    nodes = nodes_of(build)
    nodes["a/Enter_1"] = nodes["a/Enter_1"]._replace(inputs=(("b/Exit", 0),))
    assert run(nodes.values(), ["a/Exit_1", "b/Exit"]) == [14, 11]  # as TensorFlow 1.15.5


def test_a_variable_itself_may_go_round(executor):
    def build():
        v = tf.Variable(5, name="v")
        with tf.control_dependencies([v.initializer]):
            start = tf.identity(0, name="start")
        tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s), [start, 0], name="w")

    nodes = nodes_of(build)
    for part in ("Enter", "Merge", "Switch", "NextIteration", "Exit"):
        node = nodes[f"w/{part}_1"]
        nodes[node.name] = node._replace(op=f"Ref{part}")
    nodes["w/Enter_1"] = nodes["w/Enter_1"]._replace(inputs=(("v", 0),), control=("start",))
    rewired("w/NextIteration_1", 0, ("w/Switch_1", 1))(nodes)
    assert run(nodes.values(), ["w/Exit_1"]) == [5]


# what is not as loops must be


def two_variables():
    x = tf.placeholder(tf.int32, [], name="x")
    tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, x], name="w")


def rewired(name, position, source):
    """Return a change of one input."""

    def change(nodes):
        inputs = list(nodes[name].inputs)
        inputs[position] = source
        nodes[name] = nodes[name]._replace(inputs=tuple(inputs))

    return change


def turned(name, op):
    """Return a change of a node's op."""

    def change(nodes):
        nodes[name] = nodes[name]._replace(op=op)

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param(rewired("w/Merge_1", 1, ("w/Enter_1", 0)), "w/Exit_1:0 is on a branch",
                     id="nothing comes round"),
        pytest.param(turned("w/NextIteration_1", "Identity"), "depends on itself",
                     id="what comes round does so in the same round"),
        pytest.param(rewired("w/Exit_1", 0, ("w/mul", 0)), "'w/Exit_1.*second time",
                     id="a value leaves in every round"),
        pytest.param(rewired("w/mul", 0, ("x", 0)), "'w/mul' .Mul. has inputs from different",
                     id="a node takes from inside and from outside"),
        pytest.param(turned("w/mul/Enter", "RefEnter"), "'w/mul/Enter' .RefEnter.*takes int32_ref",
                     id="a value stands where a variable is wanted"),
        pytest.param(turned("w/mul", "_Loop"), "'w/mul' ._Loop.*for compilers only",
                     id="an op that only compilers make"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(executor, change, text):
    nodes = nodes_of(two_variables)
    change(nodes)
    with pytest.raises(InvalidArgumentError, match=text):
        run(nodes.values(), ["w/Exit_1"])


# mutations


def nested():
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        return i + 1, s + tf.while_loop(lambda j: j < i + x, lambda j: j + 1, [0])

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])


def branches():
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.cond(x < 3, lambda: x + 1, lambda: tf.cond(x < 5, lambda: x * 2, lambda: x - 1))
    return [y, tf.cond(x < 3, lambda: y, lambda: x)]


def branch_in_a_loop():
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s + x, lambda: s * 2)

    return tf.while_loop(lambda i, s: i < 4, body, [0, x])


def fetched(build):
    """Return the nodes of a program, and the names of those that it returns."""
    names = []
    nodes = nodes_of(lambda: names.extend(each.op.name for each in build()))
    return list(nodes.values()), names


def drop_an_input(rng, node, nodes):
    return node._replace(inputs=node.inputs[: rng.randrange(len(node.inputs) + 1)])


def swap_inputs(rng, node, nodes):
    return node._replace(inputs=tuple(rng.sample(node.inputs, len(node.inputs))))


def take_another(rng, node, nodes):
    inputs = list(node.inputs)
    if inputs:
        inputs[rng.randrange(len(inputs))] = (rng.choice(nodes).name, rng.choice([0, 0, 0, 1]))
    return node._replace(inputs=tuple(inputs))


def wait_for_another(rng, node, nodes):
    return node._replace(control=(*node.control, rng.choice(nodes).name))


def another_op(rng, node, nodes):
    frame = {"frame_name": b"new", "is_constant": rng.random() < 0.5, "parallel_iterations": 1}
    attrs = {"T": tf.int32, "N": len(node.inputs), **frame, **node.attrs}
    return node._replace(op=rng.choice([*sorted(CONTROL_FLOW), "Identity"]), attrs=attrs)


def another_frame(rng, node, nodes):
    names = [b"", b"other", *(n.attrs["frame_name"] for n in nodes if "frame_name" in n.attrs)]
    attrs = {"frame_name": rng.choice(names), "parallel_iterations": rng.choice([-1, 1, 1 << 40])}
    return node._replace(attrs={**node.attrs, **attrs})


def a_constant_or_not(rng, node, nodes):
    return node._replace(attrs={**node.attrs, "is_constant": not node.attrs.get("is_constant")})


def anothers_name(rng, node, nodes):
    return node._replace(name=rng.choice([*nodes, node]).name)


MUTATIONS = [
    drop_an_input, swap_inputs, take_another, take_another, wait_for_another, another_op,
    another_op, another_frame, a_constant_or_not, anothers_name,
]  # fmt: skip


def mutated(seed):
    """Return a valid program of which some nodes are not as they were, and what to fetch."""
    rng = random.Random(seed)
    nodes, names = fetched(rng.choice([nested, branches, branch_in_a_loop]))
    flow = [i for i, node in enumerate(nodes) if node.op in CONTROL_FLOW]
    for _ in range(rng.choice([1, 1, 2, 3])):
        i = rng.choice([rng.choice(flow), rng.randrange(len(nodes))])
        nodes[i] = rng.choice(MUTATIONS)(rng, nodes[i], nodes)
    return nodes, names


def outcome(nodes, names, x):
    """Return the values of a step, or None for an error of TensorFlow's; no other may come."""
    try:
        return run(nodes, names, x, PATIENCE)
    except DeadlineExceededError:
        return "without end"
    except OpError:
        return None


def test_mutated_graphs_give_the_same_values_by_all_executors_or_errors(monkeypatch):
    seen = set()
    for seed in range(150):
        nodes, names = mutated(seed)
        found = []
        for executor in EXECUTORS:
            monkeypatch.setenv("TFDIST_EXECUTOR", executor)
            found.append([outcome(nodes, names, x) for x in (2, 4)])
        seen.update(type(each) for each in found[0])
        assert "without end" in (*found[0], *found[1]) or found[0] == found[1], f"seed {seed}"
    assert {list, type(None)} <= seen
