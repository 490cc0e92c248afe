"""Which replica of a model is being built: the contexts that distribution strategies enter.

A strategy builds a model once for each of its replicas, into one graph. What must know of it, as
optimizers that add the gradients of all replicas, asks here; strategies stand in `training`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tfdist.base.aliases import OwnReplica, OwnStrategy, TensorLike


class _Contexts(threading.local):
    """What a thread has entered: pairs of a strategy and a replica's context, None across all."""

    def __init__(self) -> None:
        self.entered: list[tuple[OwnStrategy, OwnReplica]] = []


_CONTEXTS = _Contexts()


@contextmanager
def entered(strategy: OwnStrategy, replica: OwnReplica = None) -> Iterator[None]:
    """Build for one replica of `strategy`, or across all of them, while the context lasts."""
    _CONTEXTS.entered.append((strategy, replica))
    try:
        yield
    finally:
        _CONTEXTS.entered.pop()


def innermost() -> tuple[OwnStrategy, OwnReplica] | None:
    """Return the strategy and the replica's context that were entered last, None without any."""
    return _CONTEXTS.entered[-1] if _CONTEXTS.entered else None


def merging() -> OwnReplica:
    """Return the context of a replica that is one of several, None elsewhere."""
    if not _CONTEXTS.entered:
        return None
    strategy, replica = _CONTEXTS.entered[-1]
    return replica if replica is not None and strategy.extended._merges else None


def is_first() -> bool:
    """Return whether this is no replica, or the first one: the one whose summaries are kept."""
    replica = merging()
    return replica is None or replica._number == 0


def updated(
    variable: TensorLike,
    value: TensorLike,
    update: Callable[[TensorLike, TensorLike], TensorLike],
) -> TensorLike:
    """Return one update of a variable by the values that the replicas have for it.

    None says that nothing is merged here, and that the caller goes on by itself: outside of
    replicas, inside of branches and loops, and where each replica adds a share of its own.

    Args:
      variable: says by its `aggregation` how values become one.
      value: of this replica.
      update: takes the variable and the one value.

    Raises:
      ValueError: the variable does not say how.
    """
    replica = merging()
    if replica is None or variable.graph._context is not None:
        return None
    return replica._update(variable, value, update)
