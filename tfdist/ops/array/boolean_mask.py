"""Slices where a mask is true: boolean_mask."""

from __future__ import annotations

from math import prod
from typing import Any

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.gather import gather
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape

__all__ = ["boolean_mask"]


def boolean_mask(
    tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """Return the slices of `tensor` where `mask` is true.

    Args:
      tensor: [d0, ..., dn].
      mask: bools, of the shape of some axes of `tensor`; its rank must be known.
      name: prefix for the nodes.
      axis: the first of those axes, by default 0.

    Returns:
      `tensor` with those axes replaced by one, as long as `mask` has true elements.

    Raises:
      ValueError: the shapes do not fit, or `mask` is a scalar.

    Example:
      >>> Session().run(boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
      array([[1, 2],
             [5, 6]], dtype=int32)
    """
    at = axis or 0
    with scopes.name_scope(name, None, [tensor, mask]):
        tensor = convert.convert_to_tensor(tensor, name="tensor")
        mask = convert.convert_to_tensor(mask, "bool", name="mask")
        depth = _checked_depth(tensor.plain_shape, mask.plain_shape, at)
        rows = _joined_axes(tensor, at, depth)
        found = raw.Squeeze(raw.Where(reshape(mask, [-1])), squeeze_dims=[1])
        return gather(rows, found, axis=at)


def _checked_depth(dims: Shape, mask: Shape, axis: int) -> int:
    """Return the rank of `mask`; ValueError unless it fits the axes of `dims` from `axis` on."""
    if mask is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. "
            "shape=[None] is ok, but shape=None is not."
        )
    if not mask:
        raise ValueError("mask cannot be scalar.")
    part = None if dims is None else dims[axis : axis + len(mask)]
    if not shapes.compatible(part, mask):
        raise ValueError(
            f"Shapes {shapes.show(part)} and {shapes.show(mask)} are incompatible: the mask's and "
            f"that from axis {axis} on of a tensor of shape {shapes.show(dims)}"
        )
    return len(mask)


def _joined_axes(tensor: Tensor, axis: int, depth: int) -> Tensor:
    """Return `tensor` with `depth` axes from `axis` on made into one."""
    joined = raw.Prod(_dims(tensor)[axis : axis + depth], [0])
    before, after = _dims(tensor)[:axis], _dims(tensor)[axis + depth :]
    middle = raw.Pack([joined], name="concat/values_1")
    rows: Tensor = reshape(tensor, raw.ConcatV2([before, middle, after], 0, name="concat"))
    known = tensor.plain_shape
    if known is not None:
        part = known[axis : axis + depth]
        size = None if None in part else prod(part)  # type: ignore[arg-type]
        rows.set_shape([*known[:axis], size, *known[axis + depth :]])
    return rows


def _dims(tensor: Tensor) -> Any:
    return shape(tensor)  # a node of its own each time, as in TensorFlow
