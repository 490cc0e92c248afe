"""Copies between the devices of a task."""

import pytest

import tfdist as tf
from tests.plan.graphs import cluster, nodes_of
from tfdist.graph.records import COPY
from tfdist.plan.compiling.copies import device_graphs, with_copies
from tfdist.plan.place import place
from tfdist.plan.step_plan import Partition

HOST = "/job:a/replica:0/task:0/device:CPU:0"


def partition_of(build, fetches=(), feeds=()):
    """Return what `build` makes as the piece of a task with a CPU and a GPU."""
    graph = nodes_of(build)
    placed = place(list(graph.values()), graph, {}, cluster("a0 gpu"))
    fed = {name for name, _ in feeds}
    nodes = [
        node._replace(device=placed[node.name].device) for node in graph.values()
        if node.name not in fed
    ]  # fmt: skip
    return Partition("/job:a/replica:0/task:0", tuple(nodes), tuple(feeds), tuple(fetches))


def on(device, make):
    with tf.device(device):
        return make()


def lines(partition):
    """Return "name(inputs) on cpu" of each node."""
    return [
        f"{n.name}({', '.join(name for name, _ in n.inputs)}) on {n.device[-5:-2].lower()}"
        for n in partition.nodes
    ]


def test_what_crosses_is_copied_once_for_all_that_take_it():
    def build():
        x = on("/gpu:0", lambda: tf.random_uniform([2], name="x"))
        on("/cpu:0", lambda: [tf.negative(x, name="y"), tf.square(x, name="z")])

    told = lines(with_copies(partition_of(build), HOST))
    assert [line for line in told if "_S" in line] == [
        "x_S2(x) on cpu", "y(x_S2) on cpu", "z(x_S2) on cpu",
    ]  # fmt: skip


def test_feeds_enter_and_fetches_leave_on_the_cpu():
    def build():
        p = tf.placeholder(tf.float32, [2], name="p")
        on("/gpu:0", lambda: tf.negative(p, name="y"))

    copied = with_copies(partition_of(build, [("y", 0), ("p", 0)], [("p", 0)]), HOST)
    assert lines(copied) == ["_recv_p_0_S2(p) on gpu", "y(_recv_p_0_S2) on gpu", "y_S5(y) on cpu"]
    assert copied.fetches == (("y_S5", 0), ("p", 0))


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(
            lambda: on("/cpu:0", lambda: tf.negative(1.0, name="y")), id="all is on the CPU"
        ),
        pytest.param(
            lambda: on("/gpu:0", lambda: tf.negative(1.0, name="y")), id="all is on the GPU"
        ),
        pytest.param(
            lambda: tf.Variable(1.0, name="v", use_resource=True), id="a resource stays where it is"
        ),
    ],
)
def test_what_does_not_cross_is_left_alone(build):
    partition = partition_of(build)
    assert with_copies(partition, HOST) == partition


def test_copies_that_are_there_are_not_made_again():
    def build():
        x = on("/gpu:0", lambda: tf.random_uniform([2], name="x"))
        on("/cpu:0", lambda: tf.negative(x, name="y"))

    once = with_copies(partition_of(build), HOST)
    assert with_copies(once, HOST) == once


def test_graphs_by_device_have_sends_and_receives_for_copies():
    def build():
        x = on("/gpu:0", lambda: tf.constant([1.0], name="x"))
        on("/cpu:0", lambda: tf.negative(x, name="y"))

    graphs = device_graphs(partition_of(build), HOST)
    assert [[(node.name, node.op) for node in nodes] for nodes in graphs] == [
        [("x", "Const"), ("x_S1", "_Send")], [("x_S2", "_Recv"), ("y", "Neg")],
    ]  # fmt: skip
    assert graphs[0][1].attrs["tensor_name"] == graphs[1][0].attrs["tensor_name"] == b"edge_0_x"
    assert all(node.op != COPY for nodes in graphs for node in nodes)
