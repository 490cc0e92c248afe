"""Numbers as small integers and back: quantize, dequantize, and both at once.

Quantised arrays are records of one integer, see `base.dtypes`; kernels work on the integers in
them.

Source: TF 1.15 API documentation, tf.quantization.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.convolution.windows import pieces

__all__ = ["dequantize", "quantize", "quantize_v2"]

_MODES = "mode: string = 'MIN_COMBINED' {MIN_COMBINED,MIN_FIRST,SCALED}"
_PASSES = 4  # how much smaller than the cache the parts are that are worked on
_BELOW_HALF = np.nextafter(np.float32(0.5), np.float32(0))


def integers_of(array: Any) -> Any:
    """Return the integers in a quantised array, without a copy."""
    return array[array.dtype.names[0]]


def as_quantized(array: Any, dtype: DType) -> Any:
    """Return an array of whole numbers as quantised ones, those out of reach at the border."""
    numbers = number_type(dtype)
    # float32 has no number for the greatest int32
    kind: Any = np.float32 if numbers.itemsize < 4 else np.float64
    least, most = map(kind, _limits(dtype))
    found = np.asarray(np.clip(array.astype(kind, copy=False), least, most)).astype(numbers)
    return found.view(dtype.as_numpy_dtype)


def number_type(dtype: DType) -> Any:
    """Return the NumPy type of the integers of a quantised type."""
    return dtype.as_numpy_dtype.fields[dtype.name][0]


def rounded_away(x: Any) -> Any:
    """Return the nearest whole numbers, of two the one further from zero."""
    found = np.copysign(_BELOW_HALF, x)
    if not found.ndim:
        return np.trunc(found + x)
    np.add(found, x, out=found)
    return np.trunc(found, out=found)


def require_scalars(*bounds: Shape) -> None:
    """Raise InvalidArgumentError unless all shapes are those of single numbers."""
    for bound in bounds:
        shapes.require_rank(bound, "the ends of a range", 0)


QUANTIZE_V2 = OpDef(
    "QuantizeV2(input: float, min_range: float, max_range: float) -> output: T, "
    "output_min: float, output_max: float [T: type {quantized}; "
    f"{_MODES}; round_mode: string = 'HALF_AWAY_FROM_ZERO' {{HALF_AWAY_FROM_ZERO,HALF_TO_EVEN}}]"
).not_differentiable()


@QUANTIZE_V2.shape
def quantize_v2_shape(input: Shape, min_range: Shape, max_range: Shape) -> list[Shape]:
    require_scalars(min_range, max_range)
    return [input, (), ()]


@QUANTIZE_V2.kernel
def quantize_v2_kernel(
    input: Any, min_range: Any, max_range: Any, *, T: DType, mode: bytes, round_mode: bytes
) -> list[Any]:
    least, most = _range_with_zero(min_range, max_range)
    if mode == b"SCALED":
        scale, _, least, most = _fitted(least, most, *_limits(T))
    flat = np.reshape(input, -1)
    found = np.empty(flat.shape, T.as_numpy_dtype)
    for part in pieces(len(flat), _PASSES * flat.itemsize):
        if mode == b"SCALED":
            whole = _scaled(flat[part], least, most, scale, round_mode)
        else:
            whole = (_min_first if mode == b"MIN_FIRST" else _min_combined)(
                flat[part], least, most, T
            )
        found[part] = as_quantized(whole, T)
    return [found.reshape(np.shape(input)), np.float32(least), np.float32(most)]


def _scaled(input: Any, least: Any, most: Any, scale: Any, round_mode: bytes) -> Any:
    scaled = np.clip(input, least, most) * scale
    return np.rint(scaled) if round_mode == b"HALF_TO_EVEN" else rounded_away(scaled)


def _range_with_zero(min_range: Any, max_range: Any) -> tuple[Any, Any]:
    """Return a range that has 0 in it, and is not too narrow to be told from a point."""
    if min_range > max_range:
        raise InvalidArgumentError(
            f"a range from {min_range} to {max_range} has its ends exchanged"
        )
    least = min(np.float32(0), min_range)
    narrowest = np.float32(max(1, abs(min_range), abs(max_range))) / np.float32(100)
    return least, max(max_range, least + narrowest, np.float32(0))


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(number_type(dtype))
    return int(limits.min), int(limits.max)


def _fitted(least: Any, most: Any, lowest: int, highest: int) -> tuple[Any, Any, Any, Any]:
    """Return how often a step of integers goes into 1, the step, and the range that they reach.

    The integers from `lowest` to `highest` have 0 for 0, and reach `least` and `most` at least.
    """
    kind = np.asarray(most).dtype.type
    low, high = kind(lowest), kind(highest)
    far = np.finfo(kind).max
    by_least = low / least if low * least > 0 else far
    by_most = high / most if high * most > 0 else far
    if by_least < by_most:
        step = least / low
        return by_least, step, least, high * step
    step = most / high
    return by_most, step, low * step, most


def _min_combined(input: Any, least: Any, most: Any, dtype: DType) -> Any:
    lowest, highest = _limits(dtype)
    scale = np.float32((highest - lowest) / (float(most) - float(least)))
    steps = np.clip(input, least, most)
    steps -= least
    steps *= scale
    steps += np.float32(lowest)
    return rounded_away(steps)


def _min_first(input: Any, least: Any, most: Any, dtype: DType) -> Any:
    lowest, highest = _limits(dtype)
    scale = np.float32((highest - lowest) / (float(most) - float(least)))
    return rounded_away(input * scale) - rounded_away(least * scale) + np.float32(lowest)


def quantize(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None,
) -> Any:  # fmt: skip
    """Return `input` as integers that stand for the numbers of a range.

    Args:
      input: float32.
      min_range: the number that the least integer stands for, 0 or less; float32.
      max_range: the number that the greatest one stands for.
      T: of the result: qint8, quint8, qint16, quint16 or qint32.
      mode: "MIN_COMBINED" cuts the range into equal steps; "MIN_FIRST" does so with 0 on a step;
        "SCALED" has 0 for 0, whatever the other end of the range becomes.
      round_mode: of "SCALED": "HALF_AWAY_FROM_ZERO" or "HALF_TO_EVEN".
      name: of the node.

    Returns:
      A named tuple (output, output_min, output_max): the integers, and the range that they stand
      for, which may be wider than the one asked for.

    Raises:
      InvalidArgumentError: min_range is greater than max_range (when it runs).

    Example:
      >>> found = quantize([0.0, 0.5, 1.0], 0.0, 1.0, quint8)
      >>> Session().run(bitcast(found.output, uint8))
      array([  0, 128, 255], dtype=uint8)
    """
    return QUANTIZE_V2(
        input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name
    )


def quantize_v2(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
    name: str | None = None, round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:  # fmt: skip
    """Return the same as `quantize`; its earlier name.

    Args:
      input: see `quantize`.
      min_range: see `quantize`.
      max_range: see `quantize`.
      T: see `quantize`.
      mode: see `quantize`.
      name: see `quantize`.
      round_mode: see `quantize`.

    Example:
      >>> Session().run(bitcast(quantize_v2([0.25], 0.0, 1.0, quint8)[0], uint8))
      array([64], dtype=uint8)
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


DEQUANTIZE = OpDef(
    "Dequantize(input: T, min_range: float, max_range: float) -> output: float "
    f"[T: type {{quantized}}; {_MODES}]"
).not_differentiable()


@DEQUANTIZE.shape
def dequantize_shape(input: Shape, min_range: Shape, max_range: Shape) -> Shape:
    require_scalars(min_range, max_range)
    return input


@DEQUANTIZE.kernel
def dequantize_kernel(input: Any, min_range: Any, max_range: Any, *, T: DType, mode: bytes) -> Any:
    numbers = integers_of(input).astype(np.float32)
    lowest, highest = _limits(T)
    if mode == b"SCALED":
        step = max_range / np.float32(highest)
        return numbers * (max(step, min_range / np.float32(lowest)) if lowest else step)
    step = np.float32((float(max_range) - float(min_range)) / (highest - lowest))
    if mode == b"MIN_FIRST":
        return rounded_away(min_range / step) * step + (numbers - np.float32(lowest)) * step
    return (numbers - np.float32(lowest)) * step + min_range


def dequantize(
    input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None
) -> Tensor:
    """Return the numbers that quantised ones stand for.

    Args:
      input: of a quantised type, as `quantize` gives them.
      min_range: the number that the least integer stands for.
      max_range: the number that the greatest one stands for.
      mode: that of `quantize`.
      name: of the node.

    Example:
      >>> Session().run(dequantize(bitcast([0, 51, 255], quint8), 0.0, 5.0)[:, 0])
      array([0., 1., 5.], dtype=float32)
    """
    tensor: Tensor = DEQUANTIZE(input, min_range, max_range, mode=mode, name=name)
    return tensor


_GIVEN = "signed_input: bool = True"
_FLOATS = "T: type {floating}"
QUANTIZE_AND_DEQUANTIZE_V2 = OpDef(
    "QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> output: T "
    f"[{_GIVEN}; num_bits: int = 8; range_given: bool = False; {_FLOATS}; "
    "round_mode: string = 'HALF_TO_EVEN' {HALF_TO_EVEN,HALF_UP}; narrow_range: bool = False]"
)
QUANTIZE_AND_DEQUANTIZE_V3 = OpDef(
    "QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> output: T "
    f"[{_GIVEN}; range_given: bool = True; {_FLOATS}; narrow_range: bool = False]"
)
QUANTIZE_AND_DEQUANTIZE_V2.gradient(lambda op, d_output: (d_output, None, None))
QUANTIZE_AND_DEQUANTIZE_V3.gradient(lambda op, d_output: (d_output, None, None, None))


@QUANTIZE_AND_DEQUANTIZE_V2.shape
def quantize_and_dequantize_v2_shape(input: Shape, input_min: Shape, input_max: Shape) -> Shape:
    require_scalars(input_min, input_max)
    return input


@QUANTIZE_AND_DEQUANTIZE_V3.shape
def quantize_and_dequantize_v3_shape(
    input: Shape, input_min: Shape, input_max: Shape, num_bits: Shape
) -> Shape:
    require_scalars(input_min, input_max, num_bits)
    return input


@QUANTIZE_AND_DEQUANTIZE_V2.kernel
def quantize_and_dequantize_v2_kernel(
    input: Any, input_min: Any, input_max: Any, *, signed_input: bool, num_bits: int,
    range_given: bool, round_mode: bytes, narrow_range: bool,
) -> Any:  # fmt: skip
    if range_given and input_min > input_max:
        raise InvalidArgumentError(f"Invalid range: input_min {input_min} > input_max {input_max}")
    if not 0 < num_bits < (63 if signed_input else 62):
        raise InvalidArgumentError(f"num_bits is out of range: {num_bits}")
    if not input.size:
        return input
    if not range_given:
        input_min, input_max = input.min(), input.max()
    lowest = -(1 << (num_bits - 1)) + narrow_range if signed_input else 0
    highest = (1 << (num_bits - 1 if signed_input else num_bits)) - 1
    scale, step, least, most = _fitted(input_min, input_max, lowest, highest)
    scaled = (np.clip(input, least, most) if range_given else input) * scale
    whole = np.rint(scaled) if round_mode == b"HALF_TO_EVEN" else np.floor(scaled + 0.5)
    return (whole * step).astype(input.dtype)


@QUANTIZE_AND_DEQUANTIZE_V3.kernel
def quantize_and_dequantize_v3_kernel(
    input: Any, input_min: Any, input_max: Any, num_bits: Any, *, signed_input: bool,
    range_given: bool, narrow_range: bool,
) -> Any:  # fmt: skip
    return quantize_and_dequantize_v2_kernel(
        input, input_min, input_max, signed_input=signed_input, num_bits=int(num_bits),
        range_given=range_given, round_mode=b"HALF_TO_EVEN", narrow_range=narrow_range,
    )  # fmt: skip


def quantize_and_dequantize(
    input: Any, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:  # fmt: skip
    """Return `input` as it comes back from being quantised; gradients go through unchanged.

    Args:
      input: floats.
      input_min: the least number that the integers reach, if the range is given.
      input_max: the greatest one.
      signed_input: whether the integers have a sign.
      num_bits: of the integers.
      range_given: whether the range is that of input_min and input_max, not of `input` itself.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: of the node.
      narrow_range: whether the least integer is left out, so that there are as many below 0 as
        above.

    Example:
      >>> Session().run(
      ...     quantization.quantize_and_dequantize([0.1, 0.4, 2.0], -1.0, 1.5, True, 3, True)
      ... )
      array([0. , 0.5, 1.5], dtype=float32)
    """
    return QUANTIZE_AND_DEQUANTIZE_V2(  # type: ignore[no-any-return]
        input, input_min, input_max, signed_input=signed_input, num_bits=num_bits,
        range_given=range_given, round_mode=round_mode, narrow_range=narrow_range, name=name,
    )  # fmt: skip
