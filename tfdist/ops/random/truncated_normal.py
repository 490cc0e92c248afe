"""Normal distributions that are cut off anywhere.

Source: C. P. Robert, Simulation of truncated normal variables, Statistics and Computing 5 (1995).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfdist.base import dtypes, philox, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.shared_values import refine
from tfdist.ops.random.random_ops import dims_of, seed_attrs
from tfdist.ops.random.random_sampling import reserved
from tfdist.ops.random.stateless_ops import spelled_shape

__all__: list[str] = []

PARAMETERIZED_TRUNCATED_NORMAL = OpDef(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, "
    "maxvals: dtype) -> output: dtype [seed: int = 0; seed2: int = 0; dtype: type {floating}; "
    "T: type {index}] !"
).not_differentiable()
_WIDE = np.sqrt(2 * np.pi)  # an interval around 0 that normal numbers hit often enough


@PARAMETERIZED_TRUNCATED_NORMAL.shape
def parameterized_truncated_normal_shape(
    shape: Shape, means: Shape, stdevs: Shape, minvals: Shape, maxvals: Shape, *, shape_partial: Any
) -> Shape:
    return spelled_shape(shape, shape_partial=shape_partial)


@PARAMETERIZED_TRUNCATED_NORMAL.kernel
def parameterized_truncated_normal_kernel(
    ctx: Any, shape: Any, means: Any, stdevs: Any, minvals: Any, maxvals: Any, *,
    seed: int, seed2: int, dtype: DType,
) -> Any:  # fmt: skip
    size = shapes.from_sizes(shape)
    check_room(size, np.float64)
    given = {"means": means, "stddevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    mean, stddev, low, high = (_of_rows(size, *each) for each in given.items())
    if not ((stddev > 0) & (low < high) & np.isfinite(mean)).all():
        raise InvalidArgumentError("Invalid parameters")
    drawn = _standard(_generator(ctx, seed, seed2, prod(size)), size, (low - mean) / stddev,
                      (high - mean) / stddev)  # fmt: skip
    found = np.clip(mean + stddev * drawn, low, high)
    return np.asarray(found).astype(dtype.as_numpy_dtype)


def _of_rows(size: tuple[int, ...], what: str, values: Any) -> Any:
    """Return float64 values, one for each row, or one for all, that broadcast to `size`."""
    if np.ndim(values) > 1:
        raise InvalidArgumentError(f"Input {what} should be a scalar or vector, got shape: "
                                   f"{list(np.shape(values))}")  # fmt: skip
    flat = np.asarray(values, np.float64).reshape(-1)
    if len(flat) != 1 and (not size or len(flat) != size[0]):
        raise InvalidArgumentError(
            f"Input {what} should have length 1 or shape[0], got shape: {list(np.shape(values))}"
        )
    return flat.reshape(-1, *[1] * (len(size) - 1)) if size else flat.reshape(())


def _generator(ctx: Any, seed: int, seed2: int, count: int) -> Any:
    """Return what one run of a node draws by, the same for the same seeds."""
    if not (seed or seed2):
        return ctx.rng(seed, seed2)
    return np.random.default_rng(philox.words(reserved(ctx, seed, seed2, count), 4))


def _standard(rng: Any, size: tuple[int, ...], low: Any, high: Any) -> Any:
    """Return numbers of the standard distribution between bounds, which broadcast to `size`."""
    low, high = (np.broadcast_to(each, size).reshape(-1) for each in (low, high))
    is_turned = low + high < 0  # then the other tail is the longer one
    low, high = np.where(is_turned, -high, low), np.where(is_turned, -low, high)
    found, left = np.empty(len(low)), np.arange(len(low))
    while len(left):
        drawn, is_good = _proposed(rng, low[left], high[left])
        found[left[is_good]] = drawn[is_good]
        left = left[~is_good]
    return np.where(is_turned, -found, found).reshape(size)


def _proposed(rng: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return a number for each pair of bounds, of which the greater is above 0, and if it counts.

    It is normal where that hits often; else exponential in a tail, even in a short interval.
    """
    rate = (low + np.sqrt(low * low + 4)) / 2
    is_normal = (low <= 0) & (high - low >= _WIDE)
    is_tail = ~is_normal & (low > 0) & (high - low > 1 / rate)
    with np.errstate(invalid="ignore", over="ignore"):  # of those that are not chosen
        tail = low + rng.standard_exponential(len(low)) / rate
        even = low + rng.random(len(low)) * (np.where(is_normal | is_tail, low, high) - low)
        drawn = np.select([is_normal, is_tail], [rng.standard_normal(len(low)), tail], even)
        nearest = np.maximum(low, 0)
        logs = np.select([is_normal, is_tail], [0.0, -((drawn - rate) ** 2) / 2],
                         (nearest**2 - drawn**2) / 2)  # fmt: skip
        counts = np.log(rng.random(len(low))) <= logs
    return drawn, counts & (low <= drawn) & (drawn <= high)


def parameterized_truncated_normal(
    shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0,
    dtype: Any = dtypes.float32, seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from normal distributions that are cut off at given values.

    The same seeds give the same numbers, which are not those that TensorFlow draws.

    Args:
      shape: integers [rank].
      means: of the distributions before they are cut: a scalar, or [shape[0]].
      stddevs: their standard deviations, in the same form.
      minvals: least values, in the same form.
      maxvals: greatest values, in the same form.
      dtype: a float type.
      seed: of this op; see `set_random_seed`.
      name: of the node.

    Raises:
      InvalidArgumentError: a standard deviation is not above 0, a least value not below the
        greatest, or their numbers do not fit (when it runs).

    Example:
      >>> found = Session().run(parameterized_truncated_normal([100], 0.0, 1.0, 5.0, 6.0))
      >>> 5 <= found.min() <= found.max() <= 6
      np.True_
    """
    parameters = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with scopes.name_scope(name, "parameterized_truncated_normal", [shape, *parameters.values()]):
        dims = dims_of(shape)
        given = [convert.convert_to_tensor(v, dtype, name=n) for n, v in parameters.items()]
        return refine(raw.ParameterizedTruncatedNormal(dims, *given, **seed_attrs(seed)), dims)
