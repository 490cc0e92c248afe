"""Partial runs as a session sees them: names and structures outside, tensors inside."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Protocol

from tfdist.base.aliases import Structure, TensorLike
from tfdist.errors import AbortedError, CancelledError, OpError
from tfdist.graph.composites import COMPOSITES
from tfdist.graph.graph import Graph
from tfdist.plan.step_plan import Signature
from tfdist.runtime.step.interrupts import deferred_interrupts
from tfdist.session.connection import Connection
from tfdist.session.conversions import conversion_of
from tfdist.session.feeds import Feed, find_fed, spread
from tfdist.session.fetches import Fetches
from tfdist.session.postmortem import explain


class OpenSession(Protocol):
    """What partial runs ask of their session (`base_session.BaseSession`)."""

    _lock: threading.RLock
    _closed: bool
    _timeout: float | None

    @property
    def graph(self) -> Graph:
        """Return the graph that the session runs."""

    def _extended(self) -> Connection:
        """Return the connection, with all nodes of the graph sent."""


def set_up(session: OpenSession, fetches: Fetches, keys: Iterable[TensorLike]) -> str:
    """Return the handle of a new partial run; see `BaseSession.partial_run_setup`."""
    fed = [find_fed(session.graph, part) for key in keys for part in _parts(key)]
    endpoints = tuple((tensor.op.name, tensor.value_index) for tensor in fed)
    signature = Signature(endpoints, fetches.endpoints, fetches.targets)
    with session._lock, deferred_interrupts():
        connection = session._extended()
        try:
            return connection.set_up_partial_run(signature)
        except OpError as error:
            explain(error, session.graph)
            raise


def _parts(key: TensorLike) -> Iterable[TensorLike]:
    composite = COMPOSITES.get(type(key))
    conversion = conversion_of(key)
    if conversion is not None and conversion.feed_of_partial_run is not None:
        return conversion.feed_of_partial_run(key)
    return [key] if composite is None else [p for p in composite.parts(key) if p is not None]


def go_on(
    session: OpenSession, handle: str, fetches: Fetches, feeds: Mapping[TensorLike, TensorLike]
) -> Structure:
    """Return what a call of a partial run fetches; see `BaseSession.partial_run`."""
    if fetches.targets:
        raise RuntimeError(
            "partial_run() requires empty target_list: operations run as soon as they can, once "
            f"they were set up; fetch tensors only, not {', '.join(fetches.targets)}"
        )
    values = {}
    for key, value in spread(feeds).items():
        tensor = find_fed(session.graph, key)
        values[tensor.op.name, tensor.value_index] = Feed(tensor).array(value, True)
    with session._lock, deferred_interrupts():
        connection = session._extended()
    timeout = session._timeout / 1000 if session._timeout else None
    try:
        found = connection.go_on(handle, values, fetches.endpoints, timeout)
    except OpError as error:
        if session._closed and isinstance(error, AbortedError):  # nobody should try again
            raise CancelledError("the session was closed while the run went on") from None
        explain(error, session.graph)
        raise
    return fetches.rebuild(found)
