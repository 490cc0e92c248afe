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
    if not keys:
        return ragged
    first, rest = keys[0], keys[1:]
    if first is None:
        return _one_more(_item(ragged, rest))
    if first is Ellipsis:
        return _item(ragged, _filled(ragged, rest))
    splits: Any = ragged.row_splits
    if not isinstance(first, slice):
        row = ragged.values[splits[:-1][first] : splits[1:][first]]
        return row[rest if len(rest) > 1 else rest[0]] if rest else row
    rows = ragged
    if first != slice(None):
        rows = rows_at(ragged, splits[:-1][first], splits[1:][first])
    return _within(rows, rest) if rest else rows


def _one_more(value: Any) -> Any:
    """Return a value with one more axis, in front of the others."""
    if not isinstance(value, RaggedTensor):
        return raw.ExpandDims(value, 0)
    count = value.nrows()
    return RaggedTensor(value, raw.Pack([cast(0, count.dtype), count]))


def _filled(ragged: RaggedTensor, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return keys with as many whole slices in front as an ellipsis stands for."""
    rank = ragged.shape.ndims
    if rank is None and rest:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    named = sum(key is not None for key in rest)
    return (slice(None),) * ((rank or 0) - named) + rest


def _within(rows: RaggedTensor, keys: tuple[Any, ...]) -> Any:
    """Return what keys choose of each row."""
    key, rest = keys[0], keys[1:]
    if not isinstance(key, slice):
        raise ValueError(f"Cannot index into an inner ragged dimension. Got {key!r}")
    if key != slice(None):
        starts, limits = rows.row_starts(), rows.row_limits()
        begin = _bound(key.start, starts, limits, starts)
        end = _bound(key.stop, starts, limits, limits)
        step = 1 if key.step is None else key.step
        rows = rows_at(rows, begin, raw.Maximum(begin, end), step)  # none for a negative step
    if not rest:
        return rows
    values, inner = rows.values, (slice(None), *rest)
    return rows.with_values(
        _item(values, inner) if isinstance(values, RaggedTensor) else values[inner]
    )


def _bound(bound: Any, starts: Any, limits: Any, default: Any) -> Any:
    """Return where a bound of a slice stands in each row."""
    if bound is None:
        return default
    place = (starts if bound >= 0 else limits) + bound
    return raw.Maximum(starts, raw.Minimum(place, limits))


def rows_at(ragged: RaggedTensor, starts: Any, limits: Any, step: int = 1) -> RaggedTensor:
    """Return rows of the values from each start to the limit beside it."""
    steps = cast(step, starts.dtype)
    splits, places = raw.RaggedRange(starts, limits, steps, Tsplits=starts.dtype.base_dtype)
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
