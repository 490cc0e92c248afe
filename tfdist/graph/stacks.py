"""Default graphs and default sessions: one stack of each per thread, of opaque objects."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeVar

from tfdist.base.aliases import OwnGraph, Structure, TensorLike

T = TypeVar("T")


class DefaultSession(Protocol):
    """What nodes ask of a session (`session.base_session.BaseSession`)."""

    @property
    def graph(self) -> OwnGraph:
        """Return the graph that the session runs."""

    def run(
        self, fetches: Structure, feed_dict: Mapping[TensorLike, TensorLike] | None = None
    ) -> Structure:
        """Run what `fetches` needs, once, and return its values."""


S = TypeVar("S", bound=DefaultSession)


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[OwnGraph] = []
        self.sessions: list[DefaultSession] = []


STACKS = _Stacks()


@contextmanager
def default_graph(graph: T) -> Iterator[T]:
    """Make `graph` the default graph of this thread while the context lasts.

    Raises:
      AssertionError: at its end another graph is the default one.
    """
    STACKS.graphs.append(graph)
    try:
        yield graph
    finally:
        _leave(STACKS.graphs, graph)


@contextmanager
def default_session(session: S, enforce_nesting: bool = True) -> Iterator[S]:
    """Make `session` the default session of this thread while the context lasts.

    Args:
      session: to be the default one.
      enforce_nesting: whether contexts must end in the opposite order.

    Raises:
      AssertionError: at its end another session is the default one.
    """
    push_session(session)
    try:
        yield session
    finally:
        if enforce_nesting:
            _leave(STACKS.sessions, session)
        else:
            pop_session(session)


def _leave(stack: list[T], element: object) -> None:
    is_last = bool(stack) and stack[-1] is element
    is_there = any(each is element for each in stack)
    _remove_last(stack, element)
    if is_there and not is_last:
        raise AssertionError(
            f"Nesting violated for default stack of {type(element)} objects: contexts end in the "
            "opposite order of their beginnings"
        )


def get_default_session() -> DefaultSession | None:
    """Return the innermost default session of this thread, None if there is none."""
    return STACKS.sessions[-1] if STACKS.sessions else None


def push_session(session: DefaultSession) -> None:
    """Make `session` the default session of this thread."""
    STACKS.sessions.append(session)


def pop_session(session: DefaultSession) -> None:
    """Undo the last `push_session(session)`."""
    _remove_last(STACKS.sessions, session)


def _remove_last(stack: list[T], element: object) -> None:
    """Remove the innermost occurrence of `element`, which may stand in `stack` several times."""
    for position in range(len(stack) - 1, -1, -1):
        if stack[position] is element:
            del stack[position]
            return


def session_for(session: DefaultSession | None, graph: OwnGraph) -> DefaultSession:
    """Return `session`, or the default one; ValueError if there is none for `graph`."""
    chosen = session or get_default_session()
    if chosen is None:
        raise ValueError(
            "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to `eval(session=sess)`"
        )
    if chosen.graph is not graph:
        raise ValueError(
            "the session's graph is another one than the graph of what it is to run; open one with "
            "tf.Session(graph=...)"
        )
    return chosen
