"""tensorflow.python.framework.common_shapes: rules of shapes, which programs call for ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import shapes
from tfdist.base.tensor_shape import Dimension, TensorShape
from tfdist.graph.operation import Operation

__all__ = [
    "avg_pool_shape", "broadcast_shape", "call_cpp_shape_fn", "conv2d_shape",
    "depthwise_conv2d_native_shape", "get2d_conv_output_size", "get_conv_output_size",
    "has_fully_defined_shape", "is_broadcast_compatible", "matmul_shape", "max_pool_shape",
    "no_outputs", "rank", "scalar_shape", "separable_conv2d_shape", "unchanged_shape",
    "unchanged_shape_with_rank", "unchanged_shape_with_rank_at_least",
    "unchanged_shape_with_rank_at_most", "unknown_shape",
]  # fmt: skip


def broadcast_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the shape of an elementwise operation on both; ValueError if they do not fit."""
    one, other = (TensorShape(each).as_tuple() for each in (shape_x, shape_y))
    try:
        return TensorShape(shapes.broadcast(one, other))
    except Exception:
        pair = f"{shapes.show(one)} and {shapes.show(other)}"
        raise ValueError(f"Incompatible shapes for broadcasting: {pair}") from None


def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Return whether two shapes of known ranks broadcast."""
    if TensorShape(shape_x).ndims is None or TensorShape(shape_y).ndims is None:
        return False
    try:
        broadcast_shape(shape_x, shape_y)
    except ValueError:
        return False
    return True


def has_fully_defined_shape(tensor: Any) -> bool:
    """Return whether all of a tensor's shape is known."""
    return tensor.shape.is_fully_defined()  # type: ignore[no-any-return]


def rank(tensor: Any) -> int | None:
    """Return how many axes a tensor has, None if that is not known."""
    return tensor.shape.ndims  # type: ignore[no-any-return]


# rules: an operation's output shapes


def scalar_shape(unused_op: Operation) -> list[TensorShape]:
    """Return the shape of a scalar."""
    return [TensorShape([])]


def unknown_shape(op: Operation) -> list[TensorShape]:
    """Return for each output that nothing is known."""
    return [TensorShape(None) for _ in op.outputs]


def no_outputs(unused_op: Operation) -> list[TensorShape]:
    """Return the shapes of no outputs."""
    return []


def unchanged_shape(op: Operation) -> list[TensorShape]:
    """Return the shape of the first input."""
    return [op.inputs[0].shape]


def _with(check: Callable[[TensorShape, int], TensorShape]) -> Callable[[int], Any]:
    def of_rank(rank: int) -> Callable[[Operation], list[TensorShape]]:
        """Return a rule: the shape of the first input, whose rank is checked."""
        return lambda op: [check(op.inputs[0].shape, rank)]

    return of_rank


unchanged_shape_with_rank = _with(TensorShape.with_rank)
unchanged_shape_with_rank_at_least = _with(TensorShape.with_rank_at_least)
unchanged_shape_with_rank_at_most = _with(TensorShape.with_rank_at_most)


def call_cpp_shape_fn(op: Operation, require_shape_fn: bool = True) -> list[TensorShape]:
    """Return what the op's own rule found when the operation was made."""
    return [output.shape for output in op.outputs]


avg_pool_shape = max_pool_shape = conv2d_shape = matmul_shape = call_cpp_shape_fn
depthwise_conv2d_native_shape = separable_conv2d_shape = call_cpp_shape_fn


# sizes of convolutions


def get_conv_output_size(
    input_size: Sequence[Any], filter_size: Sequence[Any], strides: Sequence[int],
    padding_type: bytes,
) -> tuple[int | None, ...]:  # fmt: skip
    """Return the sizes that a convolution or a pooling gives, None for those not known.

    Args:
      input_size: of each axis.
      filter_size: of each axis.
      strides: of each axis.
      padding_type: b"SAME" or b"VALID".

    Raises:
      ValueError: the padding is another, or a filter is larger than the input.
    """
    sizes, filters = (tuple(map(_number, each)) for each in (input_size, filter_size))
    known = [(size, width) for size, width in zip(sizes, filters, strict=False)
             if size is not None and width is not None]  # fmt: skip
    if any(width > size for size, width in known):
        raise ValueError(
            f"Filter must not be larger than the input: Filter: {filters} Input: {sizes}"
        )
    if padding_type not in (b"SAME", b"VALID"):
        raise ValueError(f"Invalid padding: {padding_type!r}; there are b'SAME' and b'VALID'")
    widths = filters if padding_type == b"VALID" else (1,) * len(sizes)
    return tuple(
        None if size is None or width is None else (size - width + stride) // stride
        for size, width, stride in zip(sizes, widths, strides, strict=False)
    )


def _number(size: Any) -> int | None:
    return size.value if isinstance(size, Dimension) else size


def get2d_conv_output_size(
    input_height: Any, input_width: Any, filter_height: Any, filter_width: Any,
    row_stride: int, col_stride: int, padding_type: bytes,
) -> tuple[int | None, ...]:  # fmt: skip
    """Return rows and columns that a convolution gives; see `get_conv_output_size`."""
    return get_conv_output_size(
        (input_height, input_width), (filter_height, filter_width), (row_stride, col_stride),
        padding_type,
    )  # fmt: skip
