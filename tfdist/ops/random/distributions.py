"""Draws from distributions of given parameters: multinomial, gamma, Poisson."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.graph import convert, scopes
from tfdist.graph.op_def import OpDef, raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.random.random_ops import dims_of, seed_attrs
from tfdist.ops.random.random_sampling import classes
from tfdist.ops.random.rejection_sampling import drawn_of_each, gammas, poissons
from tfdist.ops.random.stateless_ops import drawn_shape, spelled_shape

__all__ = ["multinomial", "random_gamma", "random_poisson"]

MULTINOMIAL = OpDef(
    "Multinomial(logits: T, num_samples: int32) -> output: output_dtype [seed: int = 0; "
    "seed2: int = 0; T: type {real}; output_dtype: type = int64 {index}] !"
).not_differentiable()


@MULTINOMIAL.checked_shape
def multinomial_shape(logits: Shape, num_samples: Shape, *, num_samples_value: Any) -> Shape:
    return drawn_shape(logits, num_samples_value)


@MULTINOMIAL.kernel
def multinomial_kernel(
    ctx: Any, logits: Any, num_samples: Any, *, seed: int, seed2: int, output_dtype: DType
) -> Any:
    return classes(ctx, logits, int(num_samples), seed, seed2, output_dtype)


def multinomial(
    logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
    output_dtype: Any = dtypes.int64,
) -> Tensor:  # fmt: skip
    """Return classes drawn from the distributions softmax(`logits`).

    Args:
      logits: [batch, classes], log-probabilities (nats) up to a constant per row.
      num_samples: how many to draw for each row.
      seed: of this op; see `set_random_seed`.
      name: prefix for the nodes.
      output_dtype: int32 or int64.

    Returns:
      [batch, num_samples], each in [0, classes).

    Example:
      >>> Session().run(multinomial([[0.0, 100.0]], 3))
      array([[1, 1, 1]])
    """
    with scopes.name_scope(name, "multinomial", [logits]):
        logits = convert.convert_to_tensor(logits, name="logits")
        return raw.Multinomial(logits, num_samples, **seed_attrs(seed), output_dtype=output_dtype)


RANDOM_GAMMA = OpDef(
    "RandomGamma(shape: S, alpha: T) -> output: T "
    "[seed: int = 0; seed2: int = 0; S: type {index}; T: type {float16,float32,float64}] !"
)


@RANDOM_GAMMA.shape
def random_gamma_shape(shape: Shape, alpha: Shape, *, shape_partial: Any) -> Shape:
    drawn = spelled_shape(shape, shape_partial=shape_partial)
    return None if drawn is None or alpha is None else drawn + alpha


@RANDOM_GAMMA.kernel
def random_gamma_kernel(ctx: Any, shape: Any, alpha: Any, *, seed: int, seed2: int) -> Any:
    size = (*shapes.from_sizes(shape), *np.shape(alpha))
    check_room(size, np.float64)
    if seed or seed2:
        return drawn_of_each(ctx, gammas, size, alpha, seed, seed2).astype(alpha.dtype)
    return np.asarray(ctx.rng(seed, seed2).gamma(alpha, size=size)).astype(alpha.dtype)


@RANDOM_GAMMA.gradient
def random_gamma_gradient(op: Any, d_output: Any) -> Any:
    """Return the gradient of alpha: how samples move with it while their rank stays the same."""
    sizes, alpha = op.inputs
    slope = raw.Mul(d_output, raw.RandomGammaGrad(alpha, op.outputs[0]))
    return None, raw.Sum(slope, raw.Range(0, raw.Size(sizes), 1))


def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from Gamma distributions.

    Args:
      shape: integers [rank]: how many to draw for each of the distributions.
      alpha: shape parameters, above 0.
      beta: rates, above 0; by default 1.
      dtype: a float type.
      seed: of this op; see `set_random_seed`.
      name: prefix for the nodes.

    Returns:
      `shape` followed by the shape that `alpha` and `beta` broadcast to.

    Example:
      >>> (Session().run(random_gamma([5], 2.0)) > 0).all()
      np.True_
    """
    with scopes.name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = dims_of(shape)
        alpha = convert.convert_to_tensor(alpha, dtype, "alpha")
        beta = convert.convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = raw.AddV2(alpha, zeros_like(beta), name="add")
        drawn = raw.RandomGamma(dims, alpha, **seed_attrs(seed))
        least = np.finfo(alpha.dtype.as_numpy_dtype).tiny  # 0 is no number of the distribution
        return raw.Maximum(least, raw.RealDiv(drawn, beta, name="truediv"))


RANDOM_POISSON = OpDef(
    "RandomPoissonV2(shape: S, rate: R) -> output: dtype [seed: int = 0; seed2: int = 0; "
    "S: type {index}; R: type = double {float16,float32,float64,index}; "
    "dtype: type = int64 {float16,float32,float64,index}] !"
).not_differentiable()


@RANDOM_POISSON.shape
def random_poisson_shape(shape: Shape, rate: Shape, *, shape_partial: Any) -> Shape:
    return random_gamma_shape(shape, rate, shape_partial=shape_partial)


@RANDOM_POISSON.kernel
def random_poisson_kernel(
    ctx: Any, shape: Any, rate: Any, *, seed: int, seed2: int, dtype: DType
) -> Any:
    size = (*shapes.from_sizes(shape), *np.shape(rate))
    check_room(size, np.float64)
    if seed or seed2:
        drawn = drawn_of_each(ctx, poissons, size, rate, seed, seed2)
        with np.errstate(invalid="ignore"):
            return drawn.astype(dtype.as_numpy_dtype)
    return np.asarray(ctx.rng(seed, seed2).poisson(rate, size)).astype(dtype.as_numpy_dtype)


def random_poisson(
    lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn from Poisson distributions.

    Args:
      lam: rates, 0 or more.
      shape: integers [rank]: how many to draw for each rate.
      dtype: a float type, int32 or int64.
      seed: of this op; see `set_random_seed`.
      name: prefix for the nodes.

    Returns:
      `shape` followed by the shape of `lam`.

    Example:
      >>> Session().run(random_poisson(0.0, [2]))
      array([0., 0.], dtype=float32)
    """
    with scopes.name_scope(name, "random_poisson", [lam, shape]):
        return raw.RandomPoissonV2(dims_of(shape), lam, dtype=dtype, **seed_attrs(seed))
