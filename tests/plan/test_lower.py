"""Lowering: which branches and loops become Python's own, and what leaves others to tokens."""

import tracemalloc

import pytest

import tfdist as tf
from tests.plan.executing import partition_of
from tests.plan.graphs import far_branch, nodes_of, plan
from tests.runtime.random_programs import random_program
from tfdist.graph.records import CONTROL_FLOW, Node
from tfdist.plan.frames import has_control_flow
from tfdist.plan.lower import LOOP, inner_nodes, loop_of, lower
from tfdist.plan.prune import prune
from tfdist.plan.step_plan import Partition

TASK = "/job:a/replica:0/task:0"


def partition(nodes, *fetches):
    """Return what one task runs to fetch the first outputs of nodes."""
    order = prune(nodes, fetches)
    return Partition(TASK, tuple(order), (), tuple((name, 0) for name in fetches))


def lowered(build):
    """Return what becomes of the tensors that `build` returns."""
    with tf.Graph().as_default() as graph:
        return lower(partition_of(graph, build()))


def count(found, op):
    return sum(node.op == op for node in found.partition.nodes)


# what is lowered


def one_loop():
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2), [0, 1])


def loop_in_a_loop():
    def body(i):
        return i + tf.while_loop(lambda j: j < i, lambda j: j + 1, [1])

    return [tf.while_loop(lambda i: i < 3, body, [0])]


def cond_in_a_loop():
    def body(i):
        return tf.cond(i < 4, lambda: i + 1, lambda: i * 2)

    return [tf.while_loop(lambda i: i < 9, body, [1])]


def cond_in_the_condition():
    def goes_on(i):
        return tf.cond(i < 4, lambda: True, lambda: i < 2)

    return [tf.while_loop(goes_on, lambda i: i + 1, [1])]


def loop_in_a_cond():
    x = tf.placeholder_with_default(1, [])
    return [tf.cond(x < 3, lambda: tf.while_loop(lambda i: i < 3, lambda i: i + x, [0]), lambda: x)]


def cond_of_what_does_not_change():
    x = tf.placeholder_with_default(1, [])
    return [tf.while_loop(lambda i: i < 9, lambda i: i + tf.cond(x < 3, lambda: x, lambda: i), [1])]


def loop_after_a_loop():
    [first, second] = one_loop()
    return [tf.while_loop(lambda i: i < second, lambda i: i + first, [0])]


def gated_gradients_of_a_loop():
    def body(i, state, outputs):
        return i + 1, tf.tanh(state), outputs.write(i, state)

    x = tf.constant(0.5)
    states = tf.while_loop(lambda i, *_: i < 3, body, [0, x, tf.TensorArray(tf.float32, 3)])[2]
    return tf.gradients(states.stack(), [x], gate_gradients=True)


def variable_in_a_loop():
    v = tf.Variable(1)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, i)]):
            return i + 1

    return [tf.while_loop(lambda i: i < 3, body, [0])]


@pytest.mark.parametrize(
    ("build", "loops"),
    [
        pytest.param(one_loop, 1, id="a loop"),
        pytest.param(loop_in_a_loop, 1, id="a loop in a loop is one of its nodes"),
        pytest.param(cond_in_a_loop, 1, id="a cond in a loop"),
        pytest.param(cond_in_the_condition, 1, id="a cond that tells whether a loop goes on"),
        pytest.param(loop_in_a_cond, 1, id="a loop in a cond"),
        pytest.param(cond_of_what_does_not_change, 1, id="a cond of what the loop does not change"),
        pytest.param(loop_after_a_loop, 2, id="a loop that takes what another one gives"),
        pytest.param(variable_in_a_loop, 1, id="a loop that changes a variable"),
        pytest.param(
            gated_gradients_of_a_loop, 2, id="a loop, and its gradients as optimizers ask"
        ),
    ],
)
def test_what_is_lowered(build, loops):
    found = lowered(build)
    assert found.is_whole
    assert count(found, LOOP) == loops
    left = {node.op for node in found.partition.nodes} & CONTROL_FLOW
    assert left <= {"Switch", "Merge"}  # of branches, which have guards


def test_a_loop_is_its_variables_and_what_runs_before_and_after_its_condition():
    found = lowered(one_loop)
    [node] = [node for node in found.partition.nodes if node.op == LOOP]
    loop = loop_of(node)
    assert [variable.merge.name for variable in loop.variables] == ["while/Merge", "while/Merge_1"]
    assert {each.name for each in loop.head} == {"while/Less/y", "while/Less"}
    assert {"while/add", "while/mul"} <= {each.name for each in loop.body}
    assert {each.name for each in loop.inner} <= {n.name for n in inner_nodes([node])}
    assert node.inputs == (("while/Const", 0), ("while/Const_1", 0))


def test_random_programs_are_lowered_whole():
    left = []
    for seed in range(60):
        program = random_program(seed)
        with tf.Graph().as_default() as graph:
            feeds, result, _ = program.build(("/cpu:0",) * 3)
            one = partition_of(graph, [result], feeds)
        if has_control_flow(one.nodes) and not lower(one).is_whole:
            left.append(seed)
    assert left == []


# what is left to tokens


def changed(name, *, op=None, inputs=None, control=(), **others):
    """Return a change of one node: its op, some inputs by position, more dependencies."""

    def change(nodes):
        old = nodes[name]
        new = [(inputs or {}).get(i, each) for i, each in enumerate(old.inputs)]
        attrs = {**old.attrs, **others}
        made = old._replace(
            op=op or old.op, inputs=tuple(new), control=(*old.control, *control), attrs=attrs
        )
        return {**nodes, name: made}

    return change


def waiting_only(name, other):
    """Return a change of one node: it waits for nothing but `other`."""
    return lambda nodes: {**nodes, name: nodes[name]._replace(control=(other,))}


LEFT = [
    pytest.param(changed("while/Switch_1", control=["while/add"]),
                 id="the end waits for what the last round does not run"),
    pytest.param(changed("while/LoopCond", control=["while/Merge_1"]),
                 id="the condition waits for something"),
    pytest.param(changed("while/mul", inputs={0: ("while/Enter_1", 0)}),
                 id="a round takes what is there in the first one only"),
    pytest.param(changed("while/mul", control=["while/Enter_1"]),
                 id="a round waits for what is there in the first one only"),
    pytest.param(changed("while/mul", control=["while/NextIteration"]),
                 id="a round waits for the end of a round"),
    pytest.param(waiting_only("while/mul/y", "while/Switch"),
                 id="a node waits for a Switch, which runs in the last round too"),
    pytest.param(changed("while/Exit_1", inputs={0: ("while/mul", 0)}),
                 id="a value leaves from within"),
    pytest.param(changed("while/Exit_1", control=["while/Switch"]), id="an Exit waits"),
    pytest.param(changed("while/Merge_1", control=["while/Enter"]), id="a Merge waits"),
    pytest.param(changed("while/LoopCond", op="Identity"), id="there is no condition"),
    pytest.param(changed("while/NextIteration_1", inputs={0: ("while/Merge_1", 0)}),
                 id="the last round hands something on too"),
    pytest.param(changed("while/Enter_1", is_constant=True), id="a variable enters as a constant"),
]  # fmt: skip


@pytest.mark.parametrize("change", LEFT)
def test_a_loop_that_is_not_pythons_while_is_left(change):
    nodes = nodes_of(one_loop)
    assert lower(partition(nodes, "while/Exit", "while/Exit_1")).is_whole
    found = lower(partition(change(nodes), "while/Exit", "while/Exit_1"))
    assert not found.is_whole
    assert count(found, LOOP) == 0


def test_what_runs_in_rounds_only_may_wait_for_a_switch_too():
    """As the gates do that an optimizer puts around the gradients of a loop."""
    change = changed("while/mul/y", control=["while/Switch"])  # it waits for the round's pivot, too
    found = lower(partition(change(nodes_of(one_loop)), "while/Exit", "while/Exit_1"))
    assert found.is_whole


def test_a_loop_in_which_something_waits_is_left():
    def build():
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
        return [tf.while_loop(lambda i: i < 3, lambda i: i + queue.dequeue(), [0])]

    assert count(lowered(build), LOOP) == 0


def test_only_the_loops_that_are_proven_are_folded():
    def build():
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])

        def body(i):
            inner = tf.while_loop(lambda j: j < i, lambda j: j + 1, [0])
            return i + inner + queue.dequeue()

        return [tf.while_loop(lambda i: i < 3, body, [0])]

    found = lowered(build)
    assert not found.is_whole
    assert count(found, LOOP) == count(found, "LoopCond") == 1


def test_a_loop_over_two_tasks_is_left_on_both():
    def body(i):
        with tf.device("/job:b"):
            return i + 1

    def build():
        with tf.device("/job:a"):
            tf.while_loop(lambda i: i < 3, body, [0], name="w")

    parts = plan(build, "w/Exit").partitions
    assert [lower(part).is_whole for part in parts] == [False, False]


def branch_of(taken):
    """Return a Merge of two branches that a tensor chooses."""
    nodes = [
        Node("x", "Placeholder"), Node("v", "VariableV2"), Node("p", "Placeholder"),
        Node("s", "Switch", (("x", 0), (taken, 0))), Node("a", "Neg", (("s", 1),)),
        Node("m", "Merge", (("s", 0), ("a", 0))),
    ]  # fmt: skip
    return {node.name: node for node in nodes}


@pytest.mark.parametrize(
    ("taken", "fetch", "is_whole"),
    [
        pytest.param("p", "m", True, id="a branch"),
        pytest.param("p", "a", False, id="a fetch that may be dead"),
        pytest.param("v", "m", False, id="a variable chooses, which may change meanwhile"),
    ],
)
def test_which_branches_are_lowered(taken, fetch, is_whole):
    assert lower(partition(branch_of(taken), fetch)).is_whole is is_whole


def test_a_merge_of_what_comes_dead_from_another_task_is_left():
    here, there = plan(far_branch, "c/Merge", feeds="p x").partitions
    assert not lower(here).is_whole
    assert lower(there).is_whole


# how it runs


@pytest.fixture(params=["compiler", "interpreter"])
def session(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_cond_asks_a_variable_once(session):
    v = tf.Variable(False)
    taken = tf.identity(v)
    with tf.control_dependencies([taken]):
        change = tf.assign(v, True)
    with tf.control_dependencies([change]):
        x = tf.identity(tf.constant(10))
    found = tf.cond(taken, lambda: x + 1, lambda: x + 2)
    session.run(v.initializer)
    assert [session.run(found) for _ in range(2)] == [12, 11]


def test_effects_keep_their_order(session):
    v = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.assign(v, 10 * i)]):
            more = tf.assign_add(v, i)
        with tf.control_dependencies([more]):
            last = tf.cond(i < 3, lambda: v.assign_sub(7) + 0, lambda: v.assign_add(100) + 0)
        with tf.control_dependencies([last]):
            return i + 1

    for n, expected in [(3, 20 + 2 - 7), (4, 30 + 3 + 100)]:
        session.run(tf.while_loop(lambda i, n=n: i < n, body, [0], parallel_iterations=1))
        assert session.run(v) == expected


def test_memory_stays_flat_over_many_rounds(monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", "compiler")
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        zeros = tf.zeros([1000])
        result = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + 1.0), [0, zeros])[1]
        session.run(result, {n: 10})
        tracemalloc.start()
        try:
            assert session.run(result, {n: 100_000})[0] == 100_000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 100_000
