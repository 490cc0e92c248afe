"""Random numbers. Each node draws from a generator of its own, which lives as long as the session.

Two seeds make it repeatable: one of the graph and one of the op. With the same two, TensorFlow 1.x
draws the same numbers; floats of normal distributions may differ in their last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import shape
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.framework.shared_values import refine
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.random.random_sampling import NORMAL, TRUNCATED, UNIFORM, floats, integers, order
from tfdist.ops.random.stateless_ops import spelled_shape

__all__ = [
    "get_seed",
    "random_crop",
    "random_normal",
    "random_shuffle",
    "random_uniform",
    "set_random_seed",
    "truncated_normal",
]

_DEFAULT_GRAPH_SEED = 87654321
_SEED_RANGE = 2**31 - 1


def set_random_seed(seed: int | None) -> None:
    """Make the random ops that are added to the default graph from now on repeatable.

    Args:
      seed: any integer, or None to forget it. Each op gets a second seed, from its place in the
        graph or from its own argument.

    Example: two sessions draw the same numbers.
      >>> set_random_seed(7)
      >>> numbers = random_normal([2])
      >>> (Session().run(numbers) == Session().run(numbers)).all()
      np.True_
    """
    scopes.get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int, int]:
    """Return the two seeds of a random op that is about to be added to the default graph.

    Args:
      op_seed: what the user asked for, or None.

    Returns:
      (seed, seed2); (0, 0) means that every session draws other numbers.

    Example:
      >>> get_seed(5)
      (87654321, 5)
    """
    graph = scopes.get_default_graph()
    graph_seed = graph.seed
    if graph_seed is None and op_seed is None:
        return 0, 0
    if graph_seed is None:
        graph_seed = _DEFAULT_GRAPH_SEED
    elif op_seed is None:
        op_seed = graph.version  # differs from op to op, and is the same in the next run
    seeds = graph_seed % _SEED_RANGE, (op_seed or 0) % _SEED_RANGE
    return seeds if seeds != (0, 0) else (0, _SEED_RANGE)  # both 0 would say "no seed"


def seed_attrs(op_seed: int | None) -> dict[str, Any]:
    seed, seed2 = get_seed(op_seed)
    return {"seed": seed, "seed2": seed2}


def _draws(name: str) -> OpDef:
    """Return an op from a shape to floats of a standard distribution."""
    op_def = OpDef(
        f"{name}(shape: T) -> output: dtype [seed: int = 0; seed2: int = 0; "
        "dtype: type {floating}; T: type {index}] !"
    ).not_differentiable()
    op_def.shape(spelled_shape)
    return op_def


RANDOM_UNIFORM = _draws("RandomUniform")
RANDOM_STANDARD_NORMAL = _draws("RandomStandardNormal")
TRUNCATED_NORMAL = _draws("TruncatedNormal")


@RANDOM_UNIFORM.kernel
def random_uniform_kernel(ctx: Any, shape: Any, *, seed: int, seed2: int, dtype: DType) -> Any:
    return floats(ctx, UNIFORM, shape, seed, seed2, dtype)


@RANDOM_STANDARD_NORMAL.kernel
def random_standard_normal_kernel(
    ctx: Any, shape: Any, *, seed: int, seed2: int, dtype: DType
) -> Any:
    return floats(ctx, NORMAL, shape, seed, seed2, dtype)


@TRUNCATED_NORMAL.kernel
def truncated_normal_kernel(ctx: Any, shape: Any, *, seed: int, seed2: int, dtype: DType) -> Any:
    return floats(ctx, TRUNCATED, shape, seed, seed2, dtype)


RANDOM_UNIFORM_INT = OpDef(
    "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> output: Tout "
    "[seed: int = 0; seed2: int = 0; Tout: type {index}; T: type {index}] !"
).not_differentiable()


@RANDOM_UNIFORM_INT.shape
def random_uniform_int_shape(
    shape: Shape, minval: Shape, maxval: Shape, *, shape_partial: Any
) -> Shape:
    return spelled_shape(shape, shape_partial=shape_partial)


@RANDOM_UNIFORM_INT.kernel
def random_uniform_int_kernel(
    ctx: Any, shape: Any, minval: Any, maxval: Any, *, seed: int, seed2: int, Tout: DType
) -> Any:
    return integers(ctx, shape, minval, maxval, seed, seed2, Tout)


def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn evenly from [minval, maxval).

    Args:
      shape: integers [rank].
      minval: least number.
      maxval: upper end, not reached; by default 1, needed for integers.
      dtype: a float type, int32 or int64.
      seed: of this op; see `set_random_seed`.
      name: of the node.

    Raises:
      ValueError: `maxval` is missing and `dtype` is an integer type.

    Example:
      >>> Session().run(random_uniform([2, 3], 0, 10, "int32", seed=1)).shape
      (2, 3)
    """
    dtype = dtypes.as_dtype(dtype)
    if maxval is None and dtype.is_integer:
        raise ValueError(f"random_uniform needs `maxval` for {dtype.name}")
    with scopes.name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims = dims_of(shape)
        low = convert.convert_to_tensor(minval, dtype, "min")
        high = convert.convert_to_tensor(1 if maxval is None else maxval, dtype, "max")
        if dtype.is_integer:
            return refine(
                raw.RandomUniformInt(dims, low, high, **seed_attrs(seed), name=scope), dims
            )
        drawn = refine(raw.RandomUniform(dims, dtype=dtype, **seed_attrs(seed)), dims)
        span = raw.Sub(high, low, name="sub")
        return raw.Add(raw.Mul(drawn, span, name="mul"), low, name=scope)


def dims_of(shape: Any) -> Tensor:
    """Return integers that spell a shape as a tensor."""
    if hasattr(shape, "_as_tensor"):
        return shape._as_tensor(False)
    return convert.convert_to_tensor(shape, "int32", "shape")


def scaled(draw: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Return what `draw` makes of a shape and a type, times `stddev`, plus `mean`."""
    with scopes.name_scope(name, None, [shape, mean, stddev]) as scope:
        dims = dims_of(shape)
        mean = convert.convert_to_tensor(mean, dtype, "mean")
        stddev = convert.convert_to_tensor(stddev, dtype, "stddev")
        drawn = refine(draw(dims, dtypes.as_dtype(dtype)), dims)
        return raw.Add(raw.Mul(drawn, stddev, name="mul"), mean, name=scope)


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from a normal distribution.

    Args:
      shape: integers [rank].
      mean: of the distribution.
      stddev: its standard deviation.
      dtype: a float type.
      seed: of this op; see `set_random_seed`.
      name: of the node.

    Example:
      >>> Session().run(random_normal([2, 3], seed=1)).shape
      (2, 3)
    """
    name = name or "random_normal"
    return scaled(
        lambda dims, dtype: raw.RandomStandardNormal(dims, dtype=dtype, **seed_attrs(seed)),
        shape, mean, stddev, dtype, name,
    )  # fmt: skip


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from a normal distribution, within two standard deviations of its mean.

    Args:
      shape: integers [rank].
      mean: of the distribution before it is cut.
      stddev: its standard deviation before it is cut.
      dtype: a float type.
      seed: of this op; see `set_random_seed`.
      name: of the node.

    Example:
      >>> Session().run(truncated_normal([100], mean=5.0, seed=1)).max() <= 7
      np.True_
    """
    name = name or "truncated_normal"
    return scaled(
        lambda dims, dtype: raw.TruncatedNormal(dims, dtype=dtype, **seed_attrs(seed)),
        shape, mean, stddev, dtype, name,
    )  # fmt: skip


RANDOM_SHUFFLE = OpDef(
    "RandomShuffle(value: T) -> output: T [seed: int = 0; seed2: int = 0; T: type] !"
).not_differentiable()


@RANDOM_SHUFFLE.shape
def random_shuffle_shape(value: Shape) -> Shape:
    return value


@RANDOM_SHUFFLE.kernel
def random_shuffle_kernel(ctx: Any, value: Any, *, seed: int, seed2: int) -> Any:
    return value[order(ctx, len(value), seed, seed2)] if np.ndim(value) else value


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return `value` with the order along its first axis drawn anew in each run.

    Args:
      value: [d0, ...].
      seed: of this op; see `set_random_seed`.
      name: of the node.

    Example:
      >>> sorted(Session().run(random_shuffle([3, 1, 2])).tolist())
      [1, 2, 3]
    """
    result: Tensor = raw.RandomShuffle(value, **seed_attrs(seed), name=name)
    return result


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return a part of `value` that has `size` and stands at a place drawn anew in each run.

    Args:
      value: [d0, ..., dn].
      size: integers [n + 1], each at most the length of that axis.
      seed: of this op; see `set_random_seed`.
      name: prefix for the nodes.

    Raises:
      InvalidArgumentError: `value` is smaller than that (when it runs).

    Example:
      >>> Session().run(random_crop([[1, 2, 3], [4, 5, 6]], [2, 2])).shape
      (2, 2)
    """
    with scopes.name_scope(name, "random_crop", [value, size]) as scope:
        value = convert.convert_to_tensor(value, name="value")
        size = convert.convert_to_tensor(size, "int32", name="size")
        whole = shape(value)
        fits = reduce_all(raw.GreaterEqual(whole, size))
        check = Assert(fits, ["Need value.shape >= size, got ", whole, size], 1000)
        room = with_dependencies([check], whole) - size + 1
        place = random_uniform(shape(size), maxval=size.dtype.max, dtype=size.dtype, seed=seed)
        return raw.Slice(value, raw.FloorMod(place, room, name="mod"), size, name=scope)
