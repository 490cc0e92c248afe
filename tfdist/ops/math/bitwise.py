"""Integers bit by bit: and, or, exclusive or, the complement, shifts, and how many bits are set."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.math.arithmetic import binary
from tfdist.ops.math.elementwise import same_shape

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def _shift(by: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that shifts; by 0 bits at least, and at most by one less than there are."""

    def kernel(x: Any, y: Any) -> Any:
        return by(x, np.clip(y, 0, 8 * y.itemsize - 1))

    return kernel


BITWISE_AND = binary("BitwiseAnd", "integer", operator.and_, None, None)
BITWISE_OR = binary("BitwiseOr", "integer", operator.or_, None, None)
BITWISE_XOR = binary("BitwiseXor", "integer", operator.xor, None, None)
LEFT_SHIFT = binary("LeftShift", "integer", _shift(np.left_shift), None, None)
RIGHT_SHIFT = binary("RightShift", "integer", _shift(np.right_shift), None, None)

INVERT = OpDef("Invert(x: T) -> y: T [T: type {integer}]").not_differentiable()
INVERT.shape(same_shape)
INVERT.kernel(operator.invert)

POPULATION_COUNT = OpDef(
    "PopulationCount(x: T) -> y: uint8 [T: type {integer}]"
).not_differentiable()
POPULATION_COUNT.shape(same_shape)


@POPULATION_COUNT.kernel
def population_count_kernel(x: Any) -> Any:
    # as unsigned numbers: NumPy counts the bits of a negative one's absolute value
    return np.bitwise_count(x.view(f"u{x.itemsize}"))


COMPARE_AND_BITPACK = OpDef(
    "CompareAndBitpack(input: T, threshold: T) -> output: uint8 "
    "[T: type {bool,float16,float32,float64,int8,int16,int32,int64}]"
).not_differentiable()


@COMPARE_AND_BITPACK.shape
def compare_and_bitpack_shape(input: Shape, threshold: Shape) -> Shape:
    shapes.require_rank(threshold, "threshold", 0)
    if input is None:
        return None
    if not input:
        raise InvalidArgumentError("input must have an axis of bits at least, but is a scalar")
    if input[-1] is not None and input[-1] % 8:
        raise InvalidArgumentError(
            f"Dimension size must be evenly divisible by 8 but is {input[-1]}: eight elements make "
            "a byte"
        )
    return (*input[:-1], None if input[-1] is None else input[-1] // 8)


@COMPARE_AND_BITPACK.kernel
def compare_and_bitpack_kernel(input: Any, threshold: Any) -> Any:
    compare_and_bitpack_shape(np.shape(input), np.shape(threshold))
    return np.packbits(input > threshold, axis=-1)


def _public(
    public: str, op_def: OpDef, meaning: str, arguments: str, result: str
) -> Callable[..., Tensor]:
    """Return the public function of an op of two inputs.

    Args:
      public: its name.
      op_def: the op.
      meaning: what each element of the result is.
      arguments: of an example.
      result: of that example, as Python prints it.
    """

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        tensor: Tensor = op_def(x, y, name=name)
        return tensor

    function.__name__ = function.__qualname__ = public
    function.__doc__ = f"""Return {meaning}, element by element; the shapes broadcast.

    Args:
      x: integers, a tensor or what converts to one.
      y: integers of the same type.
      name: of the node.

    Raises:
      TypeError: the types differ, or are no integers.

    Example:
      >>> Session().run(bitwise.{public}({arguments}))
      {result}
    """
    return function


bitwise_and = _public(
    "bitwise_and", BITWISE_AND, "the bits that both have", "[12, 7], 10",
    "array([8, 2], dtype=int32)",
)  # fmt: skip
bitwise_or = _public(
    "bitwise_or", BITWISE_OR, "the bits that one of both has", "[12, 1], 2",
    "array([14,  3], dtype=int32)",
)  # fmt: skip
bitwise_xor = _public(
    "bitwise_xor", BITWISE_XOR, "the bits in which both differ", "[12, 7], 10",
    "array([ 6, 13], dtype=int32)",
)  # fmt: skip
left_shift = _public(
    "left_shift", LEFT_SHIFT, "x shifted left by y bits", "[1, -3], 2",
    "array([  4, -12], dtype=int32)",
)  # fmt: skip
right_shift = _public(
    "right_shift", RIGHT_SHIFT, "x shifted right by y bits, with its sign", "[9, -9], 2",
    "array([ 2, -3], dtype=int32)",
)  # fmt: skip


def invert(x: Any, name: str | None = None) -> Tensor:
    """Return each bit of `x` as its opposite.

    Args:
      x: integers, a tensor or what converts to one.
      name: of the node.

    Example:
      >>> Session().run(bitwise.invert([0, -7]))
      array([-1,  6], dtype=int32)
    """
    tensor: Tensor = INVERT(x, name=name)
    return tensor
