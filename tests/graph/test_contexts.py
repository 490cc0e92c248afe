"""Contexts: what a branch or a loop brings in, once, through all that is between.

Nodes and what they wait for are as in TensorFlow 1.15.5, but for two things in a loop: what waits
for a node outside has one signal in common here, and it waits for operations without outputs too.
`tests/ops/control_flow/test_cond.py` and `tests/ops/control_flow/test_while_loop.py` compare names
of nodes.
"""

import pytest

import tfdist as tf
from tfdist.graph.contexts import Context, enclosing


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def looped(body, name=None):
    """Return the end of a loop of one number."""
    return tf.while_loop(lambda i: i < 3, body, [tf.constant(0, name="start")], name=name)


def branched(side):
    """Return the end of a cond whose side for true is `side`."""
    return tf.cond(tf.constant(True, name="p"), side, lambda: 0)


def inside_of(build, function):
    """Return what `function` gives inside of a context; it is called once."""
    kept = []

    def inside(*_):
        kept.append(function())
        return tf.constant(0)

    build(inside)
    return kept[0]


CONTEXTS = pytest.mark.parametrize("build", [branched, looped], ids=["branch", "loop"])


def types(graph, *names):
    return [op.type for op in graph.get_operations() if op.type in names]


# what is brought in


@CONTEXTS
def test_a_tensor_is_brought_in_once(graph, build):
    x = tf.constant(3, name="x")
    uses = inside_of(build, lambda: [x + 1, x * 2, tf.identity(x)])
    inputs = {use.op.inputs[0] for use in uses}
    assert len(inputs) == 1
    assert inputs.pop().op.inputs[0] is x


@pytest.mark.parametrize(
    ("build", "kind", "name"),
    [(branched, "Switch", "cond/user/Switch"), (looped, "Enter", "while/user/Enter")],
    ids=["branch", "loop"],
)
def test_it_is_brought_in_by_a_node_named_after_its_first_user(build, kind, name):
    x = tf.constant(3, name="x")
    first, second = inside_of(
        build, lambda: [tf.add(x, 1, name="user"), tf.add(x, 2, name="other")]
    )
    brought = first.op.inputs[0].op
    assert (brought.type, brought.name) == (kind, name)
    assert second.op.inputs[0].op is brought


def test_a_loop_brings_a_constant_in_for_all_rounds():
    x = tf.constant(3)
    used = inside_of(looped, lambda: x + 1)
    assert used.op.inputs[0].op.get_attr("is_constant") is True


@CONTEXTS
def test_what_is_made_inside_stays_as_it_is(build):
    first, second = inside_of(build, lambda: (lambda c: (c, c + 1))(tf.constant(3)))
    assert second.op.inputs[0] is first


@CONTEXTS
def test_a_reference_to_a_variable_comes_in_as_one(build):
    v = tf.Variable(3)
    read = inside_of(build, lambda: tf.assign_add(v, 1))
    brought = read.op.inputs[0]
    assert brought.dtype.is_ref
    assert brought.op.type in ("RefSwitch", "RefEnter")


@CONTEXTS
def test_types_and_shapes_come_in_too(build):
    x = tf.placeholder(tf.float32, [None, 3])
    brought = inside_of(build, lambda: tf.identity(x)).op.inputs[0]
    assert (brought.dtype, brought.shape.as_list()) == (tf.float32, [None, 3])


# contexts in contexts


NESTED = pytest.mark.parametrize(
    ("builds", "kinds"),
    [
        pytest.param([branched, branched], ["Switch", "Switch"], id="branch in branch"),
        pytest.param([branched, looped], ["Switch", "Enter"], id="loop in branch"),
        pytest.param([looped, branched], ["Enter", "Switch"], id="branch in loop"),
        pytest.param([looped, looped], ["Enter", "Enter"], id="loop in loop"),
        pytest.param(
            [looped, branched, looped], ["Enter", "Switch", "Enter"], id="loop, branch, loop"
        ),
    ],
)


def nested(builds, function):
    """Return what `function` gives inside of contexts, the first of `builds` outermost."""
    build, *rest = builds
    return inside_of(build, (lambda: nested(rest, function)) if rest else function)


@NESTED
def test_a_tensor_goes_through_all_contexts_between(builds, kinds):
    x = tf.constant(3, name="x")
    tensor, found = nested(builds, lambda: tf.identity(x)).op.inputs[0], []
    while tensor is not x:
        found.append(tensor.op.type)
        tensor = tensor.op.inputs[0]
    assert found[::-1] == kinds


@NESTED
def test_what_is_inside_knows_all_contexts_around(builds, kinds):
    op = nested(builds, lambda: tf.constant(3)).op
    around = list(enclosing(op._get_control_flow_context()))
    assert [type(context).__name__ for context in around[::-1]] == [
        "Branch" if kind == "Switch" else "Loop" for kind in kinds
    ]
    assert all(context.holds(op) for context in around)
    assert [context.outer for context in around] == [*around[1:], None]
    assert not any(around[0].holds(context.pivot) for context in around[1:])


@NESTED
def test_a_second_use_finds_what_was_brought_in(graph, builds, kinds):
    x = tf.constant(3, name="x")
    before = {}

    def both():
        first = tf.identity(x)
        before["count"] = graph.version
        return first, tf.identity(x)

    first, second = nested(builds, both)
    assert first.op.inputs[0] is second.op.inputs[0]
    assert graph.get_operations()[before["count"]] is second.op


def test_enclosing_of_nothing_is_nothing():
    assert list(enclosing(None)) == []


def test_a_context_remembers_the_scope_and_the_context_it_is_made_in(graph):
    with tf.name_scope("outer"):
        context = Context(graph, graph.get_name_scope())
        with context.entered():
            inner = Context(graph, "inner")
            with inner.around():
                assert Context(graph, "beside").outer is context
    assert (context.name, context.outer, inner.outer) == ("outer", None, context)
    assert Context(graph, "after").outer is None


# what a node inside waits for


@CONTEXTS
def test_a_node_that_takes_nothing_waits_for_the_pivot(build):
    op = inside_of(build, lambda: tf.constant(3)).op
    assert op.control_inputs == [op._get_control_flow_context().pivot]


@CONTEXTS
def test_a_node_that_takes_something_of_the_context_waits_for_nothing(build):
    op = inside_of(build, lambda: tf.constant(3) + 1).op
    assert op.control_inputs == []


def test_a_node_that_takes_constants_of_the_loop_only_waits_for_its_pivot():
    """They are there in every round, also after the last one."""
    x = tf.constant(3)
    op = inside_of(looped, lambda: tf.identity(x)).op
    assert op.control_inputs == [op._get_control_flow_context().pivot]


def test_a_node_that_takes_something_through_a_switch_waits_for_nothing():
    x = tf.constant(3)
    assert inside_of(branched, lambda: tf.identity(x)).op.control_inputs == []


@CONTEXTS
def test_dependencies_inside_hold_inside(build):
    def waits():
        first = tf.constant(1)
        with tf.control_dependencies([first]):
            return first, tf.constant(2)

    first, second = inside_of(build, waits)
    assert second.op.control_inputs == [first.op]


@CONTEXTS
def test_dependencies_around_stay_outside(build):
    first = tf.no_op("first")
    with tf.control_dependencies([first]):
        op = inside_of(build, lambda: tf.constant(3)).op
    assert first not in op.control_inputs


def test_a_branch_lets_dependencies_on_what_is_outside_through():
    outside = tf.no_op("outside")

    def waits():
        with tf.control_dependencies([outside]):
            return tf.constant(2)

    op = inside_of(branched, waits).op
    assert op.control_inputs == [outside, op._get_control_flow_context().pivot]


def test_a_loop_turns_dependencies_on_what_is_outside_into_values():
    """A dependency does not cross frames."""
    outside = tf.constant(1, name="outside")

    def waits():
        with tf.control_dependencies([outside]):
            return tf.constant(2), tf.constant(3)

    first, second = (each.op for each in inside_of(looped, waits))
    (signal,) = first.control_inputs
    assert second.control_inputs == [signal]  # one for all
    assert signal.type == "Identity"
    assert signal.inputs[0].op.inputs[0] is outside


def test_an_operation_without_outputs_signals_by_a_constant_that_waits_for_it():
    outside = tf.no_op("outside")

    def waits():
        with tf.control_dependencies([outside]):
            return tf.constant(2)

    (signal,) = inside_of(looped, waits).op.control_inputs
    constant = signal.inputs[0].op.inputs[0].op
    assert (constant.type, constant.control_inputs) == ("Const", [outside])


# scopes


@CONTEXTS
def test_devices_around_and_inside(build):
    def placed():
        with tf.device("/cpu:1"):
            return tf.constant(1), tf.constant(2).op._get_control_flow_context().pivot

    with tf.device("/job:worker"):
        inner, pivot = inside_of(build, placed)
    assert inner.device == "/job:worker/device:CPU:1"
    assert pivot.device == "/job:worker"


def test_what_brings_a_tensor_into_a_branch_stays_beside_it():
    with tf.device("/cpu:1"):
        x = tf.constant(3, name="x")

    def placed():
        with tf.device("/cpu:2"):
            return tf.identity(x)

    used = inside_of(branched, placed).op
    brought = used.inputs[0].op
    assert (used.device, brought.device) == ("/device:CPU:2", "/device:CPU:1")
    assert brought.colocation_groups() == [b"loc:@x"]


@CONTEXTS
def test_colocation_inside_holds_inside(build):
    x = tf.constant(3, name="x")

    def beside():
        with tf.colocate_with(x):
            return tf.constant(1)

    assert inside_of(build, beside).op.colocation_groups() == [b"loc:@x"]


@pytest.mark.parametrize(("build", "name"), [(branched, "cond"), (looped, "while")])
def test_names_inside_begin_with_the_contexts_scope(build, name):
    with tf.name_scope("outer"):
        made = inside_of(build, lambda: tf.constant(3, name="made"))
    assert made.op.name == f"outer/{name}/made"
    assert made.op._get_control_flow_context().name == f"outer/{name}/"[:-1]


@CONTEXTS
def test_init_scope_and_no_context_outside(graph, build):
    """What is lifted out is in no context, and comes in again when it is used."""

    def lifted():
        with tf.init_scope():
            outside = tf.constant(3)
        return outside, tf.identity(outside)

    outside, used = inside_of(build, lifted)
    assert outside.op._get_control_flow_context() is None
    assert used.op.inputs[0] is not outside


# what may not be


def test_a_loop_refuses_what_is_inside_of_another():
    leaked = inside_of(looped, lambda: tf.constant(3, name="leaked"))
    with pytest.raises(ValueError, match=r"'while/leaked' is in a while loop \('while'\)"):
        looped(lambda i: i + leaked)


@CONTEXTS
def test_nothing_inside_is_fetched(graph, build):
    made = inside_of(build, lambda: tf.constant(3) + 1)
    assert not graph.is_fetchable(made)
    with tf.Session() as session, pytest.raises(ValueError, match="inside of a branch or a loop"):
        session.run(made)
