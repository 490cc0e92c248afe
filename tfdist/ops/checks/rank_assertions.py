"""Assertions on ranks: what is known when the graph is built is checked at once.

Source: TF 1.15 API documentation, tf.assert_rank.
"""

from __future__ import annotations

import functools
from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import name_scope
from tfdist.graph.static_value import static_value
from tfdist.ops.array import shape as array_shape
from tfdist.ops.checks.assertion_messages import message_or_data, prefix
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.checks.type_assertions import assert_type
from tfdist.ops.control_flow.identity_group import no_op, with_dependencies

__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar"]


def assert_rank(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has `rank` dimensions.

    Args:
      x: a tensor.
      rank: int32 scalar.
      data: list of tensors to show in the error; by default the rank and the shape of x.
      summarize: how many elements of each to show; by default 3.
      message: shown before them.
      name: prefix for the nodes.

    Raises:
      TypeError: the rank is not int32.
      ValueError: it is no scalar, or it is known when the graph is built that x has another one.
      InvalidArgumentError: when it runs and x has another one.

    Example:
      >>> assert_rank([1, 2], 2)
      Traceback (most recent call last):
      ValueError: Tensor assert_rank/x:0 must have rank 2.  Received rank 1, shape (2,)
    """
    with name_scope(name, "assert_rank", [x, rank]):
        return _assert_rank("rank", x, [rank], data, summarize, message)


def assert_rank_at_least(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has `rank` dimensions or more; see `assert_rank`.

    Example:
      >>> Session().run(assert_rank_at_least([[1, 2]], 1))
    """
    with name_scope(name, "assert_rank_at_least", [x, rank]):
        return _assert_rank("rank at least", x, [rank], data, summarize, message)


def assert_rank_in(
    x: Any, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Operation:  # fmt: skip
    """Return an operation that fails unless `x` has one of `ranks`; see `assert_rank`.

    Example:
      >>> Session().run(assert_rank_in([[1, 2]], [0, 2]))
    """
    with name_scope(name, "assert_rank_in", [x, *ranks]):
        return _assert_rank("rank in", x, list(ranks), data, summarize, message)


def _assert_rank(
    wording: str, x: Any, given: list[Any], data: Any, summarize: int | None, message: str | None
) -> Operation:
    x = convert_to_tensor(x, name="x")
    ranks = [convert_to_tensor(each, name="rank") for each in given]
    broken = f"Tensor {x.name} must have {wording}"
    shown = message_or_data(
        message, data, lambda: [broken, *ranks, "Received shape: ", array_shape.shape(x)]
    )
    for each in ranks:
        _check_rank(each)
    values = [static_value(each) for each in ranks]
    if x.shape.ndims is not None and all(value is not None for value in values):
        _check_known(wording, x, list(map(int, values)), message)  # type: ignore[arg-type]
        return no_op("static_checks_determined_all_ok")
    rank = array_shape.rank(x)
    fits = [_fits(wording, rank, each) for each in ranks]
    holds = _scalars(ranks, functools.reduce(raw.LogicalOr, fits))
    return Assert(holds, shown, summarize=summarize)


def _check_known(wording: str, x: Tensor, ranks: list[int], message: str | None) -> None:
    actual: Any = x.shape.ndims
    if actual in ranks or (wording == "rank at least" and actual >= ranks[0]):
        return
    wanted = tuple(ranks) if wording == "rank in" else ranks[0]
    raise ValueError(
        f"{prefix(message, '.')}Tensor {x.name} must have {wording} {wanted}.  "
        f"Received rank {actual}, shape {x.shape}"
    )


def _fits(wording: str, rank: Tensor, wanted: Tensor) -> Tensor:
    if wording == "rank in":
        return raw.Equal(wanted, rank)  # type: ignore[no-any-return]
    relation = raw.GreaterEqual if wording == "rank at least" else raw.Equal
    return relation(rank, wanted)  # type: ignore[no-any-return]


def _check_rank(rank: Tensor) -> None:
    """Raise TypeError or ValueError if a tensor can be no rank."""
    assert_type(rank, dtypes.int32)
    if static_value(rank) is not None and rank.shape.ndims != 0:
        raise ValueError(f"Rank must be a scalar. Received {static_value(rank)!r}")


def _scalars(ranks: list[Tensor], result: Tensor) -> Tensor:
    """Return `result`, once those of `ranks` that are not known yet have shown to be scalars."""
    for rank in ranks:
        if static_value(rank) is None:
            scalar = assert_rank(rank, 0, ["Rank must be a scalar. Received rank: ", rank])
            result = with_dependencies([scalar], result)
    return result


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """Return `tensor`, of which it must be known when the graph is built that it is a scalar.

    Args:
      tensor: a tensor, or anything that converts to one.
      name: of the constant, if one is made.
      message: first words of the error.

    Raises:
      ValueError: it has another shape, or its shape is not known.

    Example:
      >>> Session().run(assert_scalar(3))
      np.int32(3)
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(
                f"{prefix(message, '.')}Expected scalar shape for {tensor.name}, saw shape: "
                f"{tensor.shape}."
            )
        result: Tensor = tensor
        return result
