"""tensorflow.python.tools' optimize_for_inference_lib and strip_unused_lib: smaller frozen graphs.

Source: TF 1.15 API documentation, the modules' functions; what becomes of nodes by experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.graph.tensor_proto import make_ndarray, make_tensor_proto
from tfdist.protos import pb
from tfdist.session.graph_util import extract_sub_graph, remove_training_nodes

__all__ = ["fold_batch_norms", "optimize_for_inference", "strip_unused"]

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_FUSED = dict.fromkeys(
    ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    ("scale", "offset", "mean", "variance"),
)
# Op that normalizes -> what its inputs after the first are.
_NORMS = _FUSED | {"BatchNormWithGlobalNormalization": ("mean", "variance", "offset", "scale")}


def optimize_for_inference(
    input_graph_def: pb.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> pb.GraphDef:
    """Return a frozen graph without what inference does not need.

    Nodes before the inputs and beside the outputs go, training nodes too, and normalizations by
    constants become part of the convolutions before them.

    Args:
      input_graph_def: a GraphDef whose variables are constants.
      input_node_names: names of the nodes that become placeholders.
      output_node_names: names of the nodes that stay what they are.
      placeholder_type_enum: DataType of the placeholders, or a list with one for each.
      toco_compatible: taken and not needed: no op stands here for several others.

    Raises:
      KeyError: there is no node of such a name.
      ValueError: two nodes have one name.
    """
    _by_name(input_graph_def)
    graph = strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    graph = fold_batch_norms(remove_training_nodes(graph, output_node_names))
    return extract_sub_graph(graph, list(output_node_names))


def strip_unused(
    input_graph_def: pb.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> pb.GraphDef:
    """Return the nodes between some, which become placeholders, and those that need them.

    The arguments and errors are those of `optimize_for_inference`.
    """
    nodes = _by_name(input_graph_def)
    for name in (*input_node_names, *output_node_names):
        if name not in nodes:
            raise KeyError(f"The following input nodes were not found: {{{name!r}}}")
    kinds = placeholder_type_enum
    types = kinds if isinstance(kinds, list) else [kinds] * len(input_node_names)
    fed = dict(zip(input_node_names, types, strict=True))
    kept = [_placeholder(node, fed) for node in input_graph_def.node]
    return extract_sub_graph(pb.GraphDef(node=kept), list(output_node_names))


def _placeholder(node: pb.NodeDef, fed: Mapping[str, int]) -> pb.NodeDef:
    if node.name not in fed:
        return node
    made = pb.NodeDef(name=node.name, op="Placeholder")
    made.attr["dtype"].type = fed[node.name]
    if "_output_shapes" in node.attr:
        made.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
    if node.op == "Placeholder" and "shape" in node.attr:
        made.attr["shape"].CopyFrom(node.attr["shape"])
    return made


def fold_batch_norms(input_graph_def: pb.GraphDef) -> pb.GraphDef:
    """Return a graph where convolutions have the scale of the constant normalization after them.

    Its offset is added by a BiasAdd, which has the normalization's name.

    Args:
      input_graph_def: a GraphDef whose variables are constants.

    Raises:
      ValueError: two nodes have one name.
    """
    nodes = _by_name(input_graph_def)
    users: dict[str, int] = {}
    for node in input_graph_def.node:
        for text in node.input:
            users[_name(text)] = users.get(_name(text), 0) + 1
    made: dict[str, list[pb.NodeDef]] = {}
    for node in input_graph_def.node:
        if node.op in _NORMS and (found := _folded(node, nodes, users)):
            made |= found
    kept = [each for node in input_graph_def.node for each in made.get(node.name, [node])]
    return pb.GraphDef(
        node=kept, library=input_graph_def.library, versions=input_graph_def.versions
    )


def _folded(
    norm: pb.NodeDef, nodes: Mapping[str, pb.NodeDef], users: Mapping[str, int]
) -> dict[str, list[pb.NodeDef]] | None:
    """Return {name: what stands there} of a normalization and its convolution; None if neither."""
    convolution = nodes[_name(norm.input[0])]
    is_training = norm.op in _FUSED and norm.attr["is_training"].b
    if convolution.op not in _CONVOLUTIONS or is_training or users[convolution.name] > 1:
        return None
    values = [_constant(nodes, text) for text in (convolution.input[1], *norm.input[1:5])]
    if any(value is None for value in values):
        return None
    weights, parts = values[0], dict(zip(_NORMS[norm.op], values[1:], strict=True))
    scale, offset = _scale_and_offset(norm, parts)
    if convolution.op == "DepthwiseConv2dNative":
        scale = scale.reshape(weights.shape[2:])
    scaled = _const_node(f"{convolution.name}_weights", (weights * scale).astype(weights.dtype))
    bias = _const_node(f"{convolution.name}_bn_offset", offset.astype(weights.dtype))
    new = pb.NodeDef()
    new.CopyFrom(convolution)
    new.input[1] = scaled.name
    add = pb.NodeDef(name=norm.name, op="BiasAdd", input=[new.name, bias.name])
    add.attr["T"].CopyFrom(convolution.attr["T"])
    if "data_format" in convolution.attr:
        add.attr["data_format"].CopyFrom(convolution.attr["data_format"])
    return {convolution.name: [scaled, new], norm.name: [bias, add]}


def _scale_and_offset(norm: pb.NodeDef, parts: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what a normalization multiplies by, and what it adds to that; both [channels]."""
    is_fused = norm.op in _FUSED
    epsilon = norm.attr["epsilon" if is_fused else "variance_epsilon"].f
    scale = 1 / np.sqrt(parts["variance"] + epsilon)
    if is_fused or norm.attr["scale_after_normalization"].b:
        scale = scale * parts["scale"]
    return scale, parts["offset"] - parts["mean"] * scale


def _constant(nodes: Mapping[str, pb.NodeDef], text: str) -> Any:
    """Return the array that an input has always; None if it is not known."""
    node = nodes[_name(text)]
    while node.op == "Identity":
        node = nodes[_name(node.input[0])]
    return make_ndarray(node.attr["value"].tensor) if node.op == "Const" else None


def _const_node(name: str, value: Any) -> pb.NodeDef:
    node = pb.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = make_tensor_proto(value).dtype
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return node


def _name(text: str) -> str:
    """Return the name of the node that an input names."""
    return text.removeprefix("^").partition(":")[0]


def _by_name(graph_def: pb.GraphDef) -> dict[str, pb.NodeDef]:
    nodes = {node.name: node for node in graph_def.node}
    if len(nodes) < len(graph_def.node):
        raise ValueError("Duplicate node names detected.")
    return nodes
