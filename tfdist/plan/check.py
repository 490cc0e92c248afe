"""Checking nodes that came from elsewhere: each must fit its op, and its inputs each other.

Nodes that were built here need no check: they could not have been made otherwise. A graph from
another process may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tfdist.base import devices, dtypes
from tfdist.base.names import VALID_NODE
from tfdist.errors import InvalidArgumentError
from tfdist.graph.functions import MOST_TENSORS
from tfdist.graph.op_def import ShapeRule
from tfdist.graph.records import FUSED, Node
from tfdist.graph.signatures import walk_args
from tfdist.plan.attributes import check_attrs
from tfdist.plan.lower import LOOP
from tfdist.plan.step_plan import output_types


def check(nodes: Iterable[Node], graph: Mapping[str, Node]) -> None:
    """Raise InvalidArgumentError, which names the node, if one of `nodes` cannot be run.

    Args:
      nodes: to be checked.
      graph: all nodes that their inputs may come from, by name.
    """
    nodes = tuple(nodes)
    for rule in (_check_name, _check_op, _check_device, _check_attrs):
        for node in nodes:
            _apply(rule, node)
    for node in nodes:
        _apply(lambda each: _check_inputs(each, graph), node)


def _apply(rule: ShapeRule, node: Node) -> None:
    try:
        rule(node)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"node {node.name!r} ({node.op}): {error}").at_node(
            node.name, ""
        ) from None


def _check_name(node: Node) -> None:
    if not VALID_NODE.match(node.name.removeprefix("_")):
        raise ValueError("this is no name for a node")


def _check_op(node: Node) -> None:
    if node.op in (LOOP, FUSED):
        raise ValueError("this op is for compilers only: no graph holds it")


def _check_device(node: Node) -> None:
    devices.parse(node.device)


def _check_attrs(node: Node) -> None:
    check_attrs(node)
    count = sum([arg.count(node.attrs) for arg in node.op_def.signature.outputs])
    if not 0 <= count <= MOST_TENSORS:
        raise ValueError(f"it gives {count} tensors; a node has {MOST_TENSORS} outputs at most")
    groups = node.attrs.get("_class", [])
    if not (isinstance(groups, list) and all(isinstance(each, bytes) for each in groups)):
        raise TypeError(f"attribute '_class' is {groups!r}, no list of strings")
    value = node.attrs.get("value")
    if node.op == "Const" and isinstance(value, np.ndarray):
        wanted = node.attrs["dtype"]
        if dtypes.as_dtype(value.dtype) != wanted:
            raise ValueError(f"its value is {value.dtype}, but it is declared {wanted.name}")


def _check_inputs(node: Node, graph: Mapping[str, Node]) -> None:
    signature = node.op_def.signature
    count = sum([arg.count(node.attrs) for arg in signature.inputs])
    if count != len(node.inputs):
        raise ValueError(f"it takes {count} inputs, but has {len(node.inputs)}")
    wanted = [dtype for _, dtype in walk_args(signature.inputs, node.attrs)]
    for dtype, (name, port) in zip(wanted, node.inputs, strict=True):
        outputs = output_types(graph[name])
        if port >= len(outputs):
            raise ValueError(f"it takes {name}:{port}, but {name!r} has {len(outputs)} outputs")
        given = outputs[port] if dtype.is_ref else outputs[port].base_dtype  # may be read
        if dtype != given:
            raise ValueError(
                f"it takes {dtype.name}, but its input {name}:{port} is {outputs[port].name}"
            )
