"""Summaries of many tensors at once.

Source: TF 1.15 API documentation, tf.contrib.layers.summarize_tensors and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast, to_float
from tfdist.ops.math.reductions import reduce_mean
from tfdist.ops.summary import summaries
from tfdist.ops.variables.collections import GraphKeys

__all__ = [
    "summarize_activation", "summarize_activations", "summarize_collection", "summarize_tensor",
    "summarize_tensors",
]  # fmt: skip

Summarizer = Callable[[Any], Any]


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """Return a summary of a tensor: its value if it is a scalar, otherwise a histogram.

    Args:
      tensor: what is summarized.
      tag: name of the summary.

    Example:
      >>> contrib.layers.summarize_tensor(constant(1.0, name="rate")).op.type
      'ScalarSummary'
    """
    tag = tag or f"{tensor.op.name}_summary"
    make = summaries.scalar if tensor.get_shape().ndims == 0 else summaries.histogram
    return make(tag, tensor)


def summarize_activation(op: Any) -> Any:
    """Return a histogram of an activation; of relus also how many are 0.

    Example:
      >>> contrib.layers.summarize_activation(nn.relu([1.0])).name
      'Relu/activation:0'
    """
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        before = op.op.inputs[0]
        # what relu makes 0, whatever the type
        is_zero = raw.Less(before, cast(0.0, before.dtype))
        summaries.scalar(f"{op.op.name}/zeros", reduce_mean(to_float(is_zero)))
    return summaries.histogram(f"{op.op.name}/activation", op)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Summarizer = summarize_tensor
) -> list[Any]:
    """Return a summary of each tensor.

    Example:
      >>> len(contrib.layers.summarize_tensors([constant(1.0), constant(2.0)]))
      2
    """
    return [summarizer(each) for each in tensors]


def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Summarizer = summarize_tensor
) -> list[Any]:
    """Return a summary of each tensor of a collection.

    Args:
      collection: its name.
      name_filter: only those whose name fits this regular expression at its start.
      summarizer: function from a tensor to its summary.

    Example:
      >>> contrib.layers.summarize_collection("losses")
      []
    """
    return summarize_tensors(scopes.get_collection(collection, name_filter), summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Summarizer = summarize_activation
) -> list[Any]:
    """Return a summary of each tensor in the collection ACTIVATIONS.

    Example:
      >>> contrib.layers.summarize_activations()
      []
    """
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
