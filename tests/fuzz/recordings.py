"""Recorded calls, and how they are played again: with new handles, and one of them mutated."""

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
_WAITS = 1.5  # seconds for what a mutation may let wait: nobody sends the value, or fills the queue
MAY_WAIT = ("CreateSession", "RunStep", "RunCallable", "RunGraph", "RecvTensor", "ExtendSession")

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
    return Recorded(path, classes[0].FromString(request), classes[1].FromString(response))


class Outcome(NamedTuple):
    """What became of one call: its method, whether it was the mutated one, and the error if any."""

    method: str
    mutated: bool
    error: OpError | None
    gave_up: bool


class Player:
    """Plays a recording on a server.

    Args:
      caller: the way to the server.
      rng: for what must be new each time.
    """

    def __init__(self, caller: Caller, rng: random.Random) -> None:
        self._caller = caller
        self._rng = rng
        self._renamed: dict[Any, Any] = {}
        self._sessions: list[str] = []

    def play(self, recording: Recording, at: int, change: Change) -> list[Outcome]:
        """Return what became of the calls; the one at place `at` is changed before it is sent."""
        outcomes = []
        try:
            for place, call in enumerate(recording.calls):
                outcomes.append(self._play(call, place == at, change))
                if outcomes[-1].error is not None and call.method in (
                    "CreateSession",
                    "MakeCallable",
                ):
                    break  # the others would only say that there is no such session
        finally:
            self._clean_up()
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
                setattr(message, field.name, self._renamed.get(value, value))
            elif field.name == "request_id":
                message.request_id = self._rng.getrandbits(62) | 1
            elif field.name in ("step_id", "rendezvous_key"):
                if field.name == "step_id":
                    message.step_id = self._renamed.setdefault(value, self._rng.getrandbits(55))

    def _learn(self, call: Recorded, request: Any, response: Any) -> None:
        for field, value in call.response.ListFields():
            if field.name in _HANDLES:
                self._renamed[value] = getattr(response, field.name)
                if field.name == "session_handle":
                    self._sessions.append(response.session_handle)
        if call.method == "CreateWorkerSession":
            self._sessions.append(request.session_handle)

    def _clean_up(self) -> None:
        """Close what the program did not come to close."""
        for handle in self._sessions:
            for path, kind in _CLOSING:
                try:
                    request = kind(session_handle=handle)
                    self._caller.call(path, [request.SerializeToString()], _PATIENCE)
                except OpError:
                    continue
        for step in [value for value in self._renamed.values() if isinstance(value, int)]:
            data = pb.CleanupGraphRequest(step_id=step).SerializeToString()
            self._caller.call("/tensorflow.WorkerService/CleanupGraph", [data], _PATIENCE)


_CLOSING = (
    ("/tensorflow.MasterService/CloseSession", pb.CloseSessionRequest),
    ("/tensorflow.WorkerService/DeleteWorkerSession", pb.DeleteWorkerSessionRequest),
)
