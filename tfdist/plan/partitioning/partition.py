"""Graph partitioning: what a step needs, cut into one partition per task."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.records import Node
from tfdist.plan.frames import has_control_flow
from tfdist.plan.partitioning.cutter import Cutter
from tfdist.plan.partitioning.read_after_write import reads_after_writes
from tfdist.plan.partitioning.read_after_write_branches import reads_after_writes_in_branches
from tfdist.plan.partitioning.read_after_write_loops import reads_after_writes_in_loops
from tfdist.plan.place_reasons import Placement
from tfdist.plan.prune import prune
from tfdist.plan.step_plan import Signature, StepPlan, output_types


def plan_step(
    graph: Mapping[str, Node],
    placement: Mapping[str, Placement],
    signature: Signature,
    client_device: str,
    incarnations: Mapping[str, int],
    numbers: Iterator[int] | None = None,
    as_bfloat16: bool = False,
) -> StepPlan:
    """Return what each task does in a step of `signature`.

    Args:
      graph: all nodes by name.
      placement: their devices.
      signature: feeds, fetches and targets.
      client_device: full name of the device where feeds enter and fetches leave.
      incarnations: of each device, by full name.
      numbers: for the names of what sends and receives. In a session they go on from plan to plan:
        a worker that is real TensorFlow keeps the kernel of such a name for later steps.
      as_bfloat16: whether float32 crosses between tasks as bfloat16, cut off to it.

    Raises:
      InvalidArgumentError: a tensor is both fed and fetched of a node that is not there, a
        needed node has no device, or nothing is asked for.
      NotFoundError: a feed, fetch or target is not in the graph.
    """
    _check(graph, signature)
    fed = frozenset(signature.feeds)
    roots = [name for name, port in signature.fetches if (name, port) not in fed]
    nodes = prune(graph, (*roots, *signature.targets), fed)
    nodes, inside = reads_after_writes_in_loops(nodes, lambda name: placement[name].device, fed)
    if inside:
        placement = {**placement, **{copy: placement[read] for copy, read in inside.items()}}
    nodes, branched = reads_after_writes_in_branches(
        nodes, lambda name: placement[name].device, fed
    )
    nodes, straight = reads_after_writes(nodes, signature.fetches, fed)
    copies = {**branched, **straight}
    if copies:
        placement = {**placement, **{copy: placement[read] for copy, read in copies.items()}}
    for node in nodes:
        _raise_unplaced(placement[node.name], node)
    numbers = numbers or itertools.count()
    cutter = Cutter(graph, fed, client_device, incarnations, numbers, as_bfloat16)
    if has_control_flow(nodes):
        cutter.find_loops(nodes, signature.fetches)
    for node in nodes:
        cutter.add(node._replace(device=placement[node.name].device))
    return StepPlan(signature, cutter.finish(signature))


def _check(graph: Mapping[str, Node], signature: Signature) -> None:
    if not signature.fetches and not signature.targets:
        raise InvalidArgumentError("nothing to do: name at least one tensor or node to run")
    for what, endpoints in (("feed", signature.feeds), ("fetch", signature.fetches)):
        for name, port in endpoints:
            if name not in graph:
                raise NotFoundError(f"{what} {name}:{port} is not in the graph")
            count = len(output_types(graph[name]))
            if port >= count:
                raise InvalidArgumentError(f"{what} {name}:{port}: the node has {count} outputs")
    if len(set(signature.feeds)) != len(signature.feeds):
        raise InvalidArgumentError("a tensor is fed twice")


def _raise_unplaced(placed: Placement, node: Node) -> None:
    if placed.error is not None:
        raise type(placed.error)(placed.error.message).at_node(node.name, "")
