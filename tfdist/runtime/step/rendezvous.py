"""Rendezvous: where what one task sends in a step waits for the task that receives it.

A value waits where it was made until its receiver asks for it. In a loop that would be a question
and an answer for every value of every iteration: there, another process asks once for a route,
which is all that one device sends to another one, and has it handed on from then on (`subscribe`),
to a rendezvous of its own (`inbox`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from tfdist.base.aliases import Outcome, TensorValue
from tfdist.errors import AbortedError, OpError
from tfdist.graph.op_def import PENDING
from tfdist.runtime.resources.wait_info import WaitInfo, receive_info

NO_LOOP = "0:0"  # the tag of what is outside of all loops

Sent = list[tuple[str, Any]]  # keys and values
Take = Callable[[Sent | OpError], None]  # gets what was sent, time and again; an error ends it


def route_of(key: str) -> str:
    """Return the route of what is sent under `key`; "" outside of loops, which has none."""
    route, _, tag = key.rsplit(";", 2)
    return "" if tag == NO_LOOP else route


class Named(Protocol):
    """A follower (`followers.Follower`)."""

    task: str


def is_for(task: str, key: str) -> bool:
    """Return whether what is sent under `key` goes to a device of a task."""
    return key.split(";", 3)[2].startswith(f"{task}/")


class Rendezvous:
    """The values of one step on the task that sends them, by key; each is received once.

    Attributes:
      session: whose step it is, as soon as something was sent.
    """

    __slots__ = (
        "_cancels",
        "_error",
        "_given",
        "_inboxes",
        "_lock",
        "_lost",
        "_routes",
        "_values",
        "_waiting",
        "session",
    )

    def __init__(self) -> None:
        self.session = ""
        self._given: set[Named] = set()  # the followers that were handed something
        self._lost: dict[str, OpError] = {}  # by task: what was handed to it may be lost
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        self._waiting: dict[str, Receive] = {}
        self._routes: dict[str, _Route] = {}  # that others subscribe to
        self._inboxes: dict[str, Rendezvous | None] = {}  # of the routes that come here
        self._cancels: list[Callable[[], None]] = []  # end the subscriptions
        self._error: OpError | None = None

    def send(self, key: str, value: TensorValue) -> bool:
        """Leave `value` for whoever asks for `key`.

        Returns:
          Whether its route has a subscriber: `deliver` gives it away, with all that was sent till
          then.
        """
        with self._lock:
            waiting = self._waiting.pop(key, None)
            if waiting is None:
                return self._error is None and self._keep(key, value)  # else nobody will ask
        waiting.done(value)
        return False

    def send_all(self, sent: Sent) -> None:
        """Leave values for whoever asks for their keys; nobody subscribes to their routes."""
        due = []
        with self._lock:
            for key, value in sent:
                waiting = self._waiting.pop(key, None)
                if waiting is not None:
                    due.append((waiting, value))
                elif self._error is None:  # else nobody will ask
                    self._values[key] = value
        for waiting, value in due:
            waiting.done(value)

    def _keep(self, key: str, value: TensorValue) -> bool:
        route = self._routes.get(route_of(key)) if self._routes else None
        if route is None:
            self._values[key] = value
            return False
        route.sent.append((key, value))
        return True

    def receive(self, key: str) -> Receive:
        """Return the wait for the value of `key`."""
        return Receive(self, key)

    def begin(self, wait: Receive) -> TensorValue:
        """Return the value if it is there, else `PENDING`, and remember `wait`."""
        with self._lock:
            if wait.key in self._values:
                return self._values.pop(wait.key)
            if self._error is not None:
                return self._error
            for task, error in self._lost.items():
                if is_for(task, wait.key):
                    return error
            self._waiting[wait.key] = wait
            return PENDING

    def drop(self, wait: Receive) -> bool:
        """Forget `wait`; returns whether it was still waiting."""
        with self._lock:
            is_waiting = self._waiting.get(wait.key) is wait
            if is_waiting:
                del self._waiting[wait.key]
            return is_waiting

    def abort(self, error: OpError) -> None:
        """End all waits, now and later, with `error`."""
        with self._lock:
            self._error = self._error or error
            waiting, self._waiting = list(self._waiting.values()), {}
        for wait in waiting:
            wait.done(error)
        if self._routes or self._inboxes:  # there are no new ones from now on
            self._end_routes(error)

    def _end_routes(self, error: OpError) -> None:
        with self._lock:
            routes, self._routes = list(self._routes.values()), {}
            inboxes, self._inboxes = list(self._inboxes.values()), {}
            cancels, self._cancels = self._cancels, []
        for route in routes:
            route.take(error)
        for inbox in filter(None, inboxes):
            inbox.abort(error)
        for cancel in cancels:
            cancel()

    # followers: see `runtime.step.followers`

    def give(self, key: str, follower: Named) -> TensorValue:
        """Return the value of `key` to be handed to a follower; `PENDING` if it was given away."""
        with self._lock:
            self._given.add(follower)
            return self._values.pop(key, PENDING)

    def give_all(self, task: str, follower: Named) -> Sent:
        """Return what was left for a task, outside of loops, to be handed to a follower."""
        with self._lock:
            keys = [key for key in self._values if is_for(task, key) and not route_of(key)]
            if keys:
                self._given.add(follower)
            return [(key, self._values.pop(key)) for key in keys]

    def lose(self, task: str, error: OpError) -> None:
        """Let a task that asks, from now on, be told that what it was handed may be lost."""
        with self._lock:
            self._lost[task] = error

    @property
    def given(self) -> frozenset[Named]:
        """Return the followers that were handed something."""
        with self._lock:
            return frozenset(self._given)

    # routes between processes

    def subscribe(self, route: str, take: Take) -> None:
        """Give `take` what is sent on a route, now and later, each value once.

        Args:
          route: see `route_of`.
          take: gets what was sent; when the step ends, why, and nothing more.
        """
        with self._lock:
            error = self._error
            if route in self._routes:
                error = AbortedError(f"{route} has a subscriber already")
            if error is None:
                keys = [key for key in self._values if route_of(key) == route]
                self._routes[route] = _Route(take, [(key, self._values.pop(key)) for key in keys])
        if error is None:
            self.deliver()
        else:
            take(error)

    def unsubscribe(self, route: str) -> None:
        """Give nothing away on a route any more: its subscriber has gone."""
        with self._lock:
            self._routes.pop(route, None)

    def deliver(self) -> None:
        """Give the subscribers of routes what was sent there."""
        with self._lock:
            due = [(route.take, route.taken()) for route in self._routes.values() if route.sent]
        for take, sent in due:
            take(sent)

    def inbox(
        self, route: str, begin: Callable[[Rendezvous], Callable[[], None] | None]
    ) -> Rendezvous | None:
        """Return where that is received which comes on a route from another process.

        Args:
          route: see `route_of`.
          begin: called for a new route: has what is sent there put into the rendezvous that it is
            given, and returns what ends that; or None, if each value has to be asked for.

        Returns:
          The same for all of a route: None if each value has to be asked for.
        """
        with self._lock:
            if self._error is not None:
                return self
            if route in self._inboxes:
                return self._inboxes[route]
            made = self._inboxes[route] = Rendezvous()
        cancel = begin(made)  # not with the lock: it calls the other process
        with self._lock:
            if cancel is None:
                self._inboxes[route] = None
                return None
            is_over = self._error is not None
            if not is_over:
                self._cancels.append(cancel)
        if is_over:
            cancel()
        return made


class _Route:
    """What is sent from one device to another one, and who subscribes to it."""

    __slots__ = ("sent", "take")

    def __init__(self, take: Take, sent: Sent) -> None:
        self.take, self.sent = take, sent

    def taken(self) -> Sent:
        """Return what was sent, once."""
        sent, self.sent = self.sent, []
        return sent


class Receive:
    """The wait for one value (a `graph.op_def.Wait`)."""

    __slots__ = ("_rendezvous", "done", "key")

    def __init__(self, rendezvous: Rendezvous, key: str) -> None:
        self._rendezvous, self.key = rendezvous, key
        self.done: Callable[[Any], None] = _nobody

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        self.done = done
        return self._rendezvous.begin(self)

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        return self._rendezvous.drop(self)

    def describe(self) -> str:
        """Return what is waited for."""
        source, _, _, name, _ = self.key.split(";")
        return f"receive of {name} from {source}"

    def info(self) -> WaitInfo:
        """See `Wait.info`."""
        return receive_info(self.key)


def _nobody(outcome: Outcome) -> None:
    """Stand in for a callback before there is one."""
