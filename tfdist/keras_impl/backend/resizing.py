"""Images enlarged by whole factors, as tf.keras' layers and backend have them."""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose


def resized(inputs: Any, times: Any, channels_first: bool, interpolation: str) -> Any:
    """Return images with `times` as many rows and columns."""
    inputs = convert_to_tensor(inputs)
    if channels_first:
        inputs = transpose(inputs, [0, 2, 3, 1])
    known = inputs.plain_shape
    sizes: Any = shape(inputs)
    wanted = sizes[1:3] * [int(each) for each in times]
    op = raw.ResizeNearestNeighbor if interpolation == "nearest" else raw.ResizeBilinear
    outputs = op(inputs, wanted, half_pixel_centers=True)
    rows, columns = (None if s is None else s * t for s, t in zip(known[1:3], times, strict=True))
    outputs.set_shape([None, rows, columns, None])
    return transpose(outputs, [0, 3, 1, 2]) if channels_first else outputs
