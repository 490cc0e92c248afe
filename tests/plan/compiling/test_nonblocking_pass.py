"""The nonblocking_pass: which programs have one, and in which order it takes the units."""

import pytest

import tfdist as tf
from tests.plan.executing import Environment, build, partition_of
from tfdist.graph.op_def import PENDING, REGISTRY
from tfdist.plan.segment import ENVIRONMENT


def through_a_queue():
    queue = tf.FIFOQueue(4, "float32", shapes=[()])
    return queue.enqueue(queue.dequeue() * 2.0)


def through_a_reader():
    return tf.IdentityReader().read(tf.FIFOQueue(4, "string", shapes=[()])).value


def through_a_staging_area():
    area = tf.contrib.staging.StagingArea(["float32"])
    return area.get()[0]


def python_behind_a_queue():
    return tf.py_func(lambda x: x, [tf.FIFOQueue(4, "float32").dequeue()], "float32")


@pytest.mark.parametrize(
    ("build_graph", "form", "has_one"),
    [
        pytest.param(through_a_queue, {}, True, id="queue ops know when they need not wait"),
        pytest.param(through_a_reader, {}, True, id="so do readers"),
        pytest.param(through_a_staging_area, {}, False, id="a staging area does not"),
        pytest.param(lambda: tf.constant(1.0) + 1.0, {}, False, id="nothing waits anyhow"),
        pytest.param(python_behind_a_queue, {}, False, id="what users wrote may take any time"),
        pytest.param(through_a_queue, {"traced": True}, False, id="a trace shows each wait"),
        pytest.param(through_a_queue, {"compiled": False}, False, id="the reference goes its way"),
    ],
)
def test_who_has_a_dash(build_graph, form, has_one):
    with tf.Graph().as_default() as graph:
        partition = partition_of(graph, [build_graph()])
    program = build(partition, {"compiled": True, "grouped": True, "traced": False, **form})
    assert (program.nonblocking_pass is not None) == has_one
    if has_one:
        assert sorted(unit for unit, _ in program.nonblocking_pass.units) == list(
            range(len(program.functions))
        )


def test_every_unit_comes_after_what_it_waits_for():
    with tf.Graph().as_default() as graph:
        one, other = (tf.FIFOQueue(4, "float32", shapes=[()]) for _ in range(2))
        taken = one.dequeue()
        with tf.control_dependencies([other.enqueue(taken)]):
            total = tf.identity(taken) + other.dequeue()
        partition = partition_of(graph, [total])
    program = build(partition, {"compiled": True, "grouped": True, "traced": False})
    order = [unit for unit, _ in program.nonblocking_pass.units]
    for unit, following in enumerate(program.dependents):
        assert all(order.index(unit) < order.index(each) for each in following)


def test_a_queue_that_comes_after_a_wait_is_found_then_and_once():
    with tf.Graph().as_default() as graph:
        first = tf.FIFOQueue(4, "float32", shapes=[()]).dequeue()
        with tf.control_dependencies([first]):
            put = tf.FIFOQueue(4, "float32", shapes=[()]).enqueue(first)
        partition = partition_of(graph, [put])
    program = build(partition, {"compiled": True, "grouped": True, "traced": False})
    order = [unit for unit, _ in program.nonblocking_pass.units]
    assert sorted(order) == list(range(len(program.functions)))
    for unit, following in enumerate(program.dependents):
        assert all(order.index(unit) < order.index(each) for each in following)


def test_what_would_have_to_wait_changes_nothing():
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(4, "float32", shapes=[()], shared_name="queue")
        partition = partition_of(graph, [queue.dequeue()])
    program = build(partition, {"compiled": True, "grouped": True, "traced": False})
    values = list(program.template)
    values[ENVIRONMENT] = environment = Environment()
    assert [function(values) for _, function in program.nonblocking_pass.units] == [None, PENDING]
    [(_, _, _, found)] = environment.resources.rows()
    assert not found.state.takes
    found.put_now([5.0])
    assert program.nonblocking_pass.units[-1][1](values) is None
    assert values[program.fetches[0].place] == 5.0


def test_prompt_kernels_stand_beside_kernels_that_wait():
    for op_def in REGISTRY.values():
        if op_def.prompt_rule is not None:
            assert op_def.waits
            assert op_def.prompt_rule.keywords == op_def.kernels["CPU"].keywords
