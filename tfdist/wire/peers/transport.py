"""Transport: how one other process is reached, and what it said of itself."""

from __future__ import annotations

import threading

from tfdist.base.aliases import Outcome
from tfdist.errors import OpError
from tfdist.protos import pb
from tfdist.tracing.clocks import ClockOffset
from tfdist.wire.codec.codec import parse_message
from tfdist.wire.common.calls import Caller
from tfdist.wire.frames.client import FramesCaller
from tfdist.wire.peers.frames_choice import hello_request
from tfdist.wire.service_methods import INSPECTION


class Transport:
    """How a process is reached now.

    Attributes:
      caller: for calls.
      hello: what it said of itself; None if it is no tfdist server, or was only just asked.
      clock: what its clock shows when ours shows zero.
      is_complete: whether nothing is to come: who was found without `Hello` is asked afterwards.
    """

    def __init__(self, caller: Caller, hello: pb.HelloResponse | None, clock: ClockOffset) -> None:
        self.caller, self.hello, self.clock = caller, hello, clock
        self.is_complete = hello is not None or self.near is None
        self._has_said = threading.Event()

    @property
    def is_ours(self) -> bool:
        """Return whether a tfdist server was found."""
        return self.hello is not None or isinstance(self.caller, FramesCaller)

    @property
    def near(self) -> FramesCaller | None:
        """Return what calls it, if it is one of this host that is called by frames."""
        caller = self.caller
        return caller if isinstance(caller, FramesCaller) and caller.is_local else None

    def ask_hello(self) -> None:
        """Have `hello` filled in: before any call that is begun later is answered."""
        self.caller.begin(f"{INSPECTION}Hello", [hello_request()], self._said)

    def _said(self, outcome: Outcome) -> None:
        if not isinstance(outcome, OpError):
            self.hello, self.is_complete = parse_message(pb.HelloResponse, outcome), True
        self._has_said.set()

    def wait_for_hello(self, seconds: float) -> bool:
        """Return whether it is complete, within `seconds`."""
        if not self.is_complete:
            self._has_said.wait(seconds)
        return self.is_complete
