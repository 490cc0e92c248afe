"""Problems made of graphs: what may run where."""

import pytest

import tfdist as tf
from tfdist.base.devices import parse
from tfdist.graph.records import records
from tfdist.plan.place import place, rank
from tfdist.plan.step_plan import Signature
from tfdist.simulation.placement_problem import Cluster, placement_problem
from tfdist.simulation.step_costs import StepCosts

PS, FIRST, SECOND = DEVICES = [
    f"/job:{job}/replica:0/task:{task}/device:CPU:0"
    for job, task in (("ps", 0), ("worker", 0), ("worker", 1))
]
SPECS = [parse(each) for each in DEVICES]


def problem(*fetches, feeds=(), **options):
    """Return the problem of fetching tensors of the default graph."""
    nodes = {node.name: node for node in records(tf.get_default_graph().get_operations())}
    placed = place(list(nodes.values()), nodes, {}, rank(SPECS))
    now = {name: each.device for name, each in placed.items()}
    signature = Signature(
        tuple((each.op.name, 0) for each in feeds), tuple((each.op.name, 0) for each in fetches), ()
    )
    return placement_problem(nodes, signature, StepCosts(), Cluster(SPECS, FIRST), now, **options)


def allowed(found, name):
    """Return the devices that a node may have."""
    return {found.devices[i] for i in found.allowed[found.groups[found.names.index(name)]]}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_what_asks_for_nothing_may_be_anywhere():
    a = tf.constant([1.0, 2.0], name="a")
    found = problem(tf.negative(a, name="b"))
    assert allowed(found, "b") == set(DEVICES)
    assert found.inputs[found.names.index("b")] == ((found.names.index("a"), 0),)
    assert found.edge_bytes[found.names.index("a"), 0] == 8


def test_a_pin_holds_and_a_partial_one_leaves_a_choice():
    with tf.device("/job:worker"):
        some = tf.constant(1.0, name="some")
    with tf.device("/job:worker/task:1"):
        one = tf.negative(some, name="one")
    found = problem(one)
    assert allowed(found, "one") == {SECOND}
    assert allowed(found, "some") == {FIRST, SECOND}


def test_variables_stay_unless_they_may_move():
    v = tf.Variable([1.0, 2.0], name="v")
    total = tf.negative(v, name="total")
    assert allowed(problem(total), "v") == {PS}  # the cluster's first
    moving = problem(total, move_state=True)
    assert allowed(moving, "v") == set(DEVICES)
    assert moving.state_bytes[moving.groups[moving.names.index("v")]] == 8


def test_what_assigns_a_variable_stays_with_it():
    v = tf.Variable(1.0, name="v")
    found = problem(v.assign_add(2.0))
    assert found.groups[found.names.index("AssignAdd")] == found.groups[found.names.index("v")]


def test_a_loop_stays_together():
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    found = problem(loop)
    groups = {found.groups[i] for i, name in enumerate(found.names) if name.startswith("while/")}
    assert len(groups) == 1


def test_what_is_fed_and_fetched_is_at_the_client():
    x = tf.placeholder(tf.float32, [3], name="x")
    found = problem(tf.negative(x, name="y"), feeds=[x])
    assert found.names == ("", "y", "")
    assert [found.allowed[group] for group in found.groups] == [(1,), (0, 1, 2), (1,)]
    assert found.inputs == ((), ((0, 0),), ((1, 0),))


def test_control_edges_count_as_edges_without_bytes():
    a = tf.no_op("a")
    with tf.control_dependencies([a]):
        found = problem(tf.constant(1.0, name="b"))
    edge = (found.names.index("a"), -1)
    assert found.inputs[found.names.index("b")] == (edge,)
    assert edge not in found.edge_bytes


def test_limits_are_by_device():
    nodes = problem(tf.constant(1.0))
    assert nodes.limit_bytes == ()
