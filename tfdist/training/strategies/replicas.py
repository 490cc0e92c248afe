"""Building a model once for each replica: in turn, with a halt wherever all have to come together.

Each replica's function runs in a thread of its own, but only one of them runs at a time: up to the
next `merge_call`, or to its end. A thread is what a function can be halted in, no more.

Variables are shared: what the first replica makes, the others get in the same order. So each finds
the variables' names and scopes as they were at the beginning.

Source: TF 1.15 API documentation, tf.distribute.ReplicaContext; the order by experiment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from tfdist.graph import replicas, scopes
from tfdist.graph.graph import Graph
from tfdist.graph.stacks import STACKS
from tfdist.ops.variables.variable_scope import store_of
from tfdist.training.strategies.values import regrouped, selected

__all__: list[str] = []


class _Stopped(BaseException):
    """Ends the function of a replica, because that of another one has failed."""


class Place:
    """What surrounds new nodes and variables, to be left and come back to."""

    def __init__(self, graph: Graph) -> None:
        store = store_of(graph.outermost)
        self.graph, self.scope = graph, graph.get_name_scope()
        self.around = graph.surroundings()
        self.store = replace(store, variables=dict(store.variables), in_parts=dict(store.in_parts),
                             opened=dict(store.opened))  # fmt: skip

    def come(self) -> None:
        """Let new nodes be surrounded by this."""
        self.graph.surround(self.around)
        vars(store_of(self.graph.outermost)).update(vars(self.store))

    def leave(self) -> None:
        """Keep what surrounds new nodes now."""
        self.around = self.graph.surroundings()
        vars(self.store).update(vars(store_of(self.graph.outermost)))


class MergeRequest:
    """What a replica wants to be done across all of them."""

    def __init__(self, function: Any, args: Any, kwargs: Any, place: Any) -> None:
        self.function, self.args, self.kwargs, self.place = function, args, kwargs, place


class _Seat:
    """One replica: its thread, and what it waits with."""

    def __init__(self, context: Any, call: Callable[[], Any], place: Place) -> None:
        self.context, self.result = context, None
        self.request: MergeRequest | None = None
        self.error: BaseException | None = None
        self.is_done = False
        self._call, self._place = call, place
        self._answer: Any = None
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._stacks = list(STACKS.graphs), list(STACKS.sessions)
        self._thread = threading.Thread(target=self._run, name=f"replica {context._number}")
        self._thread.start()

    def resume(self, answer: Any = None) -> None:
        """Let it run to its next halt."""
        self._answer, self.request = answer, None
        self._place.come()
        self._go.release()
        self._back.acquire()
        self._place.leave()
        if self.is_done:
            self._thread.join()

    def halt(self, request: MergeRequest) -> Any:
        """Wait until all have come here, called by the replica; returns what was merged for it."""
        self.request = request
        self._back.release()
        self._go.acquire()
        if isinstance(self._answer, _Stopped):
            raise self._answer
        return self._answer

    def _run(self) -> None:
        self._go.acquire()
        STACKS.graphs[:], STACKS.sessions[:] = self._stacks
        try:
            if not isinstance(self._answer, _Stopped):
                self.result = self._call()
        except _Stopped:
            pass
        except BaseException as error:  # raised again by `_checked`, in the caller's thread
            self.error = error
        self.is_done = True
        self._back.release()


def for_each(
    contexts: Sequence[Any], function: Callable[..., Any], args: Any, kwargs: Any
) -> list[Any]:
    """Return what a function returns for each replica.

    Args:
      contexts: of the replicas.
      function: called once for each, in its context.
      args: each PerReplica in it is replaced by the value of the replica.
      kwargs: likewise.

    Raises:
      ValueError: some replicas come together where others do not.
    """
    graph = scopes.get_default_graph()
    start = Place(graph)
    seats: list[_Seat] = []
    shared: list[Any] = []
    try:
        for context in contexts:
            call = _call(context, function, args, kwargs, shared, graph.get_name_scope())
            seats.append(_Seat(context, call, Place(graph)))
            context._seat = seats[-1]
        _run(seats, start)
    finally:
        _stop(seats)
        start.come()
    return [seat.result for seat in seats]


def _run(seats: list[_Seat], start: Place) -> None:
    answers: list[Any] = [None] * len(seats)
    while True:
        for seat, answer in zip(seats, answers, strict=True):
            seat.resume(answer)
            if seat.error is not None:
                raise seat.error
        if all(seat.is_done for seat in seats):
            vars(start.store).update(vars(seats[0]._place.store))
            return
        if any(seat.is_done for seat in seats):
            waiting = [str(seat.context._number) for seat in seats if not seat.is_done]
            raise ValueError(
                f"replicas must call merge_call equally often: {', '.join(waiting)} of "
                f"{len(seats)} called it once more than the others"
            )
        start.come()
        answers = _merged(seats)


def _merged(seats: list[_Seat]) -> list[Any]:
    """Return for each replica what one call across all of them gives."""
    requests: list[Any] = [seat.request for seat in seats]
    strategy = seats[0].context.strategy
    devices = [seat.context.devices[0] for seat in seats]
    args = regrouped([each.args for each in requests], devices)
    kwargs = regrouped([each.kwargs for each in requests], devices)
    waited = [op for each in requests for op in _waited(each.place)]
    scope = requests[0].place.scope
    with (
        replicas.entered(strategy),
        scopes.name_scope(f"{scope}/" if scope else None),
        scopes.control_dependencies(list(dict.fromkeys(waited))),
    ):
        made = requests[0].function(strategy, *args, **kwargs)
    return [selected(seat.context._number, made) for seat in seats]


def _waited(place: Place) -> list[Any]:
    """Return what new nodes wait for at a place."""
    return [op for scope in place.around["_control_scopes"] for op in scope.inputs]


def _stop(seats: list[_Seat]) -> None:
    """End the threads that still wait."""
    for seat in seats:
        if not seat.is_done:
            seat.resume(_Stopped())


def _call(
    context: Any, function: Callable[..., Any], args: Any, kwargs: Any, shared: list[Any],
    around: str,
) -> Callable[[], Any]:  # fmt: skip
    """Return what a replica's thread does."""

    def call() -> Any:
        with ExitStack() as stack:
            stack.enter_context(context)
            stack.enter_context(scopes.name_scope(f"{around}/" if around else None))
            if context._number:
                stack.enter_context(scopes.name_scope(f"replica_{context._number}"))
            stack.enter_context(scopes.device(context.devices[0]))
            context._shared = _Shared(shared, context._number == 0)
            return function(*selected(context._number, args), **selected(context._number, kwargs))

    return call


class _Shared:
    """The variables that the replicas share: the first makes them, the others take them in turn."""

    def __init__(self, made: list[Any], is_first: bool) -> None:
        self._made, self._is_first, self._next = made, is_first, 0

    def variable(self, make: Callable[[], Any], name: str | None) -> Any:
        """Return the next variable.

        Raises:
          ValueError: the first replica has made none.
        """
        if self._is_first:
            self._made.append(make())
            return self._made[-1]
        if self._next >= len(self._made):
            raise ValueError(
                f"variable {name} is made by a replica, but not by the first one: replicas must "
                "make the same variables in the same order"
            )
        self._next += 1
        return self._made[self._next - 1]
