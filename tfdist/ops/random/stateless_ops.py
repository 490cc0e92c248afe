"""The ops that draw the same numbers for the same seed, an input: those that TensorFlow draws."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tfdist.base import philox, shapes
from tfdist.base.dtypes import DType
from tfdist.base.philox import Stream
from tfdist.base.room import check_room
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.ops.random import drawn_numbers
from tfdist.ops.random.random_sampling import classes_of, require_interval

__all__: list[str] = []


def spelled_shape(shape: Shape, *, shape_partial: Any) -> Shape:
    """Return the shape that the elements of `shape` spell, as far as they are known."""
    if shape_partial is not None:
        return shapes.from_constant(shape_partial)
    return None if shape is None or shape[0] is None else (None,) * shape[0]


def _stream(seed: Any) -> Stream:
    if np.shape(seed) != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(np.shape(seed))}")
    return philox.of_stateless(seed.tolist())


def _from_seed(name: str, draw: Callable[[Stream, int, DType], Any]) -> OpDef:
    """Define an op from a shape and a seed to floats.

    Args:
      name: of the op.
      draw: takes a stream, how many numbers there are to be, and their type.
    """
    op_def = OpDef(
        f"{name}(shape: T, seed: Tseed) -> output: dtype [dtype: type = float {{floating}}; "
        "T: type = int32 {index}; Tseed: type = int64 {index}]"
    ).not_differentiable()

    @op_def.shape
    def shape_rule(shape: Shape, seed: Shape, *, shape_partial: Any) -> Shape:
        shapes.merge(seed, (2,), "the shape of seed and [2]")
        return spelled_shape(shape, shape_partial=shape_partial)

    @op_def.kernel
    def kernel(shape: Any, seed: Any, *, dtype: DType) -> Any:
        size = shapes.from_sizes(shape)
        check_room(size, dtype.as_numpy_dtype)
        return draw(_stream(seed), prod(size), dtype).reshape(size)

    return op_def


STATELESS_UNIFORM = _from_seed("StatelessRandomUniform", drawn_numbers.uniform)
STATELESS_NORMAL = _from_seed("StatelessRandomNormal", drawn_numbers.normal)
STATELESS_TRUNCATED = _from_seed("StatelessTruncatedNormal", drawn_numbers.truncated)

STATELESS_UNIFORM_INT = OpDef(
    "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) "
    "-> output: dtype [dtype: type {index}; T: type {index}; Tseed: type = int64 {index}]"
).not_differentiable()


@STATELESS_UNIFORM_INT.shape
def stateless_uniform_int_shape(
    shape: Shape, seed: Shape, minval: Shape, maxval: Shape, *, shape_partial: Any
) -> Shape:
    shapes.merge(seed, (2,), "the shape of seed and [2]")
    for each in (minval, maxval):
        shapes.require_rank(each, "minval and maxval", 0)
    return spelled_shape(shape, shape_partial=shape_partial)


@STATELESS_UNIFORM_INT.kernel
def stateless_uniform_int_kernel(
    shape: Any, seed: Any, minval: Any, maxval: Any, *, dtype: DType
) -> Any:
    require_interval(minval, maxval)
    size = shapes.from_sizes(shape)
    check_room(size, dtype.as_numpy_dtype)
    return drawn_numbers.integers(_stream(seed), prod(size), minval, maxval, dtype).reshape(size)


STATELESS_MULTINOMIAL = OpDef(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype "
    "[T: type {real}; Tseed: type = int64 {index}; output_dtype: type = int64 {index}]"
).not_differentiable()


@STATELESS_MULTINOMIAL.checked_shape
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
    check_room((len(logits), num_samples), np.float64)
    return classes_of(_stream(seed), logits, int(num_samples), output_dtype)
