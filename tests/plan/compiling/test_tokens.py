"""Programs that run by tokens: a program for each frame, and who waits for what of whom."""

import itertools

import pytest

import tfdist as tf
from tests.plan.executing import Context, partition_of
from tests.plan.graphs import far_branch, plan
from tfdist.plan.compiling.node_bindings import RuntimeCallbacks
from tfdist.plan.compiling.program import TokenFlow
from tfdist.plan.compiling.tokens import build_frames
from tfdist.plan.step_plan import Partition
from tfdist.runtime.resources.variables import Variable

WHILE = "w/while_context"


def program(partition: Partition, traced=False):
    """Return the program of a partition."""
    callbacks = RuntimeCallbacks(Context, Variable.read, itertools.count().__next__)
    return build_frames(partition, callbacks, traced)


def built(build, traced=False):
    """Return the program of the tensors that `build` returns."""
    with tf.Graph().as_default() as graph:
        return program(partition_of(graph, build()), traced)


def unit_of(found, name):
    """Return the number of the unit that runs a node."""
    [unit] = [i for i, (node,) in enumerate(found.nodes) if node.name == name]
    return unit


def consumers(found, name, port=0):
    """Return the names of the nodes that take an output of a unit, in the frame where it goes."""
    frame = found.frame
    unit = unit_of(found, name)
    flow = frame.flows[unit]
    there = frame.inner[frame.entered[unit][0]] if flow is TokenFlow.ENTER else found
    taken = frame.consumers[unit][port]
    return {there.nodes[i][0].name for i in (*taken.units, *taken.merges)}


def loop():
    x = tf.placeholder_with_default(2, [], name="x")
    return [tf.while_loop(lambda i: i < 3, lambda i: i + x, [x], name="w", parallel_iterations=4)]


def cond():
    x = tf.placeholder_with_default(2, [], name="x")
    return [tf.cond(x < 3, lambda: tf.negative(x, "t"), lambda: tf.square(x, "f"), name="c")]


def nested():
    def body(i):
        return i + tf.while_loop(lambda j: j < i, lambda j: j + 1, [0], name="v")

    return [tf.while_loop(lambda i: i < 3, body, [0], name="w")]


def test_every_frame_is_a_program():
    found = built(nested)
    assert found.frame.name == ""
    assert list(found.frame.inner) == [WHILE]
    inner = found.frame.inner[WHILE]
    assert inner.frame.name == WHILE
    assert list(inner.frame.inner) == ["w/v/while_context"]
    assert inner.start == ()  # only what is outside of all loops begins by itself


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        pytest.param("w/Merge", TokenFlow.SAME, id="a node of a round"),
        pytest.param("w/NextIteration", TokenFlow.NEXT_ITERATION, id="to the next round"),
        pytest.param("w/Exit", TokenFlow.EXIT, id="to the round around the loop"),
    ],
)
def test_where_a_units_output_goes(name, flow):
    inner = built(loop).frame.inner[WHILE]
    assert inner.frame.flows[unit_of(inner, name)] is flow


def test_an_enter_leads_in_and_says_whether_every_round_has_its_value():
    found = built(loop)
    frame = found.frame
    entered = {found.nodes[unit][0].name: each for unit, each in frame.entered.items()}
    assert entered == {"w/Enter": (WHILE, False), "w/add/Enter": (WHILE, True)}
    assert consumers(found, "w/Enter") == {"w/Merge"}
    assert (frame.inner[WHILE].frame.enters, frame.inner[WHILE].frame.parallel) == (2, 4)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("w/Merge", 1, id="a Merge of rounds waits for one value"),
        pytest.param("w/Less/y", 1, id="a dependency is a token"),
        pytest.param("w/Switch", 2, id="a value and a condition"),
        pytest.param("w/Exit", 1, id="one value"),
    ],
)
def test_how_many_tokens_a_unit_of_a_loop_waits_for(name, count):
    inner = built(loop).frame.inner[WHILE]
    assert inner.pending[unit_of(inner, name)] == count


def test_the_outputs_of_a_switch_are_alive_one_by_one():
    inner = built(loop).frame.inner[WHILE]
    given = [consumers(inner, "w/Switch", i) for i in range(2)]
    assert {"w/Exit"} in given
    assert {"w/Identity"} in given or {"w/add"} in given


def test_a_merge_of_branches_waits_for_the_first_live_value():
    found = built(cond)
    merge = unit_of(found, "c/Merge")
    assert found.frame.merged == {merge: 2}
    assert found.pending[merge] == 1
    [given] = found.frame.consumers[unit_of(found, "c/t")]
    assert (given.units, given.merges) == ((), (merge,))


def test_a_merge_that_is_fed_on_one_side_waits_for_nothing():
    with tf.Graph().as_default() as graph:
        fetches = cond()
        fed = graph.get_tensor_by_name("c/t:0")
        found = program(partition_of(graph, fetches, [fed]))
    assert found.pending[unit_of(found, "c/Merge")] == 0


def test_what_is_sent_is_sent_dead_too():
    found = program(plan(far_branch, "c/Merge", feeds="p x").partitions[0])
    assert {found.nodes[i][0].op for i in found.frame.runs_dead} == {"_Send"}


@pytest.mark.parametrize("traced", [False, True])
def test_a_node_that_only_leads_elsewhere_computes_if_it_is_traced_only(traced):
    inner = built(loop, traced).frame.inner[WHILE]
    idle = inner.functions[unit_of(inner, "w/Exit")].__name__ == "_nothing"
    assert idle is not traced


def test_a_next_iteration_does_not_write_over_the_round_before():
    inner = built(loop).frame.inner[WHILE]
    [given] = inner.frame.consumers[unit_of(inner, "w/NextIteration")]
    [entered] = built(loop).frame.consumers[unit_of(built(loop), "w/Enter")]
    assert given.place != entered.place
    assert consumers(inner, "w/NextIteration") == {"w/Merge"}
