"""Inputs that several datasets take: whole numbers and seeds."""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.random.random_ops import get_seed


def int64(value: Any, name: str) -> Tensor:
    """Return a number as an int64 tensor."""
    return convert_to_tensor(value, dtypes.int64, name=name)


def as_int64(value: Any) -> Any:
    """Return a number, tensor or not, as an int64 tensor."""
    if isinstance(value, Tensor):
        return value if value.dtype is dtypes.int64 else raw.Cast(value, DstT=dtypes.int64)
    return convert_to_tensor(value, dtypes.int64)


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """Return the two seeds of a dataset as tensors, for what its user gave or None."""
    first, second = get_seed(seed)
    made = int64(first, "seed")
    if (first, second) == (0, 0):
        return made, int64(0, "seed2")
    with name_scope("seed2") as scope:
        given = int64(second, "Const")
        are_zero = raw.LogicalAnd(
            raw.Equal(made, int64(0, "Equal/y")), raw.Equal(given, int64(0, "Equal_1/y"))
        )
        other = int64(2**31 - 1, "Const_1")  # both zero would mean: no seed
        return made, raw.Select(are_zero, other, given, name=scope)
