"""tf.keras.backend: functions of elements, and over axes.

Source: TF 1.15 API documentation, tf.keras.backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.base import dtypes
from tfdist.keras_impl.activations import elu, hard_sigmoid, relu, softmax
from tfdist.keras_impl.settings import floatx
from tfdist.ops.array.cast import cast
from tfdist.ops.checks.print_assert import Print
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math import composed_reductions, cumulative, elementwise, reductions
from tfdist.ops.math.arithmetic import maximum, minimum, pow
from tfdist.ops.math.clip import clip_by_value
from tfdist.ops.math.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from tfdist.ops.math.elementwise import abs, cos, exp, log, round, sigmoid, sign, sin, square, tanh
from tfdist.ops.math.top_k import argmax as greatest_at
from tfdist.ops.math.top_k import argmin as least_at
from tfdist.ops.math.top_k import in_top_k as among_first
from tfdist.ops.nn import functions as nn
from tfdist.ops.nn.normalization import l2_normalize as normalized

__all__ = [
    "abs",
    "all",
    "any",
    "argmax",
    "argmin",
    "batch_normalization",
    "clip",
    "cos",
    "cumprod",
    "cumsum",
    "elu",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "in_top_k",
    "l2_normalize",
    "less",
    "less_equal",
    "log",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "normalize_batch_in_training",
    "not_equal",
    "pow",
    "print_tensor",
    "prod",
    "relu",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "square",
    "std",
    "sum",
    "tanh",
    "var",
]  # fmt: skip


def _reduction(name: str, reduce: Any, what: str, prepare: Callable[[Any], Any], found: Any) -> Any:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(prepare(x), axis, keepdims)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = f"""Return {what} of a tensor.

    Args:
      x: a tensor.
      axis: over which, or several; None for all.
      keepdims: whether these axes stay, with size 1.

    Example:
      >>> keras.backend.eval(keras.backend.{name}(keras.backend.constant([1.0, 3.0])))
      {found}
    """
    return function


def _same(x: Any) -> Any:
    return x


def _as_floats(x: Any) -> Any:
    return cast(x, floatx()) if x.dtype.base_dtype is dtypes.bool_ else x


def _as_bools(x: Any) -> Any:
    return cast(x, dtypes.bool_)


sum = _reduction("sum", reductions.reduce_sum, "the sum", _same, "np.float32(4.0)")
prod = _reduction("prod", reductions.reduce_prod, "the product", _same, "np.float32(3.0)")
max = _reduction("max", reductions.reduce_max, "the greatest element", _same, "np.float32(3.0)")
min = _reduction("min", reductions.reduce_min, "the least element", _same, "np.float32(1.0)")
mean = _reduction("mean", reductions.reduce_mean, "the mean", _as_floats, "np.float32(2.0)")
var = _reduction(
    "var", composed_reductions.reduce_variance, "the variance", _as_floats, "np.float32(1.0)"
)
std = _reduction(
    "std", composed_reductions.reduce_std, "the standard deviation", _as_floats, "np.float32(1.0)"
)
all = _reduction("all", reductions.reduce_all, "whether all are true", _as_bools, "np.True_")
any = _reduction("any", reductions.reduce_any, "whether any is true", _as_bools, "np.True_")


def argmax(x: Any, axis: int = -1) -> Any:
    """Return where the greatest element is, along an axis."""
    return greatest_at(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Return where the least element is, along an axis."""
    return least_at(x, axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Return the sums so far, along an axis."""
    return cumulative.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Return the products so far, along an axis."""
    return cumulative.cumprod(x, axis)


def sqrt(x: Any) -> Any:
    """Return the square root; 0 for what is negative.

    Example:
      >>> keras.backend.eval(keras.backend.sqrt(keras.backend.constant([4.0, -4.0])))
      array([2., 0.], dtype=float32)
    """
    return elementwise.sqrt(clip_by_value(x, 0.0, float("inf")))


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Return x with what is below a value, or above another, set to it.

    Example:
      >>> keras.backend.eval(keras.backend.clip(keras.backend.constant([1.0, 5.0]), 2.0, 4.0))
      array([2., 4.], dtype=float32)
    """
    if isinstance(max_value, int | float) and max_value < min_value:
        max_value = min_value
    return clip_by_value(x, min_value, float("inf") if max_value is None else max_value)


def softplus(x: Any) -> Any:
    """Return log(exp(x) + 1)."""
    return nn.softplus(x)


def softsign(x: Any) -> Any:
    """Return x / (|x| + 1)."""
    return nn.softsign(x)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Return x scaled to norm 1 along an axis."""
    return normalized(x, axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Return whether each row's target is among its `k` greatest predictions."""
    return among_first(predictions, targets, k)


def print_tensor(x: Any, message: str = "") -> Any:
    """Return x, which is printed with a message whenever it is computed."""
    return Print(x, [x], message)


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """Return gamma * (x - mean) / sqrt(var + epsilon) + beta."""
    return nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """Return x normalized by its own mean and variance, and those."""
    mean, variance = nn.moments(x, list(reduction_axes), keep_dims=True)
    normed = nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
    return normed, identity(mean), identity(variance)
