"""Answers: what several processes answer to calls that were begun together."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError, UnavailableError
from tfdist.protos import pb
from tfdist.runtime.step.interrupts import LOOK_UP, allowed_interrupts
from tfdist.wire.common.calls import Caller, Pieces
from tfdist.wire.common.connection_diagnosis import reason_of
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import WORKER

SILENCE = 1.0  # seconds after which a wait says what it is for
_PROBE = 0.5  # seconds in which it learns why, of all that it waits for
Begin = Callable[[Callable[[Any], None]], Callable[[], None]]
Notice = Callable[[list[str]], str]


class Answers:
    """The outcomes of calls, by name.

    Args:
      names: of all calls.
      notice: of the names that have not answered, makes the line that tells of a long wait; without
        it, the wait is silent.
      told: called with each name that has an outcome, from any thread.
    """

    def __init__(
        self,
        names: Iterable[str],
        notice: Notice | None = None,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._outcomes: dict[str, Any] = dict.fromkeys(names)
        self._notice = notice
        self._told = told
        self._cancels: list[Callable[[], None]] = []
        self._left = len(self._outcomes)
        self._lock = threading.Lock()
        self._complete = threading.Event()
        if not self._left:
            self._complete.set()

    def expect(self, name: str, begin: Begin) -> None:
        """Begin the call `name`: `begin` gets what to call with its outcome."""

        def done(outcome: Outcome) -> None:
            if self._told is not None:
                self._told(name)
            with self._lock:
                self._outcomes[name] = outcome
                self._left -= 1
                if not self._left:
                    self._complete.set()

        self._cancels.append(begin(done))

    def wait(self, seconds: float) -> dict[str, Outcome]:
        """Return the outcomes; who has none within `seconds` gets an error.

        Raises:
          KeyboardInterrupt: Ctrl-C; all calls are cancelled.
        """
        with allowed_interrupts():
            return self.collected(seconds)

    def collected(self, seconds: float) -> dict[str, Outcome]:
        """Do as `wait`, within a wait that may be given up."""
        try:
            self._wait(time.monotonic() + seconds)
        finally:
            for cancel in self._cancels:
                cancel()
        silent = UnavailableError("no answer")
        return {
            name: silent if outcome is None else outcome for name, outcome in self._outcomes.items()
        }

    def _wait(self, deadline: float) -> None:
        notice_at = time.monotonic() + SILENCE
        # in short waits: a signal that comes just before a wait does not end it
        while not self._complete.wait(min(LOOK_UP, max(0.0, deadline - time.monotonic()))):
            now = time.monotonic()
            if now >= deadline:
                return
            if self._notice is not None and now >= notice_at:
                notice_at = deadline
                missing = [name for name, outcome in self._outcomes.items() if outcome is None]
                sys.stderr.write(f"tfdist: {self._notice(missing)}\n")


def ask_status(
    links: Mapping[str, Link], seconds: float, notice: Notice | None = None
) -> dict[str, Outcome]:
    """Return what the server at each link answers to GetStatus, or an error, by name.

    It is the one call that every server of the protocol answers. All are asked at once; see
    `Answers` and its `wait` for the other arguments.
    """
    request = [pb.GetStatusRequest().SerializeToString()]
    answers = Answers(links, notice)
    for name, link in links.items():
        answers.expect(name, partial(_begin_status, link, request, seconds))
    return answers.wait(seconds)


def ask_reasons(links: Mapping[str, Link]) -> dict[str, str]:
    """Return why the servers at these links cannot be reached now, by name; "" if they can.

    It is asked within or after the wait for them, and takes no longer than `_PROBE`.
    """
    answers = Answers(links)
    for name, link in links.items():
        answers.expect(name, link.probe)
    return {name: reason_of(outcome) for name, outcome in answers.collected(_PROBE).items()}


def _begin_status(
    link: Link, request: Pieces, seconds: float, done: Callable[[Outcome], None]
) -> Callable[[], None]:
    return link.begin_unary(f"{WORKER}GetStatus", request, done, seconds)


def ask_retrying(
    caller: Caller, path: str, request: Pieces, seconds: float, notice: Callable[[], str]
) -> memoryview:
    """Return the answer to one call that may take long, and say so if it does.

    Raises:
      OpError: see `Caller.call`; UnavailableError after `seconds`.
      KeyboardInterrupt: Ctrl-C; the call is cancelled.
    """
    answers = Answers([path], lambda _: notice())
    answers.expect(path, lambda done: caller.begin(path, request, done))
    outcome = answers.wait(seconds).popitem()[1]
    try:
        if isinstance(outcome, OpError):
            raise outcome
        return outcome  # type: ignore[no-any-return]
    finally:
        del outcome  # an error must not keep the frame that it is raised through
