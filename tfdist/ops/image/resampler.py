"""tf.contrib.resampler: images looked at in any places, by bilinear interpolation.

Source: TF 1.15 API documentation, tf.contrib.resampler.resampler.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope

__all__: list[str] = []  # tf.contrib.resampler has its name

_TYPES = "[T: type {floating}]"
RESAMPLER = OpDef(f"Resampler(data: T, warp: T) -> output: T {_TYPES}")
RESAMPLER_GRAD = OpDef(
    f"ResamplerGrad(data: T, warp: T, grad_output: T) -> grad_data: T, grad_warp: T {_TYPES}"
).not_differentiable()


@RESAMPLER.shape
def resampler_shape(data: Shape, warp: Shape) -> Shape:
    shapes.require_rank(data, "data", 4)
    if data is None or warp is None:
        return None
    return (*warp[:-1], data[3])


@RESAMPLER_GRAD.shape
def resampler_grad_shape(data: Shape, warp: Shape, grad_output: Shape) -> list[Shape]:
    return [data, warp]


def _check(data: Any, warp: Any) -> None:
    if data.ndim != 4 or warp.ndim < 2 or warp.shape[-1] != 2 or len(warp) != len(data):
        raise InvalidArgumentError(
            "data must be [batch, height, width, channels] and warp [batch, ..., 2]; got "
            f"{list(data.shape)} and {list(warp.shape)}"
        )


def _corners(data: Any, x: Any, y: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (places, weights, slopes of the weights) of the four pixels around each place.

    Places are (batch, row, column), weights 0 for pixels beyond the edges; slopes are those along
    x and y.
    """
    batch, height, width = data.shape[:3]
    number = np.broadcast_to(np.arange(batch).reshape(-1, *[1] * (x.ndim - 1)), x.shape)
    left, top = np.floor(x), np.floor(y)
    for dx in (0, 1):
        for dy in (0, 1):
            column, row = left + dx, top + dy
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            along_x = (x - left) if dx else 1 - (x - left)
            along_y = (y - top) if dy else 1 - (y - top)
            places = number, *(np.where(inside, at, 0).astype(np.intp) for at in (row, column))
            slopes = (2 * dx - 1) * along_y * inside, (2 * dy - 1) * along_x * inside
            yield places, along_x * along_y * inside, slopes


@RESAMPLER.kernel
def resampler_kernel(data: Any, warp: Any) -> Any:
    _check(data, warp)
    corners = _corners(data, warp[..., 0], warp[..., 1])
    total = sum(data[places] * weight[..., None] for places, weight, _ in corners)
    return np.asarray(total, data.dtype)


@RESAMPLER_GRAD.kernel
def resampler_grad_kernel(data: Any, warp: Any, grad_output: Any) -> Any:
    _check(data, warp)
    d_data, d_warp = np.zeros_like(data), np.zeros_like(warp)
    for places, weight, slopes in _corners(data, warp[..., 0], warp[..., 1]):
        np.add.at(d_data, places, (grad_output * weight[..., None]).astype(data.dtype))
        pull = (data[places] * grad_output).sum(-1)
        for axis, slope in enumerate(slopes):
            d_warp[..., axis] += (pull * slope).astype(warp.dtype)
    return d_data, d_warp


@RESAMPLER.gradient
def resampler_gradient(op: Any, d_output: Any) -> Any:
    return raw.ResamplerGrad(*op.inputs, d_output)


def resampler(data: Any, warp: Any, name: str = "resampler") -> Tensor:
    """Return `data` in the places that `warp` tells, between four pixels each.

    Args:
      data: float [batch, height, width, channels].
      warp: of the same type, [batch, ..., 2]: x (along the width) and y of each place. Beyond the
        edges all pixels are 0.
      name: prefix for the nodes.

    Returns:
      [batch, ..., channels].

    Example:
      >>> image = constant([[[[0.0], [1.0]], [[2.0], [3.0]]]])
      >>> Session().run(contrib.resampler.resampler(image, constant([[[0.5, 1.0]]])))
      array([[[2.5]]], dtype=float32)
    """
    with name_scope(name, "resampler", [data, warp]):
        data = convert_to_tensor(data, name="data")
        warp = convert_to_tensor(warp, name="warp")
        return RESAMPLER(data, warp)  # type: ignore[no-any-return]
