"""Numbers and classes that a generator draws, and the ops that draw the same for the same seed.

The numbers of stateless ops depend on their seed, an input, and on nothing else; they are the same
in every session and on every machine, but are not those of TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__: list[str] = []

# NumPy draws these itself; the others are converted from float32
_NATIVE = {dtypes.float32, dtypes.float64}


def _drawn(method: Any, shape: Any, dtype: DType) -> Any:
    drawn_type = dtype.as_numpy_dtype if dtype in _NATIVE else np.float32
    drawn = method(tuple(shape.tolist()), drawn_type)
    return drawn if dtype in _NATIVE else np.asarray(drawn).astype(dtype.as_numpy_dtype)


def uniform_numbers(rng: Any, shape: Any, dtype: DType) -> Any:
    """Return floats from [0, 1)."""
    drawn = _drawn(rng.random, shape, dtype)
    if dtype not in _NATIVE:  # rounding may reach 1, which is not in [0, 1)
        drawn = np.where(drawn == 1, drawn.dtype.type(0), drawn)
    return drawn


def uniform_integers(rng: Any, shape: Any, minval: Any, maxval: Any, dtype: DType) -> Any:
    """Return integers from [minval, maxval)."""
    if minval >= maxval:
        raise InvalidArgumentError(f"need minval < maxval, got {minval} >= {maxval}")
    return np.asarray(rng.integers(minval, maxval, tuple(shape.tolist()), dtype.as_numpy_dtype))


def normal_numbers(rng: Any, shape: Any, dtype: DType) -> Any:
    """Return floats of the standard normal distribution."""
    return _drawn(rng.standard_normal, shape, dtype)


def truncated_numbers(rng: Any, shape: Any, dtype: DType) -> Any:
    """Return floats of the standard normal distribution, none further than 2 from its mean."""
    return _drawn(lambda size, numpy_type: _truncated(rng, size, numpy_type), shape, dtype)


def _truncated(rng: Any, size: tuple[int, ...], numpy_type: Any) -> Any:
    """Return normal numbers, each drawn again until it lies within 2 of the mean."""
    drawn = np.atleast_1d(rng.standard_normal(size, numpy_type))
    while (far := np.abs(drawn) > 2).any():
        drawn[far] = rng.standard_normal(int(far.sum()), numpy_type)
    return drawn.reshape(size)


def spelled_shape(shape: Shape, *, shape_value: Any) -> Shape:
    """Return the shape that the elements of `shape` spell, as far as they are known."""
    if shape_value is not None:
        return shapes.from_constant(shape_value)
    return None if shape is None or shape[0] is None else (None,) * shape[0]


def _generator(seed: Any) -> np.random.Generator:
    if np.shape(seed) != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(np.shape(seed))}")
    return np.random.default_rng(seed.astype(np.uint64))


def _from_seed(name: str, draw: Any) -> OpDef:
    """Define an op from a shape and a seed to floats.

    Args:
      name: of the op.
      draw: takes a generator, a shape and a type.
    """
    op_def = OpDef(
        f"{name}(shape: T, seed: Tseed) -> output: dtype [dtype: type = float {{floating}}; "
        "T: type = int32 {index}; Tseed: type = int64 {index}]"
    ).not_differentiable()

    @op_def.shape
    def shape_rule(shape: Shape, seed: Shape, *, shape_value: Any) -> Shape:
        shapes.merge(seed, (2,), "the shape of seed and [2]")
        return spelled_shape(shape, shape_value=shape_value)

    @op_def.kernel
    def kernel(shape: Any, seed: Any, *, dtype: DType) -> Any:
        return draw(_generator(seed), shape, dtype)

    return op_def


STATELESS_UNIFORM = _from_seed("StatelessRandomUniform", uniform_numbers)
STATELESS_NORMAL = _from_seed("StatelessRandomNormal", normal_numbers)
STATELESS_TRUNCATED = _from_seed("StatelessTruncatedNormal", truncated_numbers)

STATELESS_UNIFORM_INT = OpDef(
    "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) "
    "-> output: dtype [dtype: type {index}; T: type {index}; Tseed: type = int64 {index}]"
).not_differentiable()


@STATELESS_UNIFORM_INT.shape
def stateless_uniform_int_shape(
    shape: Shape, seed: Shape, minval: Shape, maxval: Shape, *, shape_value: Any
) -> Shape:
    shapes.merge(seed, (2,), "the shape of seed and [2]")
    for each in (minval, maxval):
        shapes.require_rank(each, "minval and maxval", 0)
    return spelled_shape(shape, shape_value=shape_value)


@STATELESS_UNIFORM_INT.kernel
def stateless_uniform_int_kernel(
    shape: Any, seed: Any, minval: Any, maxval: Any, *, dtype: DType
) -> Any:
    return uniform_integers(_generator(seed), shape, minval, maxval, dtype)


STATELESS_MULTINOMIAL = OpDef(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype "
    "[T: type {real}; Tseed: type = int64 {index}; output_dtype: type = int64 {index}]"
).not_differentiable()


@STATELESS_MULTINOMIAL.shape
def stateless_multinomial_shape(
    logits: Shape, num_samples: Shape, seed: Shape, *, num_samples_value: Any
) -> Shape:
    shapes.require_rank(seed, "seed", 1, 1)
    return drawn_shape(logits, num_samples_value)


def drawn_shape(logits: Shape, num_samples: Any) -> Shape:
    """Return the shape of what is drawn: [batch, samples]."""
    shapes.require_rank(logits, "logits", 2)
    count = None if num_samples is None else int(num_samples)
    return (None if logits is None else logits[0], count)


@STATELESS_MULTINOMIAL.kernel
def stateless_multinomial_kernel(
    logits: Any, num_samples: Any, seed: Any, *, output_dtype: DType
) -> Any:
    return drawn_classes(_generator(seed), logits, int(num_samples), output_dtype)


def drawn_classes(draws: np.random.Generator, logits: Any, count: int, dtype: DType) -> Any:
    """Return `count` classes for each row of `logits`, as their distributions have them."""
    # adding Gumbel noise to the logits makes the greatest of them a sample of their distribution
    noise = draws.gumbel(size=(len(logits), count, logits.shape[1]))
    return (logits[:, None].astype(float) + noise).argmax(-1).astype(dtype.as_numpy_dtype)
