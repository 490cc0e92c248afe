"""What is done to ragged tensors by Python's operators and by indices; set on the class here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies, name_scope
from tfdist.ops.array.cast import cast
from tfdist.ops.array.gather import gather
from tfdist.ops.checks.assertions import assert_equal
from tfdist.ops.math.operators import OPERATORS
from tfdist.ops.ragged.ragged_tensor import ELEMENTWISE, RaggedTensor

__all__ = ["map_flat_values"]


def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """Return a row, rows, or a slice of each row; see `_item`."""
    keys = key if isinstance(key, tuple) else (key,)
    with name_scope(None, "RaggedGetItem", [ragged.row_splits]):
        return _item(ragged, keys)


def _item(ragged: RaggedTensor, keys: tuple[Any, ...]) -> Any:
    """Return what `ragged[keys]` is.

    Raises:
      ValueError: the keys are neither of rows, nor of the beginnings of all rows.
    """
    first, rest = keys[0], keys[1:]
    splits: Any = ragged.row_splits
    if not isinstance(first, slice):
        row = ragged.values[splits[:-1][first] : splits[1:][first]]
        return row[rest if len(rest) > 1 else rest[0]] if rest else row
    rows = rows_at(ragged, splits[:-1][first], splits[1:][first])
    if not rest:
        return rows
    if len(rest) > 1 or not isinstance(rest[0], slice) or rest[0].step not in (None, 1):
        raise ValueError(f"ragged[{keys}] is not supported: give a row, or slices of step 1")
    starts, limits = rows.row_starts(), rows.row_limits()
    begin = _bound(rest[0].start, starts, limits, starts)
    end = _bound(rest[0].stop, starts, limits, limits)
    return rows_at(rows, begin, raw.Maximum(begin, end))


def _bound(bound: Any, starts: Any, limits: Any, default: Any) -> Any:
    """Return where a bound of a slice stands in each row."""
    if bound is None:
        return default
    place = (starts if bound >= 0 else limits) + bound
    return raw.Maximum(starts, raw.Minimum(place, limits))


def rows_at(ragged: RaggedTensor, starts: Any, limits: Any) -> RaggedTensor:
    """Return rows of the values from each start to the limit beside it."""
    one = cast(1, starts.dtype)
    splits, places = raw.RaggedRange(starts, limits, one, Tsplits=starts.dtype.base_dtype)
    values = ragged.values
    if isinstance(values, RaggedTensor):
        inner: Any = values.row_splits
        return RaggedTensor(
            rows_at(values, gather(inner[:-1], places), gather(inner[1:], places)), splits
        )
    return RaggedTensor(gather(values, places), splits)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return a RaggedTensor of what a function makes of the innermost values.

    Args:
      op: takes tensors; gives one that has as many rows as the values.
      *args: for it; of RaggedTensors, which have the same rows, it gets the values.
      **kwargs: for it; of RaggedTensors, which have the same rows, it gets the values.

    Example:
      >>> x = RaggedTensor.from_row_lengths([5, 6, 7], [2, 1])
      >>> Session().run(map_flat_values(square, x)).to_list()
      [[25, 36], [49]]
    """
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, RaggedTensor)]
    if not given:
        return op(*args, **kwargs)
    checks = [
        assert_equal(one, other, message="Inputs must have identical ragged splits")
        for each in given[1:]
        for one, other in zip(given[0].nested_row_splits, each.nested_row_splits, strict=True)
        if one is not other
    ]
    with control_dependencies(checks):
        values = op(*map(_flat, args), **{key: _flat(each) for key, each in kwargs.items()})
    return given[0].with_flat_values(values)


def _flat(value: Any) -> Any:
    return value.flat_values if isinstance(value, RaggedTensor) else value


def _operator(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: map_flat_values(function, *operands)


for _name in ELEMENTWISE:
    setattr(RaggedTensor, _name, _operator(OPERATORS[_name]))
setattr(RaggedTensor, "__getitem__", getitem)  # noqa: B010  mypy knows no such method
