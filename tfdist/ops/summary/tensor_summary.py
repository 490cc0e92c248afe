"""Summaries of whole tensors, which plugins of TensorBoard show: texts among them.

Source: TF 1.15 API documentation, tf.summary.text, tf.summary.tensor_summary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.tensor_proto import with_content
from tfdist.ops.framework.shared_values import as_elements
from tfdist.ops.summary.summaries import SUMMARIES, collect, summary_scope, summary_shape, tag_text
from tfdist.protos import pb

TENSOR_SUMMARY = OpDef(
    "TensorSummary(tensor: T) -> summary: string [T: type; description: string = ''; "
    "labels: list(string) = []; display_name: string = '']"
).not_differentiable()
TENSOR_SUMMARY_V2 = OpDef(
    "TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) "
    "-> summary: string [T: type]"
).not_differentiable()
TENSOR_SUMMARY.shape(summary_shape)
TENSOR_SUMMARY_V2.shape(summary_shape)


@TENSOR_SUMMARY.kernel
def tensor_summary_kernel(ctx: Any, tensor: Any) -> bytes:
    return _serialized(node_name=ctx.node_name, tensor=with_content(as_elements(tensor)))


@TENSOR_SUMMARY_V2.kernel
def tensor_summary_v2_kernel(tag: Any, tensor: Any, serialized_summary_metadata: Any) -> bytes:
    text = tag_text(tag, "tag must be scalar")
    if np.shape(serialized_summary_metadata):
        raise InvalidArgumentError("serialized_summary_metadata must be scalar")
    try:
        data = as_elements(serialized_summary_metadata)[()]
        metadata = pb.parse(pb.SummaryMetadata, data)
    except ValueError:  # a plugin's matter: TensorFlow writes none then
        metadata = pb.SummaryMetadata()
    return _serialized(tag=text, tensor=with_content(as_elements(tensor)), metadata=metadata)


def _serialized(**fields: Any) -> bytes:
    summary: bytes = pb.Summary(value=[pb.Summary.Value(**fields)]).SerializeToString()
    return summary


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Iterable[Any] | None = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Return a string []: a serialized Summary with a tensor, for a plugin of TensorBoard.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: of any type and shape.
      summary_description: what it is, in Markdown.
      collections: to which it is added; SUMMARIES by default.
      summary_metadata: SummaryMetadata, which names the plugin.
      family: group of tags that it stands in.
      display_name: under which it is shown, instead of its tag.

    Example:
      >>> [made] = pb.Summary.FromString(Session().run(tensor_summary("x", [1, 2]))).value
      >>> make_ndarray(made.tensor)
      array([1, 2], dtype=int32)
    """
    metadata = pb.SummaryMetadata()
    if summary_metadata is not None:
        metadata.MergeFrom(pb.reparse(summary_metadata))
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, [tensor]) as (tag, scope):
        data = metadata.SerializeToString()
        summary = raw.TensorSummaryV2(tag, tensor, data, name=scope)
    return collect(summary, collections, SUMMARIES)


def text(name: str, tensor: Any, collections: Iterable[Any] | None = None) -> Tensor:
    """Return a string []: a serialized Summary of texts, which TensorBoard shows as Markdown.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: string; one of rank 2 is shown as a table.
      collections: to which it is added; SUMMARIES by default.

    Raises:
      ValueError: the tensor has another type.

    Example:
      >>> [made] = pb.Summary.FromString(Session().run(text("greeting", "*hello*"))).value
      >>> made.tag, made.metadata.plugin_data.plugin_name
      ('greeting', 'text')
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype is not dtypes.string:
        raise ValueError(
            f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype!r}"
        )
    plugin = pb.SummaryMetadata.PluginData(plugin_name="text")
    metadata = pb.SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def get_summary_description(node_def: Any) -> Any:
    """Return the SummaryDescription of a TensorSummary node.

    Args:
      node_def: NodeDef.

    Raises:
      ValueError: it is another node.

    Example:
      >>> summary = raw_ops.TensorSummary(tensor=1.0, description='{"type_hint": "label"}')
      >>> get_summary_description(summary.op.node_def).type_hint
      'label'
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return pb.from_json(pb.SummaryDescription, node_def.attr["description"].s)


def all_v2_summary_ops() -> list[Any]:
    """Return the nodes of `tf.contrib.summary`, which is not here: none.

    Example:
      >>> all_v2_summary_ops()
      []
    """
    return []
