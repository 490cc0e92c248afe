"""Ops that graphs of TensorFlow 0.x have, and that TensorFlow 1.15 builds no more.

Programs build what came after each; here these are for GraphDefs of that time. `Abort` is for none.

Source: TF 1.15 API documentation, tf.raw_ops; the messages of 1.15 tell what replaced each op.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError, UnimplementedError
from tfdist.graph.op_def import OpDef, raw
from tfdist.ops.math.quantize import quantize_and_dequantize_v2_kernel
from tfdist.ops.random.distributions import random_poisson_kernel, random_poisson_shape

__all__: list[str] = []

_NUMBERS = "uint8,int8,int16,int32,int64,float32,float64"

REVERSE = OpDef(
    "Reverse(tensor: T, dims: bool) -> output: T [T: type {uint8,int8,uint16,int16,int32,int64,"
    "bool,float16,float32,float64,complex64,complex128,string}]"
)


@REVERSE.shape
def reverse_shape(tensor: Shape, dims: Shape) -> Shape:
    shapes.require_rank(dims, "dims", 1)
    if tensor is not None and dims and dims[0] is not None:
        shapes.require_rank(tensor, f"tensor, for {dims[0]} dims,", dims[0])
    return tensor


@REVERSE.kernel
def reverse_kernel(tensor: Any, dims: Any) -> Any:
    reverse_shape(np.shape(tensor), np.shape(dims))
    return np.flip(tensor, tuple(np.flatnonzero(dims)))


@REVERSE.gradient
def reverse_gradient(op: Any, d_output: Any) -> Any:
    return raw.Reverse(d_output, op.inputs[1]), None


TILE_GRAD = OpDef(
    "TileGrad(input: T, multiples: int32) -> output: T [T: type]"
).not_differentiable()


@TILE_GRAD.shape
def tile_grad_shape(input: Shape, multiples: Shape, *, multiples_value: Any) -> Shape:
    shapes.require_rank(multiples, "multiples", 1)
    if input is None or multiples_value is None:
        return None if input is None else (None,) * len(input)
    tiles = multiples_value.tolist()
    if len(tiles) != len(input) or min(tiles, default=1) < 1:
        raise InvalidArgumentError(f"multiples need {len(input)} entries, 1 or more, got {tiles}")
    return tuple(None if n is None else n // tile for n, tile in zip(input, tiles, strict=True))


@TILE_GRAD.kernel
def tile_grad_kernel(input: Any, multiples: Any) -> Any:
    dims: Any = tile_grad_shape(input.shape, multiples.shape, multiples_value=multiples)
    pairs = np.stack([multiples, dims], axis=1).ravel()
    tiles: Any = input.reshape(pairs).sum(tuple(range(0, 2 * input.ndim, 2)), dtype=input.dtype)
    return tiles


RANDOM_CROP = OpDef(
    f"RandomCrop(image: T, size: int64) -> output: T [T: type {{{_NUMBERS}}}; seed: int = 0; "
    "seed2: int = 0] !"
).not_differentiable()


@RANDOM_CROP.shape
def random_crop_shape(image: Shape, size: Shape, *, size_value: Any) -> Shape:
    shapes.require_rank(image, "image", 3)
    depth = None if image is None else image[2]
    return (None, None, depth) if size_value is None else (*size_value.tolist(), depth)


@RANDOM_CROP.kernel
def random_crop_kernel(ctx: Any, image: Any, size: Any, *, seed: int, seed2: int) -> Any:
    height, width = size.tolist()
    spare = image.shape[0] - height, image.shape[1] - width
    if min(*spare, height, width) < 0:
        raise InvalidArgumentError(
            f"an image of {image.shape[0]} x {image.shape[1]} has no part of {height} x {width}"
        )
    top, left = (int(n) for n in ctx.rng(seed, seed2).integers(0, np.add(spare, 1)))
    return image[top : top + height, left : left + width]


ADJUST_CONTRAST = OpDef(
    "AdjustContrast(images: T, contrast_factor: float, min_value: float, max_value: float) "
    f"-> output: float [T: type {{{_NUMBERS}}}]"
)


@ADJUST_CONTRAST.shape
def adjust_contrast_shape(
    images: Shape, contrast_factor: Shape, min_value: Shape, max_value: Shape
) -> Shape:
    shapes.require_rank(images, "images", 3, 254)
    for name, shape in (("contrast_factor", contrast_factor), ("min_value", min_value),
                        ("max_value", max_value)):  # fmt: skip
        shapes.require_rank(shape, name, 0)
    return images


@ADJUST_CONTRAST.kernel
def adjust_contrast_kernel(
    images: Any, contrast_factor: Any, min_value: Any, max_value: Any
) -> Any:
    values = images.astype(np.float32)
    mean = values.mean(axis=(-3, -2), keepdims=True)
    values -= mean
    values *= contrast_factor
    values += mean
    return values.clip(min_value, max_value, out=values)


QUANTIZE_AND_DEQUANTIZE = OpDef(
    "QuantizeAndDequantize(input: T) -> output: T [signed_input: bool = True; num_bits: int = 8; "
    "range_given: bool = False; input_min: float = 0.0; input_max: float = 0.0; "
    "T: type {floating}]"
)
QUANTIZE_AND_DEQUANTIZE.gradient(lambda op, d_output: d_output)


@QUANTIZE_AND_DEQUANTIZE.shape
def quantize_and_dequantize_shape(input: Shape) -> Shape:
    return input


@QUANTIZE_AND_DEQUANTIZE.kernel
def quantize_and_dequantize_kernel(
    input: Any, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float,
    input_max: float,
) -> Any:  # fmt: skip
    ends = (input.dtype.type(end) for end in (input_min, input_max))
    return quantize_and_dequantize_v2_kernel(
        input, *ends, signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode=b"HALF_TO_EVEN", narrow_range=False,
    )  # fmt: skip


RANDOM_POISSON = OpDef(
    "RandomPoisson(shape: S, rate: dtype) -> output: dtype [seed: int = 0; seed2: int = 0; "
    "S: type {index}; dtype: type {float16,float32,float64}] !"
).not_differentiable()
RANDOM_POISSON.shape(random_poisson_shape)
RANDOM_POISSON.kernel(random_poisson_kernel)

ABORT = OpDef(
    "Abort() -> () [error_msg: string = ''; exit_without_error: bool = False]"
).not_differentiable()


@ABORT.kernel
def abort_kernel(*, error_msg: bytes, exit_without_error: bool) -> None:
    said = error_msg.decode(errors="replace")
    raise UnimplementedError(
        f"Abort ends the whole process that runs it, a notebook too, so tfdist refuses "
        f"it (it says {said!r}): take the node out of the graph, or raise an error with tf.Assert"
    )
