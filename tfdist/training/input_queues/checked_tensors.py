"""Tensors that are checked when they run: ranks, sizes and multiples; told before where known.

Source: what TF 1.15's tf.contrib.training.SequenceQueueingStateSaver adds to a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.array.shape import rank as rank_of
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.array.shape import size as size_of
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.identity_group import identity
from tfdist.ops.math.comparison import equal
from tfdist.ops.math.reductions import reduce_all
from tfdist.ops.strings.conversions import as_string
from tfdist.ops.strings.join_substr import string_join


def rank_checked(value: Tensor, rank: Any) -> Tensor:
    """Return a tensor that fails unless its rank is `rank`, an int or a tensor.

    Raises:
      ValueError: its rank is known, and is another one.
    """
    known: Any = rank if isinstance(rank, int) else constant_value(rank)
    shape = value.get_shape()
    if None not in (known, shape.ndims) and shape.ndims != int(known):
        told = f"Shape {shape} must have rank {known}"
        raise ValueError(f"Rank check failed for {value.name}: {told}")
    is_right = equal(rank, rank_of(value))
    texts = [f"Rank of tensor {value.name} should be: ", as_string(rank), ", shape received:"]
    check = Assert(is_right, [string_join(texts), shape_of(value)])
    with scopes.control_dependencies([check]):
        return identity(value, name="rank_checked")


def shape_checked(value: Tensor, shape: Tensor) -> Tensor:
    """Return a tensor that fails unless its shape is `shape`, an int32 vector.

    Raises:
      ValueError: both are known, and differ.
    """
    known = constant_value(shape)
    wanted: Any = shape if known is None else known.tolist()
    value = rank_checked(value, size_of(shape) if known is None else len(wanted))
    expected, found = TensorShape(None if known is None else wanted), value.get_shape()
    if not found.is_compatible_with(expected):
        raise ValueError(
            f"Shape check failed for {value.name}: Shapes {found} and {expected} are not compatible"
        )
    is_right = reduce_all(equal(wanted, shape_of(value)))
    wanted_text, found_text = as_string(wanted), as_string(shape_of(value))
    told = [f"Shape of tensor {value.name} should be: ", wanted_text, ", shape received: "]
    check = Assert(is_right, [string_join([*told, found_text])])
    with scopes.control_dependencies([check]):
        return identity(value, name="shape_checked")


def multiple_checked(rest: Any, value: Any, number: int, told: str, result: Tensor) -> Tensor:
    """Return `result`, which fails unless `value` is a multiple of `number`, and not 0.

    Args:
      rest: what is left of the value, divided by the number.
      value: int32 scalar.
      number: int.
      told: what the value is.
      result: a tensor.
    """
    is_right = raw.LogicalAnd(equal(rest, 0), raw.NotEqual(value, 0))
    texts = as_string(number), as_string(value)
    begin, end = f"Tensor {told} should be a multiple of: ", ". Consider setting pad=True."
    said = string_join([begin, texts[0], ", but saw value: ", texts[1], end])
    check = Assert(is_right, [said])
    with scopes.control_dependencies([check]):
        return identity(result, name="multiple_of_checked")


def sizes_checked(value: Tensor, label: str, sizes: Sequence[Any]) -> Tensor:
    """Return a tensor that fails unless its first sizes are these: ints or int32 scalars."""
    checks = [_size_check(value, label, index, size) for index, size in enumerate(sizes)]
    with scopes.control_dependencies(checks):
        return identity(value, name=f"dims_checked_{label}")


def _size_check(value: Tensor, label: str, index: int, size: Any) -> Any:
    sizes: Any = shape_of(value)
    is_right = equal(size, sizes[index])
    texts = as_string(size), as_string(shape_of(value))
    told = f"Dimension {index} of tensor labeled {label} should be: "
    return Assert(is_right, [string_join([told, texts[0], ", shape received: ", texts[1]])])
