"""Summaries: serialized Summary messages, which tools draw over the steps of a program.

Source: TF 1.15 API documentation, tf.summary.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.variables import GraphKeys
from tfdist.protos import pb

SCALAR_SUMMARY = OpDef(
    "ScalarSummary(tags: string, values: T) -> summary: string [T: type {real}]"
).not_differentiable()


@SCALAR_SUMMARY.shape
def scalar_summary_shape(tags: Shape, values: Shape) -> Shape:
    return ()


@SCALAR_SUMMARY.kernel
def scalar_summary_kernel(tags: Any, values: Any) -> Any:
    if np.shape(tags) != np.shape(values):
        raise InvalidArgumentError(
            f"tags and values not the same shape: {list(np.shape(tags))} != "
            f"{list(np.shape(values))}"
        )
    rows = zip(np.ravel(np.asarray(tags, object)), np.ravel(values), strict=True)
    found = [pb.Summary.Value(tag=tag.decode(), simple_value=float(value)) for tag, value in rows]
    return np.array(pb.Summary(value=found).SerializeToString(), object)


def scalar(name: str, tensor: Any, collections: Iterable[Any] | None = None) -> Tensor:
    """Return a string []: a serialized Summary of one number.

    Args:
      name: of the node, and with the scopes around it the tag.
      tensor: real [].
      collections: to which it is added; SUMMARIES by default.
    """
    with scopes.name_scope(name, values=[tensor]) as scope:
        tags = convert_to_tensor(scope.removesuffix("/"), name="tags")
        summary: Tensor = raw.ScalarSummary(tags, tensor, name=scope)
    keys = [GraphKeys.SUMMARIES] if collections is None else collections
    summary.graph.add_to_collections(keys, summary)
    return summary
