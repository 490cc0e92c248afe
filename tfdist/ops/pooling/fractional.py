"""Pooling by a ratio that is no whole number: windows of two sizes, in an order drawn by chance.

A pooling sequence [windows + 1] says where the windows of an axis begin, and where the last one
ends; windows that overlap have the first element of the next one as well.

Source: TF 1.15 API documentation, tf.nn.fractional_max_pool; B. Graham, Fractional Max-Pooling,
2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph.op_def import OpDef, raw

__all__ = ["fractional_avg_pool", "fractional_max_pool"]

_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"
_TYPES = "T: type {float32,float64,int32,int64}"
# Not stateful on TensorFlow, which may fold one drawing into the graph.
_OUTPUTS = (
    f"(value: T) -> output: T, {_SEQUENCES} [pooling_ratio: list(float) >=4; "
    "pseudo_random: bool = False; overlapping: bool = False; deterministic: bool = False; "
    f"seed: int = 0; seed2: int = 0; {_TYPES}] !"
)


def _pooled_shape(value: Shape, *, pooling_ratio: Sequence[float]) -> list[Shape]:
    if len(pooling_ratio) != 4 or min(pooling_ratio) < 1:
        raise InvalidArgumentError(
            f"pooling_ratio must be 4 numbers of 1 or more, got {list(pooling_ratio)}"
        )
    shapes.require_rank(value, "value", 4)
    axes = zip((None,) * 4 if value is None else value, pooling_ratio, strict=True)
    sizes = tuple(None if dim is None else int(dim / ratio) for dim, ratio in axes)
    return [sizes, *((None if size is None else size + 1,) for size in sizes[1:3])]


def _sequence(rng: Any, size: int, count: int, pseudo_random: bool) -> Any:
    """Return where `count` windows of two sizes, one apart, begin in an axis of `size`."""
    if count < 1:
        raise InvalidArgumentError(f"an axis of {size} is too short for this pooling ratio")
    if pseudo_random:
        shift = rng.random()
        places = np.ceil(size / count * (np.arange(count) + shift))
        return np.append(places - places[0], size).astype(np.int64)
    widths = np.full(count, size // count)
    widths[: size % count] += 1
    return np.append(0, np.cumsum(rng.permutation(widths)))


def _drawn(
    ctx: Any, value: Any, ratio: Sequence[float], pseudo_random: bool, deterministic: bool,
    seeds: tuple[int, int],
) -> tuple[Any, Any]:  # fmt: skip
    """Return the pooling sequences of rows and columns."""
    if (ratio[0], ratio[3]) != (1, 1):
        raise UnimplementedError(
            f"the pooling ratio must be 1 along the batch and the channels, got {list(ratio)}"
        )
    sizes: Any = _pooled_shape(value.shape, pooling_ratio=ratio)[0]
    _, rows, columns, _ = sizes
    rng = np.random.default_rng(seeds) if deterministic else ctx.rng(*seeds)
    return (
        _sequence(rng, value.shape[1], rows, pseudo_random),
        _sequence(rng, value.shape[2], columns, pseudo_random),
    )


def _reduced(function: Any, value: Any, sequence: Any, axis: int, overlapping: bool) -> Any:
    """Return the maximum or sum of each window along an axis."""
    widths = _widths(sequence, overlapping)
    out = value.take(sequence[:-1], axis)
    for step in range(1, widths.max()):  # the second element of all windows, the third one, ...
        (wide,) = np.nonzero(widths > step)
        more = value.take(sequence[wide] + step, axis)
        if len(wide) == len(widths):
            function(out, more, out=out)
        else:
            place = (slice(None),) * axis + (wide,)
            out[place] = function(out[place], more)
    return out


def _widths(sequence: Any, overlapping: bool) -> Any:
    widths = np.diff(sequence)
    if overlapping:
        widths[:-1] += 1
    return widths


def _areas(rows: Any, columns: Any, overlapping: bool) -> Any:
    """Return how many elements each window has: [rows, columns, 1]."""
    return np.outer(_widths(rows, overlapping), _widths(columns, overlapping))[..., None]


def _shared(total: Any, areas: Any) -> Any:
    """Return sums by the sizes of their windows, as C++ divides."""
    mean = total / areas
    return (np.trunc(mean) if total.dtype.kind == "i" else mean).astype(total.dtype)


MAX_POOL = OpDef(f"FractionalMaxPool{_OUTPUTS}")
AVG_POOL = OpDef(f"FractionalAvgPool{_OUTPUTS}")
MAX_POOL.shape(_pooled_shape)
AVG_POOL.shape(_pooled_shape)


@MAX_POOL.kernel
def max_pool_kernel(
    ctx: Any, value: Any, *, pooling_ratio: Sequence[float], pseudo_random: bool,
    overlapping: bool, deterministic: bool, seed: int, seed2: int,
) -> list[Any]:  # fmt: skip
    rows, columns = _drawn(ctx, value, pooling_ratio, pseudo_random, deterministic, (seed, seed2))
    out = _reduced(np.maximum, value, rows, 1, overlapping)
    return [_reduced(np.maximum, out, columns, 2, overlapping), rows, columns]


@AVG_POOL.kernel
def avg_pool_kernel(
    ctx: Any, value: Any, *, pooling_ratio: Sequence[float], pseudo_random: bool,
    overlapping: bool, deterministic: bool, seed: int, seed2: int,
) -> list[Any]:  # fmt: skip
    rows, columns = _drawn(ctx, value, pooling_ratio, pseudo_random, deterministic, (seed, seed2))
    total = _reduced(np.add, value, rows, 1, overlapping)
    total = _reduced(np.add, total, columns, 2, overlapping)
    return [_shared(total, _areas(rows, columns, overlapping)), rows, columns]


MAX_POOL_GRAD = OpDef(
    f"FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES}) "
    f"-> output: T [overlapping: bool = False; {_TYPES}]"
).not_differentiable()


@MAX_POOL_GRAD.shape
def max_pool_grad_shape(
    orig_input: Shape, orig_output: Shape, out_backprop: Shape, rows: Shape, columns: Shape
) -> Shape:
    shapes.require_rank(orig_input, "orig_input", 4)
    return orig_input or (None,) * 4


def _members(sequence: Any, overlapping: bool) -> Any:
    """Return the elements of each window, [windows, most]; shorter ones repeat their last."""
    widths = _widths(sequence, overlapping)
    steps = np.minimum(np.arange(widths.max()), widths[:, None] - 1)
    return sequence[:-1, None] + steps


@MAX_POOL_GRAD.kernel
def max_pool_grad_kernel(
    orig_input: Any, orig_output: Any, out_backprop: Any, rows: Any, columns: Any, *,
    overlapping: bool,
) -> Any:  # fmt: skip
    batch, height, width, depth = orig_input.shape
    down, across = _members(rows, overlapping), _members(columns, overlapping)
    places = down[:, None, :, None] * width + across[None, :, None, :]
    places = places.reshape(*out_backprop.shape[1:3], -1)  # of the elements of each window
    flat = orig_input.reshape(batch, height * width, depth)
    first = flat[:, places].argmax(3)  # of equal elements the first takes it
    hit = np.take_along_axis(places[None, ..., None], first[..., None, :], 3)[..., 0, :]
    image = np.arange(batch)[:, None, None, None] * (height * width)
    numbers = (image + hit) * depth + np.arange(depth)
    total = np.bincount(numbers.ravel(), out_backprop.ravel(), orig_input.size)
    return total.astype(orig_input.dtype).reshape(orig_input.shape)


AVG_POOL_GRAD = OpDef(
    "FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, "
    f"{_SEQUENCES}) -> output: T [overlapping: bool = False; {_TYPES}]"
).not_differentiable()


@AVG_POOL_GRAD.shape
def avg_pool_grad_shape(
    orig_input_tensor_shape: Shape, out_backprop: Shape, rows: Shape, columns: Shape, *,
    orig_input_tensor_shape_value: Any,
) -> Shape:  # fmt: skip
    if orig_input_tensor_shape_value is None:
        return (None,) * 4
    return shapes.from_constant(orig_input_tensor_shape_value)


def _handed_out(given: Any, sequence: Any, axis: int, overlapping: bool) -> Any:
    """Return what each element along an axis gets where a window gives its number to all in it."""
    moved = np.swapaxes(given, 0, axis)
    out = np.repeat(moved, np.diff(sequence), axis=0)
    if overlapping:
        out[sequence[1:-1]] += moved[:-1]
    return np.swapaxes(out, 0, axis)


@AVG_POOL_GRAD.kernel
def avg_pool_grad_kernel(
    orig_input_tensor_shape: Any, out_backprop: Any, rows: Any, columns: Any, *, overlapping: bool
) -> Any:
    given = _shared(out_backprop, _areas(rows, columns, overlapping))
    given = _handed_out(given, rows, 1, overlapping)
    found = np.ascontiguousarray(_handed_out(given, columns, 2, overlapping))
    wanted = shapes.from_sizes(orig_input_tensor_shape)
    if found.shape != wanted:
        raise InvalidArgumentError(
            f"the pooling sequences end at {found.shape}, but the input had shape {wanted}"
        )
    return found


@MAX_POOL.gradient
def max_pool_gradient(op: Any, d_output: Any, *_: Any) -> Any:
    output, rows, columns = op.outputs
    overlapping = op.get_attr("overlapping")
    return MAX_POOL_GRAD(op.inputs[0], output, d_output, rows, columns, overlapping=overlapping)


@AVG_POOL.gradient
def avg_pool_gradient(op: Any, d_output: Any, *_: Any) -> Any:
    sizes = raw.Shape(op.inputs[0], out_type="int64")
    overlapping = op.get_attr("overlapping")
    return AVG_POOL_GRAD(sizes, d_output, *op.outputs[1:], overlapping=overlapping)


def _public(public: str, op_def: OpDef, meaning: str) -> Any:
    """Return the public function of a fractional pooling.

    Args:
      public: its name.
      op_def: the op.
      meaning: what it takes of each window.
    """

    def function(
        value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False,
        deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None,
    ) -> Any:  # fmt: skip
        return op_def(
            value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random,
            overlapping=overlapping, deterministic=deterministic, seed=seed, seed2=seed2,
            name=name,
        )  # fmt: skip

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {meaning} of windows whose sizes differ by one, drawn by chance.

    Args:
      value: [batch, rows, columns, channels].
      pooling_ratio: [1, rows, columns, 1], how many times fewer rows and columns there will be;
        numbers of 1 or more.
      pseudo_random: whether the sizes of windows are mixed evenly, instead of in any order.
      overlapping: whether windows share the elements at their borders.
      deterministic: whether the windows are the same in every run.
      seed: of the drawing.
      seed2: a second one.
      name: of the node.

    Returns:
      (output, row_pooling_sequence, col_pooling_sequence): the sequences say where windows begin.

    Example:
      >>> found = nn.{public}(ones([1, 6, 9, 2]), [1.0, 1.5, 1.8, 1.0])
      >>> found.output.shape.as_list()
      [1, 4, 5, 2]
    """
    return function


fractional_max_pool = _public("fractional_max_pool", MAX_POOL, "the maxima")
fractional_avg_pool = _public("fractional_avg_pool", AVG_POOL, "the means")
