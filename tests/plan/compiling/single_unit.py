"""The one unit that a small graph is compiled to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tfdist as tf
from tfdist.graph.records import Node, records
from tfdist.plan.compiling.node_bindings import NodeBindings, RuntimeCallbacks
from tfdist.plan.segment import lay_out, segments
from tfdist.plan.step_plan import Partition

CPU = "/job:a/replica:0/task:0/device:CPU:0"


def single_unit(build: Callable[[Any], Any]) -> tuple[NodeBindings, Sequence[Node]]:
    """Return bindings and nodes of the graph that `build` makes of x [4], which is fed."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4], name="x")
        fetched = build(x)
        nodes = [node._replace(device=CPU) for node in records(graph.get_operations()[1:])]
    fetches = tuple((each.op.name, 0) for each in fetched)
    partition = Partition("/job:a/replica:0/task:0", tuple(nodes), (("x", 0),), fetches)
    [unit] = segments(partition)
    callbacks = RuntimeCallbacks(None, None, None)
    return NodeBindings(lay_out(partition, [unit]), callbacks, traced=False), unit.nodes
