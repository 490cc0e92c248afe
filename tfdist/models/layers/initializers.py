"""Initializers of tf.contrib.layers.

Source: TF 1.15 API documentation, tf.contrib.layers.variance_scaling_initializer; Glorot and Bengio
2010; He et al. 2015, arXiv 1502.01852.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.base.tensor_shape import as_shape
from tfdist.ops.random.random_ops import random_uniform, truncated_normal

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = dtypes.float32,
) -> Callable[..., Any]:
    """Return an initializer of random numbers with variance factor / (size of the layer).

    Args:
      factor: of the variance.
      mode: which size: "FAN_IN" (inputs), "FAN_OUT" (outputs), "FAN_AVG" (their mean).
      uniform: whether numbers are equally likely in a range; otherwise truncated normal.
      seed: of the op.
      dtype: of the values, a float.

    Raises:
      TypeError: the dtype is no float, or the mode is unknown.

    Example:
      >>> values = Session().run(contrib.layers.variance_scaling_initializer()([400, 300]))
      >>> (values.var() * 400).round(1)
      np.float32(2.0)
    """
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} {list(_MODES)}")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        sizes = [int(size) for size in as_shape(shape) or ()]  # type: ignore[arg-type]
        variance = factor / max(1.0, _size(sizes, mode))
        if uniform:
            limit = math.sqrt(3.0 * variance)
            return random_uniform(sizes, -limit, limit, dtype, seed)
        # cutting at two deviations makes them narrower; the factor is that of the original
        return truncated_normal(sizes, 0.0, math.sqrt(1.3 * variance), dtype, seed)

    return initializer


def _size(sizes: list[int], mode: str) -> float:
    """Return the number of inputs, of outputs, or their mean, of a layer with such weights."""
    inputs = float(sizes[-2] if len(sizes) > 1 else sizes[-1] if sizes else 1)
    outputs = float(sizes[-1]) if sizes else 1.0
    field = float(math.prod(sizes[:-2]))
    found = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}
    return found[mode] * field


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Any]:
    """Return the initializer that keeps the scale of gradients about equal in all layers.

    The arguments are those of `variance_scaling_initializer`.

    Example:
      >>> values = Session().run(contrib.layers.xavier_initializer()([400, 200]))
      >>> (values.var() * 300).round(1)
      np.float32(1.0)
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer
