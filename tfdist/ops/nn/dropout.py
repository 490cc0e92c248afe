"""Dropout: some elements become 0, by chance."""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import as_shape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.autodiff.gradient_utils import shape_of
from tfdist.ops.random.random_ops import random_uniform

__all__ = ["dropout"]


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Return `x` with some elements set to 0, the others divided by the chance of staying.

    Args:
      x: float tensor, or anything that converts to one.
      keep_prob: chance of an element to stay, in (0, 1].
      noise_shape: shape of the choice, which broadcasts to that of x; by default the same. None
        stands for a dimension of x.
      seed: for the choice; see `set_random_seed`.
      name: of the nodes' scope.
      rate: 1 - keep_prob, its new spelling.

    Raises:
      ValueError: the chance is not in range, or is not given.

    Example:
      >>> Session().run(nn.dropout([1.0, 2.0], keep_prob=1.0))
      array([1., 2.], dtype=float32)
    """
    rate = _rate(keep_prob, rate)
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{x.dtype!r} tensor instead."
            )
        if isinstance(rate, int | float) and rate == 0:
            return x
        dtype = x.dtype.base_dtype
        rate = convert_to_tensor(rate, dtype, "rate")
        rate.shape.assert_has_rank(0)
        shape = shape_of(x) if noise_shape is None else _filled(noise_shape, x)
        chance = random_uniform(shape, seed=seed, dtype=dtype)
        factor = raw.RealDiv(1.0, raw.Sub(1.0, rate, name="sub"), name="truediv")
        stays = raw.GreaterEqual(chance, rate)
        scaled = raw.Mul(x, factor, name="mul")
        tensor: Tensor = raw.Mul(scaled, raw.Cast(stays, DstT=dtype), name="mul")
        tensor.set_shape(x.plain_shape)
        return tensor


def _rate(keep_prob: Any, rate: Any) -> Any:
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate': dropout takes either of them")
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout: rate= or keep_prob=")
    if rate is None:
        rate = 1 - keep_prob
    if isinstance(rate, int | float) and not 0 <= rate < 1:
        raise ValueError(
            f"rate must be a scalar tensor or a float in the range [0, 1), got {rate} "
            "(rate is 1 - keep_prob)"
        )
    return rate


def _filled(noise_shape: Any, x: Tensor) -> Any:
    """Return the shape with the dimensions of x where it has None."""
    if isinstance(noise_shape, Tensor) or any(isinstance(each, Tensor) for each in noise_shape):
        return noise_shape
    wanted, own = as_shape(noise_shape), x.plain_shape
    if wanted is None or own is None or None not in wanted or len(wanted) != len(own):
        return noise_shape
    return [size if dim is None else dim for dim, size in zip(wanted, own, strict=True)]
