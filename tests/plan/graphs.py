"""Helpers of the plan's tests: graphs as records, clusters as devices, partitions as lines."""

import re
from collections.abc import Callable
from typing import Any

import tfdist as tf
from tfdist.base.devices import DeviceSpec, parse
from tfdist.graph.records import Node, records
from tfdist.plan.partitioning.partition import plan_step
from tfdist.plan.place import place, rank
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature, StepPlan

CLIENT = "/job:a/replica:0/task:0/device:CPU:0"


def nodes_of(build: Callable[[], Any]) -> dict[str, Node]:
    """Return the nodes that `build` makes, by name."""
    with tf.Graph().as_default() as graph:
        build()
    return {node.name: node for node in records(graph.get_operations())}


def far_branch():
    """Build a cond on a with a branch on b, and z on b, which takes what it gives."""
    p, x = tf.placeholder(tf.bool, [], name="p"), tf.placeholder(tf.int32, [], name="x")

    def far():
        with tf.device("/job:b"):
            return tf.negative(x, name="t")

    with tf.device("/job:a"):
        tf.cond(p, far, lambda: tf.square(x, name="f"), name="c")
        after = tf.identity(tf.get_default_graph().get_tensor_by_name("c/Merge:0"), name="out")
    with tf.device("/job:b"):
        tf.negative(after, name="z")


def cluster(*names: str) -> list[DeviceSpec]:
    """Return devices, best first; "a0" is a task's only CPU, "a0 gpu" its card, too."""
    devices = []
    for name in names:
        task, *more = name.split()
        for kind in ("cpu", *more):
            devices.append(parse(f"/job:{task[:-1]}/replica:0/task:{task[-1]}/{kind}:0"))
    return rank(devices)


def short(device: str) -> str:
    """Return a full device name as "a0" or "a0 gpu"."""
    if not device:
        return ""
    spec = parse(device)
    return f"{spec.job}{spec.task}" + (" gpu" if spec.device_type == "GPU" else "")


def endpoint(name: str) -> Endpoint:
    """Return "node:1" or "node" as an endpoint."""
    node, _, port = name.partition(":")
    return node, int(port or 0)


def plan(
    build: Callable[[], Any],
    fetches: str = "",
    targets: str = "",
    feeds: str = "",
    devices: list[DeviceSpec] | None = None,
    as_bfloat16: bool = False,
) -> StepPlan:
    """Return the plan of a step; names are separated by spaces."""
    graph = nodes_of(build)
    placement = place(list(graph.values()), graph, {}, devices or cluster("a0", "b0"))
    signature = Signature(
        tuple(map(endpoint, feeds.split())),
        tuple(map(endpoint, fetches.split())),
        tuple(targets.split()),
    )
    return plan_step(graph, placement, signature, CLIENT, {}, as_bfloat16=as_bfloat16)


def shown(step_plan: StepPlan) -> dict[str, list[str]]:
    """Return "name = op(inputs)" of each node by task; generated names without their numbers.

    Feeds and fetches are added to those partitions that have some.
    """
    found = {}
    for part in step_plan.partitions:
        lines = [f"{n.name} = {n.op}({', '.join(_inputs(n))})" for n in part.nodes]
        lines += ["feeds " + " ".join(map(_endpoint, part.feeds))] * bool(part.feeds)
        lines += ["fetches " + " ".join(map(_endpoint, part.fetches))] * bool(part.fetches)
        found[short(f"{part.task}/device:CPU:0")] = [
            re.sub(r"(_S\d+)+", "_S", line) for line in sorted(lines)
        ]
    return found


def _inputs(node: Node) -> list[str]:
    return [_endpoint(each) for each in node.inputs] + [f"^{name}" for name in node.control]


def _endpoint(each: Endpoint) -> str:
    return f"{each[0]}:{each[1]}" if each[1] else each[0]
