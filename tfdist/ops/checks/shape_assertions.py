"""assert_shapes: assertions on sizes that several tensors have in common.

Source: TF 1.15 API documentation, tf.debugging.assert_shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array import shape as array_shape
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.checks.rank_assertions import assert_rank, assert_rank_at_least, assert_rank_in
from tfdist.ops.control_flow.identity_group import group

__all__: list[str] = []  # tf.debugging has its name

_ANY_NUMBER = ("*", "...", Ellipsis)  # of dimensions, in front
_ANY_SIZE = (None, ".")


class _Size(NamedTuple):
    """A size, and where it was seen: an int if it is known, else a tensor."""

    size: Any
    where: str


def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless tensors have the shapes that are told.

    Args:
      shapes: dict from tensors to shapes, or list of (tensor, shape). A shape is a tuple of sizes:
        a number; a name, which must mean one size wherever it stands; None or "." for any. "*" or
        "..." in front stands for any number of dimensions. A shape of one size fits scalars too,
        as if they were [1].
      data: list of tensors to show in the error; by default the size and the shape.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      ValueError: it is known when the graph is built that a shape does not fit.
      InvalidArgumentError: when it runs and one does not.

    Example:
      >>> debugging.assert_shapes([(ones([2, 3]), ("rows", 4))])
      Traceback (most recent call last):
      ...
      ValueError: .  Specified explicitly.  Tensor ones:0 dimension 1 must have size 4.  Received \
size 3, shape (2, 3)
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes]):
        told = [(convert_to_tensor(x), _symbols(symbols)) for x, symbols in pairs]
        checks = [_rank_check(x, symbols, message, data, summarize) for x, symbols in told]
        known: dict[Any, _Size] = {}
        for x, symbols in told:
            for axis, symbol in _placed(x, symbols, message):
                if symbol in _ANY_SIZE:
                    continue
                checks += _size_check(x, axis, symbol, known, message, data, summarize)
        return group(*checks)


def _symbols(symbols: Any) -> list[Any]:
    if isinstance(symbols, list | tuple):
        return list(symbols)
    return list(symbols) if hasattr(symbols, "__iter__") else [symbols]


def _rank_check(x: Tensor, symbols: list[Any], message: str, data: Any, summarize: Any) -> Any:
    options = {"data": data, "summarize": summarize}
    try:
        if symbols and symbols[0] in _ANY_NUMBER:
            return assert_rank_at_least(x, len(symbols) - 1, **options)
        if len(symbols) == 1:
            return assert_rank_in(x, [0, 1], **options)
        return assert_rank(x, len(symbols), **options)
    except ValueError as error:
        raise ValueError(f"{message}.  {error}") from None


def _placed(x: Tensor, symbols: list[Any], message: str) -> list[tuple[int, Any]]:
    """Return (axis, symbol) of what a shape tells; axes from the end if it may have more."""
    for place, symbol in enumerate(symbols[1:], 1):
        if symbol in _ANY_NUMBER:
            raise ValueError(
                f"{message}.  Tensor {x.name} specified shape index {place}.  Symbol `...` or `*` "
                "for a variable number of unspecified dimensions is only allowed as the first entry"
            )
    if symbols and symbols[0] in _ANY_NUMBER:
        return [(i - len(symbols), symbol) for i, symbol in enumerate(symbols) if i]
    return list(enumerate(symbols))


def _size_check(
    x: Tensor, axis: int, symbol: Any, known: dict[Any, _Size], message: str, data: Any,
    summarize: int | None,
) -> Sequence[Operation]:  # fmt: skip
    """Return the assertion on one size, if there is one to run; note sizes that have names."""
    size = _size_of(x, axis)
    if isinstance(symbol, str):
        if symbol not in known:
            where = f"Specified by tensor {x.name} dimension {axis}"
            known[symbol] = _Size(size, where)
            return ()
        wanted = known[symbol]
    else:
        wanted = _Size(int(symbol), "Specified explicitly")
    if isinstance(size, int) and isinstance(wanted.size, int):
        if size != wanted.size:
            raise ValueError(
                f"{message}.  {wanted.where}.  Tensor {x.name} dimension {axis} must have size "
                f"{wanted.size}.  Received size {size}, shape {x.shape}"
            )
        return ()
    shown = data
    if shown is None:
        shown = [message, f"{wanted.where}.", f"Tensor {x.name} dimension", axis, "must have size",
                 wanted.size, "Received shape: ", array_shape.shape(x)]  # fmt: skip
    return [Assert(raw.Equal(size, wanted.size), shown, summarize)]


def _size_of(x: Tensor, axis: int) -> Any:
    """Return the size along an axis: a number if it is known, else a tensor; of a scalar 1."""
    known = x.plain_shape
    if known is not None:
        dim = 1 if not known else known[axis]
        if dim is not None:
            return int(dim)
    sizes: Any = array_shape.shape(x)
    if known is None and axis in (0, -1):
        sizes = raw.Reshape(sizes, [-1])
        one = raw.Cast(raw.Equal(raw.Size(sizes), 0), DstT="int32")
        sizes = raw.ConcatV2([sizes, raw.Fill(raw.Reshape(one, [1]), 1)], 0)  # a scalar is [1]
    return sizes[axis]
