"""Following: the receiving end of what other tasks hand on without being asked.

See `runtime.step.followers`. A task is followed once values of a session come from it, its link is
one of frames, and nothing that was asked for is still to come: what is asked for after that stands
where it is sent, and is sent with what follows.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import Counter
from collections.abc import Callable

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError, UnavailableError
from tfdist.graph.op_def import PENDING
from tfdist.protos import pb
from tfdist.runtime.step.counters import MOVES
from tfdist.runtime.step.rendezvous import Receive, Rendezvous, Sent
from tfdist.wire.codec.transfers import following_values
from tfdist.wire.common.calls import as_op_error
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import FOLLOW_SESSION

_MOST_BROKEN = 64  # steps that are known to be broken
Meeting = Callable[[int], Rendezvous]  # returns this task's rendezvous of a step
Explain = Callable[[str, OpError], OpError]  # returns an error that says which task it was


class Followings:
    """Whom a task follows, in each session.

    Args:
      name: of the task.
      meeting: see `Meeting`.
      explain: see `Explain`.
    """

    def __init__(self, name: str, meeting: Meeting, explain: Explain) -> None:
        self._name, self._meeting, self._explain = name, meeting, explain
        self._lock = threading.Lock()
        self._followings: dict[tuple[str, str], _Following] = {}
        self._asked: Counter[tuple[str, str]] = Counter()  # for values, with no answer so far

    def receive(
        self, link: Link, task: str, session: str, step_id: int, key: str
    ) -> Receive | None:
        """Return the wait for a value that a task sends; None if it is to be asked for.

        Who asks calls `answered` in the end.
        """
        following = self._followings.get((task, session))
        if following is None or following.error is not None:
            following = self._begun(link, task, session)
        if following is None:
            return None
        return _FollowedReceive(self._meeting(step_id), key, step_id, following)

    def answered(self, task: str, session: str) -> None:
        """Note that a value was answered that was asked for, or is not waited for any more."""
        with self._lock:
            self._asked[task, session] -= 1

    def _begun(self, link: Link, task: str, session: str) -> _Following | None:
        caller = link.frames_caller
        with self._lock:
            found = self._followings.get((task, session))
            if found is not None and found.error is None:
                return found
            if caller is None or self._asked[task, session] > 0:
                self._asked[task, session] += 1
                return None
            following = self._followings[task, session] = _Following(self, task, session)
        request = pb.RecvTensorRequest(rendezvous_key=f"{session};{self._name}")
        try:
            caller.begin(FOLLOW_SESSION, [request.SerializeToString()], following.take)
        except UnavailableError as error:  # the next one tries to reach it anew
            following.end(error)
        return following

    def take(self, step_id: int, sent: Sent) -> None:
        """Let values that came be received."""
        self._meeting(step_id).send_all(sent)

    def end(self, following: _Following) -> None:
        """Forget a task that is not followed any more."""
        with self._lock:
            if self._followings.get((following.task, following.session)) is following:
                del self._followings[following.task, following.session]

    def explained(self, task: str, error: OpError) -> OpError:
        """Return an error that says which task it was."""
        return self._explain(task, error)


class _Following:
    """That a task is followed in a session."""

    def __init__(self, among: Followings, task: str, session: str) -> None:
        self._among, self.task, self.session = among, task, session
        self.waits: set[_FollowedReceive] = set()
        self.error: OpError | None = None
        self.broken: dict[int, OpError] = {}  # by step

    def take(self, outcome: Outcome) -> None:
        """Take what came, or why nothing more will."""
        if isinstance(outcome, OpError):
            self.end(outcome)
            return
        try:
            began = time.perf_counter_ns()
            values = list(following_values(outcome))
            MOVES.add(began)
            for step_id, sent in values:
                if isinstance(sent, OpError):
                    self._break(step_id, sent)
                else:
                    self._among.take(step_id, sent)
        except Exception as error:  # somebody waits for values, whatever it is
            self.end(as_op_error(error))

    def end(self, error: OpError) -> None:
        """End all waits: nothing more comes."""
        self.error = self._among.explained(self.task, error)
        self._among.end(self)
        for wait in list(self.waits):
            wait.fail(self.error)

    def _break(self, step_id: int, error: OpError) -> None:
        while len(self.broken) >= _MOST_BROKEN:
            self.broken.pop(next(iter(self.broken)))
        self.broken[step_id] = told = self._among.explained(self.task, error)
        for wait in list(self.waits):
            if wait.step_id == step_id:
                wait.fail(told)

    def why_not(self, step_id: int) -> OpError | None:
        """Return why nothing comes in a step, None if it may."""
        return self.error or self.broken.get(step_id)


class _FollowedReceive(Receive):
    """The wait for a value that comes without being asked for."""

    __slots__ = ("_following", "_told", "step_id")

    def __init__(
        self, rendezvous: Rendezvous, key: str, step_id: int, following: _Following
    ) -> None:
        super().__init__(rendezvous, key)
        self.step_id, self._following = step_id, following
        self._told: Callable[[Outcome], None] = _nobody

    def start(self, done: Callable[[Outcome], None]) -> Outcome:
        """See `Wait.start`."""
        self._told = done
        self._following.waits.add(self)  # before it is seen whether something comes at all
        outcome = super().start(self._came)
        if outcome is PENDING:
            why = self._following.why_not(self.step_id)
            if why is None or not super().cancel():
                return PENDING
            outcome = copy.copy(why)
        self._over()
        return outcome

    def _came(self, outcome: Outcome) -> None:
        self._over()(outcome)

    def _over(self) -> Callable[[Outcome], None]:
        """Return who is told of the outcome, and leave no cycle behind."""
        self._following.waits.discard(self)
        told, self._told = self._told, _nobody
        self.done = _nobody
        return told

    def fail(self, error: OpError) -> None:
        """End the wait with a copy of an error, unless it has ended."""
        if super().cancel():
            self._came(copy.copy(error))

    def cancel(self) -> bool:
        """See `Wait.cancel`."""
        is_given_up = super().cancel()
        if is_given_up:
            self._over()
        return is_given_up


def _nobody(outcome: Outcome) -> None:
    """Stand in for a callback before there is one."""
