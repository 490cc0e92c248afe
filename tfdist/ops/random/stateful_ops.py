"""Random numbers whose state is a variable: the ops of `tf.random.experimental.Generator`.

The state is int64: the counter in two numbers, the low one first, and the key. A draw moves the
counter on by 256 for each number.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
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
from tfdist.ops.random.stateless_ops import spelled_shape

__all__: list[str] = []  # random_generator has the public class

PHILOX = 1
STATE_SIZE = 3
_EACH = 256  # blocks that the counter moves on for a number
_WORD = 1 << 64


def _signed(number: int) -> int:
    """Return 64 bits as a signed number."""
    return number - _WORD if number >> 63 else number


def _moved(variable: Any, algorithm: Any, blocks: int) -> Stream:
    """Move the counter in a variable on, and return the stream from where it stood."""
    if algorithm != PHILOX:
        raise InvalidArgumentError(
            f"Unsupported algorithm id: {algorithm}; {PHILOX} is there, which is Philox"
        )
    found: list[Stream] = []

    def moved(state: Any, out: Any) -> Any:
        if state.dtype != np.int64 or state.ndim != 1 or len(state) < STATE_SIZE:
            raise InvalidArgumentError(
                "the state of a generator is a vector of at least 3 int64 numbers; got "
                f"{state.dtype} {list(state.shape)}"
            )
        low, high, key = (int(each) % _WORD for each in state[:STATE_SIZE])
        stream = Stream(low | high << 64, key)
        found.append(stream)
        counter = stream.skipped(blocks).counter
        after = state.copy()
        after[:2] = _signed(counter % _WORD), _signed(counter >> 64)
        return after

    variable.update(moved)
    return found[0]


def _drawing(
    name: str, types: str, default: str, draw: Callable[[Stream, int, DType], Any]
) -> OpDef:
    """Define an op that draws numbers of a generator.

    Args:
      name: of the op.
      types: that numbers may have.
      default: that they have if nothing is said.
      draw: takes a stream, how many numbers there are to be, and their type.
    """
    op_def = OpDef(
        f"{name}(resource: resource, algorithm: int64, shape: shape_dtype) -> output: dtype "
        f"[dtype: type = {default} {{{types}}}; shape_dtype: type = int64] !"
    ).not_differentiable()

    @op_def.shape
    def shape_rule(resource: Shape, algorithm: Shape, shape: Shape, *, shape_partial: Any) -> Shape:
        shapes.require_rank(algorithm, "algorithm", 0)
        return spelled_shape(shape, shape_partial=shape_partial)

    @op_def.kernel
    def kernel(resource: Any, algorithm: Any, shape: Any, *, dtype: DType) -> Any:
        dims = shapes.from_sizes(shape)
        check_room(dims, dtype.as_numpy_dtype)
        count = math.prod(dims)
        stream = _moved(resource, algorithm, count * _EACH)
        return draw(stream, count, dtype).reshape(dims)

    return op_def


_FLOATS = "float16,bfloat16,float32,float64"
UNIFORM = _drawing("StatefulUniform", _FLOATS, "float", drawn_numbers.uniform)
NORMAL = _drawing("StatefulStandardNormalV2", _FLOATS, "float", drawn_numbers.normal)
TRUNCATED = _drawing("StatefulTruncatedNormal", _FLOATS, "float", drawn_numbers.truncated)
FULL_INT = _drawing(
    "StatefulUniformFullInt", "int32,int64,uint32,uint64", "uint64", drawn_numbers.full_integers
)

UNIFORM_INT = OpDef(
    "StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, "
    "maxval: dtype) -> output: dtype "
    "[dtype: type = int64 {int32,int64,uint32,uint64}; shape_dtype: type = int64] !"
).not_differentiable()


@UNIFORM_INT.shape
def uniform_int_shape(
    resource: Shape, algorithm: Shape, shape: Shape, minval: Shape, maxval: Shape, *,
    shape_partial: Any,
) -> Shape:  # fmt: skip
    shapes.require_rank(algorithm, "algorithm", 0)
    for each in (minval, maxval):
        shapes.require_rank(each, "minval and maxval", 0)
    return spelled_shape(shape, shape_partial=shape_partial)


@UNIFORM_INT.kernel
def uniform_int_kernel(
    resource: Any, algorithm: Any, shape: Any, minval: Any, maxval: Any, *, dtype: DType
) -> Any:
    if minval >= maxval:
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    dims = shapes.from_sizes(shape)
    check_room(dims, dtype.as_numpy_dtype)
    count = math.prod(dims)
    stream = _moved(resource, algorithm, count * _EACH)
    return drawn_numbers.integers(stream, count, minval, maxval, dtype).reshape(dims)


BINOMIAL = OpDef(
    "StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) "
    "-> output: dtype [S: type {index}; T: type = double {float16,float32,float64,int32,int64}; "
    "dtype: type = int64 {float16,float32,float64,int32,int64}] !"
).not_differentiable()


@BINOMIAL.shape
def binomial_shape(
    resource: Shape, algorithm: Shape, shape: Shape, counts: Shape, probs: Shape, *,
    shape_partial: Any,
) -> Shape:  # fmt: skip
    shapes.require_rank(algorithm, "algorithm", 0)
    return spelled_shape(shape, shape_partial=shape_partial)


@BINOMIAL.kernel
def binomial_kernel(
    resource: Any, algorithm: Any, shape: Any, counts: Any, probs: Any, *, dtype: DType
) -> Any:
    """Return how often each of `counts` tosses shows what has that probability.

    NumPy draws, from the generator's numbers: another sequence than TensorFlow's.
    """
    dims = shapes.from_sizes(shape)
    check_room(dims, dtype.as_numpy_dtype)
    stream = _moved(resource, algorithm, math.prod(dims) * _EACH)
    rng = np.random.default_rng(philox.long_words(stream, 4))
    drawn = rng.binomial(np.asarray(counts, np.int64), np.asarray(probs, np.float64), dims)
    return np.asarray(drawn).astype(dtype.as_numpy_dtype)


SKIP = OpDef(
    "RngSkip(resource: resource, algorithm: int64, delta: int64) -> () !"
).not_differentiable()


@SKIP.shape
def skip_shape(resource: Shape, algorithm: Shape, delta: Shape) -> list[Shape]:
    for each in (algorithm, delta):
        shapes.require_rank(each, "algorithm and delta", 0)
    return []


@SKIP.kernel
def skip_kernel(resource: Any, algorithm: Any, delta: Any) -> None:
    _moved(resource, algorithm, int(delta))


NON_DETERMINISTIC_INTS = OpDef(
    "NonDeterministicInts(shape: shape_dtype) -> output: dtype "
    "[dtype: type = int64 {int32,int64,uint32,uint64}; shape_dtype: type = int64] !"
).not_differentiable()


@NON_DETERMINISTIC_INTS.shape
def non_deterministic_ints_shape(shape: Shape, *, shape_partial: Any) -> Shape:
    return spelled_shape(shape, shape_partial=shape_partial)


@NON_DETERMINISTIC_INTS.kernel
def non_deterministic_ints_kernel(shape: Any, *, dtype: DType) -> Any:
    """Return numbers that nobody can predict."""
    dims = shapes.from_sizes(shape)
    check_room(dims, dtype.as_numpy_dtype)
    drawn = secrets.token_bytes(math.prod(dims) * dtype.size)
    return np.frombuffer(drawn, dtype.as_numpy_dtype).reshape(dims).copy()
