"""Recorded calls, and how they are played again: with new handles, and one of them mutated.

The calls that open a session (its graph, its callables) cost more than all others, on both sides:
cases that mutate a later call share an open session for a while.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.fuzz.programs import PROGRAMS
from tests.wire.calls_at import Asker
from tfdist.errors import OpError
from tfdist.protos import pb
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common import status
from tfdist.wire.common.calls import Caller

# Handles stand in fields of these names, in requests as in answers.
_HANDLES = ("session_handle", "graph_handle", "partial_run_handle", "handle")
_PATIENCE = 20.0  # seconds for what must be answered at once, on a busy machine
_WAITS = 0.5  # seconds for what a mutation may let wait: nobody sends the value, or fills the queue
_STEP_MS = 200  # in which a played step ends that waits for data
_PLAYS = 20  # of an open session
MAY_WAIT = ("CreateSession", "RunStep", "RunCallable", "RunGraph", "RecvTensor", "ExtendSession")
_OPENS = (
    "CreateSession", "ExtendSession", "MakeCallable", "CreateWorkerSession", "RegisterGraph",
    "GetStatus",
)  # fmt: skip
_ENDS = (
    "CloseSession", "DeregisterGraph", "DeleteWorkerSession", "ReleaseCallable", "CleanupAll",
    "Reset",
)  # fmt: skip

Change = Callable[[Any], bytes]  # of a message makes the bytes that are sent instead


class Recorded(NamedTuple):
    """One call."""

    path: str
    request: Any
    response: Any

    @property
    def method(self) -> str:
        """Return the method's name."""
        return self.path.rpartition("/")[2]


class Recording(NamedTuple):
    """The calls of one program, in their order."""

    name: str
    calls: tuple[Recorded, ...]

    @property
    def opening(self) -> int:
        """Return the number of calls at its beginning that open a session."""
        return next(i for i, call in enumerate(self.calls) if call.method not in _OPENS)


class _Recorder:
    """A caller that remembers what went through it."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.calls: list[tuple[str, bytes, bytes]] = []

    def call(self, path: str, request: Any, timeout: float | None = None) -> memoryview:
        """See `Caller.call`."""
        data = b"".join(request)
        self.calls.append((path, data, b""))
        answer = self._caller.call(path, request, timeout)
        self.calls[-1] = path, data, bytes(answer)
        return answer


def record(caller: Caller) -> list[Recording]:
    """Return what the programs ask of the server that `caller` reaches."""
    found = []
    for program in PROGRAMS:
        recorder = _Recorder(caller)
        program(Asker(recorder))  # type: ignore[arg-type]
        calls = tuple([_parsed(*call) for call in recorder.calls])
        found.append(Recording(program.__name__, calls))
    return found


def _parsed(path: str, request: bytes, response: bytes) -> Recorded:
    name = path.rpartition("/")[2]
    classes = getattr(pb, f"{name}Request"), getattr(pb, f"{name}Response")
    parsed = Recorded(path, classes[0].FromString(request), classes[1].FromString(response))
    for options in _run_options(parsed.request):
        options.timeout_in_ms = _STEP_MS
    return parsed


def _run_options(request: Any) -> list[Any]:
    if isinstance(request, pb.MakeCallableRequest):
        return [request.options.run_options]
    return [request.options] if isinstance(request, pb.RunStepRequest) else []


class Outcome(NamedTuple):
    """What became of one call: its method, whether it was the mutated one, and the error if any."""

    method: str
    mutated: bool
    error: OpError | None
    gave_up: bool


class Player:
    """Plays a recording on a server, again and again on one session.

    Args:
      caller: the way to the server.
      recording: what is played.
    """

    def __init__(self, caller: Caller, recording: Recording) -> None:
        self._caller, self._recording = caller, recording
        self._rng = random.Random()
        self._handles: dict[Any, Any] = {}
        self._steps: dict[int, int] = {}
        self._sessions: list[str] = []
        self._plays = 0
        self.is_spent = False

    def play(self, rng: random.Random, at: int, change: Change) -> list[Outcome]:
        """Return what became of the calls; the one at place `at` is changed before it is sent.

        What opens the session is played the first time only; what ends it is if it is changed, or
        if what opened it was. Then `is_spent`, as after other calls that fail.
        """
        self._rng, outcomes = rng, []
        opening = self._recording.opening
        shares = at >= opening
        self._plays += 1
        self.is_spent = not shares or self._plays >= _PLAYS
        for place, call in enumerate(self._recording.calls):
            is_open, ends = place < opening and self._plays > 1, call.method in _ENDS
            if is_open or (ends and shares and place != at):
                continue
            outcomes.append(self._play(call, place == at, change))
            failed = outcomes[-1].error is not None
            self.is_spent |= ends if place == at else failed
            if failed and call.method in ("CreateSession", "MakeCallable"):
                break  # the others would only say that there is no such session
        self._clean_up_steps()
        return outcomes

    def _play(self, call: Recorded, mutated: bool, change: Change) -> Outcome:
        request = type(call.request).FromString(call.request.SerializeToString())
        self._rename(request)
        data = change(request) if mutated else request.SerializeToString()
        patience = _WAITS if call.method in MAY_WAIT else _PATIENCE
        error = None
        try:
            answer = self._caller.call(call.path, [data], patience)
            response = parse_message(type(call.response), answer)
            if getattr(response, "status_code", 0):
                error = status.from_status(response.status_code, response.status_error_message, {})
            else:
                self._learn(call, request, response)
        except OpError as raised:
            error = raised
        gave_up = error is not None and "answer of" in error.message and error.error_code == 4
        return Outcome(call.method, mutated, error, gave_up)

    def _rename(self, message: Any) -> None:
        for field, value in message.ListFields():
            if field.name in _HANDLES:
                setattr(message, field.name, self._handles.get(value, value))
            elif field.name == "request_id":
                message.request_id = self._rng.getrandbits(62) | 1
            elif field.name == "step_id":
                message.step_id = self._steps.setdefault(value, self._rng.getrandbits(55))

    def _learn(self, call: Recorded, request: Any, response: Any) -> None:
        for field, value in call.response.ListFields():
            if field.name in _HANDLES:
                self._handles[value] = getattr(response, field.name)
                if field.name == "session_handle":
                    self._sessions.append(response.session_handle)
        if call.method == "CreateWorkerSession":
            self._sessions.append(request.session_handle)

    def _clean_up_steps(self) -> None:
        for step in self._steps.values():
            data = pb.CleanupGraphRequest(step_id=step).SerializeToString()
            self._caller.call("/tensorflow.WorkerService/CleanupGraph", [data], _PATIENCE)
        self._steps.clear()

    def close(self) -> None:
        """Close what is open."""
        for handle in self._sessions:
            for path, kind in _CLOSING:
                try:
                    request = kind(session_handle=handle)
                    self._caller.call(path, [request.SerializeToString()], _PATIENCE)
                except OpError:
                    continue


_CLOSING = (
    ("/tensorflow.MasterService/CloseSession", pb.CloseSessionRequest),
    ("/tensorflow.WorkerService/DeleteWorkerSession", pb.DeleteWorkerSessionRequest),
)
