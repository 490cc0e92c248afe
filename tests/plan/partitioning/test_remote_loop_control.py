"""ControlLoops: the small loops by which tasks take part in a loop whose condition is elsewhere."""

import pytest

import tfdist as tf
from tests.plan.graphs import CLIENT, cluster, nodes_of, plan
from tfdist.errors import InvalidArgumentError
from tfdist.graph.records import RECEIVES
from tfdist.plan.partitioning.partition import plan_step
from tfdist.plan.partitioning.remote_loop_control import (
    ControlLoop,
    control_loop_end,
    control_loop_entry,
)
from tfdist.plan.place import place
from tfdist.plan.step_plan import Signature

GATE = ControlLoop.named("0_w")
PATH = ("w/while_context",)


def build(body_device="/job:b", inner_device=None):
    """Build a loop on a, whose body is on another task; another loop in it perhaps."""
    x = tf.placeholder(tf.int32, [], name="x")

    def inner(j):
        with tf.device(inner_device):
            return j + 1

    def body(i, s):
        with tf.device(body_device):
            t = tf.multiply(s, x, name="t")
        if inner_device:
            t = tf.while_loop(lambda j: j < i, inner, [t], name="inner")
        return i + 1, t

    with tf.device("/job:a"):
        tf.while_loop(lambda i, s: i < 3, body, [0, x], name="w", parallel_iterations=4)


def gates_of(step_plan):
    """Return the nodes of gates by task."""
    return {
        part.task[5]: {node.name: node for node in part.nodes if node.name.startswith("_cloop")}
        for part in step_plan.partitions
    }


def test_a_gate_goes_round_while_the_condition_is_true():
    found = [
        *control_loop_entry(GATE, PATH, CLIENT, "", 4),
        *control_loop_end(GATE, ("c", 0), CLIENT),
    ]
    assert [(node.name.removeprefix("_cloop0_w/"), node.op) for node in found] == [
        ("enter/start", "Const"),
        ("enter", "Enter"),
        ("merge", "Merge"),
        ("switch", "Switch"),
        ("pivot", "Identity"),
        ("next", "NextIteration"),
    ]
    names = {node.name for node in found}
    assert all(name in names or name == "c" for node in found for name, _ in node.inputs)
    enter = found[1]
    assert enter.attrs["frame_name"] == b"w/while_context"
    assert (enter.attrs["parallel_iterations"], enter.attrs["is_constant"]) == (4, False)


def test_a_gate_in_a_gate_begins_in_every_round_of_the_outer_one():
    assert control_loop_entry(GATE, PATH, CLIENT, "around", 1)[0].control == ("around",)
    assert control_loop_entry(GATE, PATH, CLIENT, "", 1)[0].control == ()


@pytest.mark.parametrize(
    ("devices", "gates"),
    [
        pytest.param({}, {"a": 1, "b": 1}, id="both tasks receive in every round"),
        pytest.param({"body_device": "/job:a"}, {"a": 0}, id="a loop on one task needs none"),
        pytest.param({"inner_device": "/job:b"}, {"a": 2, "b": 2},
                     id="a loop in it over the same tasks"),
        pytest.param({"inner_device": "/job:a"}, {"a": 1, "b": 1}, id="a loop in it on one task"),
        pytest.param({"body_device": "/job:a", "inner_device": "/job:b"}, {"a": 2, "b": 2},
                     id="a loop over tasks in a loop on one"),
    ],
)  # fmt: skip
def test_which_tasks_have_gates(devices, gates):
    found = gates_of(plan(lambda: build(**devices), "w/Exit_1", feeds="x"))
    merges = {task: [n for n in nodes.values() if n.op == "Merge"] for task, nodes in found.items()}
    assert {task: len(found) for task, found in merges.items()} == gates


@pytest.mark.parametrize(
    ("task", "condition"),
    [
        pytest.param("a", "w/LoopCond", id="where the condition is computed it is taken as it is"),
        pytest.param("b", "w/LoopCond_S", id="elsewhere it is received"),
    ],
)
def test_what_lets_a_gate_go_round(task, condition):
    nodes = gates_of(plan(build, "w/Exit_1", feeds="x"))[task]
    [switch] = [node for node in nodes.values() if node.op == "Switch"]
    assert switch.inputs[1][0].startswith(condition)


def test_every_receive_in_a_loop_waits_for_its_gate():
    step_plan = plan(build, "w/Exit_1", feeds="x")
    gates = gates_of(step_plan)
    for part in step_plan.partitions:
        for node in part.nodes:
            if node.op in RECEIVES and not node.name.startswith("_recv_x"):
                [gate] = node.control
                assert gates[part.task[5]][gate].op == "Merge"


def test_a_gate_has_the_loops_frame_and_its_parallel_rounds():
    nodes = gates_of(plan(build, "w/Exit_1", feeds="x"))["b"]
    [enter] = [node for node in nodes.values() if node.op == "Enter"]
    assert enter.attrs["frame_name"] == b"w/while_context"
    assert enter.attrs["parallel_iterations"] == 4


def test_a_loop_without_condition_cannot_cross_tasks():
    nodes = nodes_of(build)
    nodes["w/LoopCond"] = nodes["w/LoopCond"]._replace(op="Identity", attrs={"T": tf.bool})
    placement = place(list(nodes.values()), nodes, {}, cluster("a0", "b0"))
    signature = Signature((("x", 0),), (("w/Exit_1", 0),), ())
    with pytest.raises(InvalidArgumentError, match="'w/while_context' crosses tasks, but has no"):
        plan_step(nodes, placement, signature, CLIENT, {})
