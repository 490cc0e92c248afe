"""Graphs as TensorFlow's GraphDef, and records of its nodes: the same names and conventions.

Source: TF 1.15 API documentation, tf.Graph.as_graph_def.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tfdist.base import names
from tfdist.base.aliases import AttrValue
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph import tensor_proto
from tfdist.graph.function_def import library_from_proto, library_to_proto
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation
from tfdist.graph.records import MERGES, Node, is_back_edge, record
from tfdist.graph.signatures import Signature
from tfdist.protos import pb

# What real TensorFlow 1.15 writes; readers of this producer number expect its conventions.
PRODUCER = 134
# The newest one whose graphs were tried here (TensorFlow 2.21).
NEWEST_PRODUCER = 2474
_KNOWS_FUNCTIONS = 12  # the first version that reads a library of functions


NOTHING: Mapping[str, Any] = {}
# Large attributes that came beside a message, by name of the node and of the attribute.
Values = Mapping[str, Mapping[str, Any]]


def node_to_proto(op: Operation) -> pb.NodeDef:
    """Return an operation as a NodeDef."""
    return record_to_proto(record(op))


def record_to_proto(node: Node) -> pb.NodeDef:
    """Return the NodeDef of a node record."""
    proto = pb.NodeDef()
    fill_node(proto, node)
    return proto


def fill_node(proto: pb.NodeDef, node: Node) -> None:
    """Write a node record into an empty NodeDef: to copy one copies its constant."""
    proto.name, proto.op, proto.device = node.name, node.op, node.device
    proto.input.extend([name if not port else f"{name}:{port}" for name, port in node.inputs])
    proto.input.extend([f"^{name}" for name in node.control])
    for key, value in tensor_proto.said_attrs(node.op, node.attrs).items():
        tensor_proto.fill_attr(proto.attr[key], value)


def records_to_proto(nodes: Iterable[Node]) -> pb.GraphDef:
    """Return the GraphDef of node records."""
    graph_def = pb.GraphDef()
    graph_def.versions.producer = PRODUCER
    for node in nodes:
        fill_node(graph_def.node.add(), node)
    return graph_def


def versions(graph: Graph) -> pb.VersionDef:
    """Return the VersionDef of a graph: ours, or what is left of it after imports."""
    found = pb.VersionDef(producer=PRODUCER)
    if graph._versions is not None:
        found.CopyFrom(graph._versions)
    if graph.library.functions:
        found.min_consumer = max(found.min_consumer, _KNOWS_FUNCTIONS)
    return found


def graph_to_proto(
    graph: Graph, add_shapes: bool = False, from_version: int | None = None
) -> pb.GraphDef:
    """Return the GraphDef of the operations made after `from_version`.

    Args:
      graph: the graph.
      add_shapes: whether nodes get the attribute `_output_shapes`.
      from_version: how many of the first operations to leave out.
    """
    graph_def = pb.GraphDef(versions=versions(graph))
    for op in graph.operations_since(from_version or 0):
        node = graph_def.node.add()
        fill_node(node, record(op))
        if add_shapes and op.outputs:
            known = [output.shape for output in op.outputs]
            tensor_proto.fill_attr(node.attr["_output_shapes"], known)
    if graph.library.functions:
        graph_def.library.CopyFrom(library_to_proto(graph.library))
    return graph_def


def record_from_proto(
    proto: pb.NodeDef, library: Library = NO_FUNCTIONS, values: Mapping[str, AttrValue] = NOTHING
) -> Node:
    """Return the record of a NodeDef, its attributes completed with the op's defaults.

    Args:
      proto: a NodeDef.
      library: functions that its op may be.
      values: attributes that are not in it.

    Raises:
      NotFoundError: no such op.
    """
    inputs = [names.split_tensor_name(text) for text in proto.input if not text.startswith("^")]
    control = [text[1:] for text in proto.input if text.startswith("^")]
    attrs = attrs_from_proto(library.signature(proto.op), proto.attr, values)
    return Node(proto.name, proto.op, tuple(inputs), tuple(control), proto.device, attrs)


def records_from_proto(
    graph_def: pb.GraphDef, whole: bool = True, values: Values = NOTHING
) -> tuple[Node, ...]:
    """Return the records of a GraphDef's nodes, inputs first.

    Args:
      graph_def: of any order.
      whole: whether all inputs must be in it; else they may be in a graph that it extends.
      values: attributes that are not in it.

    Raises:
      NotFoundError: an op is not known here.
      InvalidArgumentError: an input is missing, or a node depends on itself.
    """
    if graph_def.versions.min_consumer > NEWEST_PRODUCER:
        raise InvalidArgumentError(
            f"the graph wants a consumer of version {graph_def.versions.min_consumer} or later; "
            f"this one has version {NEWEST_PRODUCER}"
        )
    library = library_from_proto(graph_def.library)
    nodes = {
        proto.name: _foreign_record(proto, library, values.get(proto.name, NOTHING))
        for proto in graph_def.node
    }
    if len(nodes) != len(graph_def.node):
        raise InvalidArgumentError(f"two nodes have one name: {_first_twice(graph_def.node)!r}")
    needed = {name: {each for each, _ in n.inputs} | {*n.control} for name, n in nodes.items()}
    if whole:
        for name, inputs in needed.items():
            # not `inputs - nodes.keys()`, which walks all nodes
            for missing in [each for each in inputs if each not in nodes]:
                raise InvalidArgumentError(f"node {name!r} takes {missing!r}, which is missing")
    for name, node in nodes.items():
        if node.op in MERGES:
            later = {each for each, _ in node.inputs if is_back_edge(node, nodes.get(each))}
            needed[name] -= later - {*node.control}
    try:
        order = TopologicalSorter(needed).static_order()
        return tuple([nodes[name] for name in order if name in nodes])
    except CycleError as error:
        raise InvalidArgumentError(f"nodes depend on themselves: {error.args[1]}") from None


def _foreign_record(proto: pb.NodeDef, library: Library, values: Mapping[str, AttrValue]) -> Node:
    """Return the record of a NodeDef that may be anything."""
    is_control = [text.startswith("^") for text in proto.input]
    if is_control != sorted(is_control):
        raise InvalidArgumentError(
            f"node {proto.name!r} has a control input before a data input: {list(proto.input)}"
        )
    try:
        node = record_from_proto(proto, library, values)
        tensor_proto.check_names(node.attrs)
        return node
    except (TypeError, ValueError, InvalidArgumentError) as error:
        raise InvalidArgumentError(
            f"node {proto.name!r} ({proto.op}): {getattr(error, 'message', error)}"
        ) from None


def _first_twice(protos: Iterable[pb.NodeDef]) -> str:
    [(name, _)] = Counter(str(proto.name) for proto in protos).most_common(1)
    return name


def attrs_from_proto(
    signature: Signature,
    protos: Mapping[str, pb.AttrValue],
    values: Mapping[str, AttrValue] = NOTHING,
) -> dict[str, AttrValue]:
    """Return plain attributes, completed with defaults; unknown ones are kept as they are.

    Those of a runtime, which begin with "_", say nothing without a value, and are left out then.

    Args:
      signature: of the node's op.
      protos: AttrValues by name.
      values: attributes that are not among them.
    """
    attrs = {key: tensor_proto.attr_from_proto(value) for key, value in protos.items()}
    attrs.update(values)
    attrs = {key: each for key, each in attrs.items() if each is not None or key[:1] != "_"}
    for attr in signature.attrs.values():
        if attr.has_default:
            attrs.setdefault(attr.name, attr.default)
        elif attr.name not in attrs:
            raise NotFoundError(f"a node of {signature.name} lacks its attribute {attr.name!r}")
    return attrs
