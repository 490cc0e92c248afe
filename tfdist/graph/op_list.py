"""Ops' signatures as TensorFlow's messages: what a MetaGraph tells of the ops that it uses.

Source: TF 1.15 API, tensorflow/core/framework/op_def.proto.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from tfdist.base.aliases import AttrValue
from tfdist.graph.function_def import fill_arg
from tfdist.graph.op_def import REGISTRY, lookup
from tfdist.graph.signatures import Attr
from tfdist.graph.tensor_proto import attr_to_proto
from tfdist.protos import pb


def op_to_proto(name: str) -> pb.OpDef:
    """Return the OpDef message of an op, without prose; NotFoundError if there is none."""
    signature = lookup(name).signature
    proto = pb.OpDef(name=name, is_stateful=signature.stateful)
    for arg in signature.inputs:
        fill_arg(proto.input_arg.add(name=arg.name), arg)
    for arg in signature.outputs:
        fill_arg(proto.output_arg.add(name=arg.name), arg)
    proto.attr.extend(map(_attr_to_proto, signature.attrs.values()))
    return proto


def _attr_to_proto(attr: Attr) -> pb.Message:
    proto: pb.Message = pb.OpDef.AttrDef(name=attr.name, type=attr.type)
    if attr.has_default:
        proto.default_value.CopyFrom(attr_to_proto(attr.default))
    if attr.allowed:
        proto.allowed_values.CopyFrom(attr_to_proto(list(attr.allowed)))
    if attr.minimum is not None:
        proto.has_minimum, proto.minimum = True, attr.minimum
    return proto


def used_ops(graph_def: pb.GraphDef) -> pb.OpList:
    """Return the OpList of the ops that a GraphDef uses, those in its functions too."""
    used = {node.op for nodes in _bodies(graph_def) for node in nodes}
    return pb.OpList(op=[op_to_proto(name) for name in sorted(used & REGISTRY.keys())])


def strip_defaults(graph_def: pb.GraphDef) -> None:
    """Take from a GraphDef, in place, the attributes that have the value of their op's default."""
    for nodes in _bodies(graph_def):
        for node in nodes:
            defaults = _defaults(node.op) if node.op in REGISTRY else {}
            for key in [key for key in node.attr if node.attr[key] == defaults.get(key)]:
                del node.attr[key]


def _bodies(graph_def: pb.GraphDef) -> list[Iterable[pb.NodeDef]]:
    """Return the nodes of a graph, and those of each of its functions."""
    return [graph_def.node, *(function.node_def for function in graph_def.library.function)]


@cache
def _defaults(op: str) -> dict[str, AttrValue]:
    attrs = lookup(op).signature.attrs.values()
    return {attr.name: attr_to_proto(attr.default) for attr in attrs if attr.has_default}
