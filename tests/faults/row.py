"""A row of the bench: what is done, what is promised, and whether that was measured.

A promise of seconds holds on a machine that is idle. On a busy one everything that is not a wait by
design may take as many times longer as a loop of bare Python does (`load.slowness`). Where the time
is the machine's, not ours, the promise is a multiple of the same work without tfdist, which is
measured right before, under the same load (`references`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests.faults.load import slowness
from tests.faults.place import Place, variables

GRPC = {"TFDIST_TRANSPORT": "grpc"}  # tasks on one host talk by gRPC
# Tasks on one host talk as tasks on two: with mounts of its own each takes the others for those of
# another container, whose unix sockets and memory it has not.
_UNSHARE = "unshare --mount" if os.geteuid() == 0 else "unshare --map-root-user --mount"
TCP = {"TEST_APART": _UNSHARE}


@dataclass(frozen=True)
class Measured:
    """What happened.

    Attributes:
      seconds: from the fault to the end of what had to happen.
      error: that the user's call raised; None if nothing had to fail.
      names: patterns of what its text must name: task, address, queue or op.
      note: what else was seen.
      slowness: how busy the machine was, see `load.slowness`; the more of before and after.
      reference: seconds that the row's reference took.
    """

    seconds: float
    error: BaseException | None = None
    names: tuple[str, ...] = ()
    note: str = ""
    slowness: float = 1.0
    reference: float = 0.0


@dataclass(frozen=True)
class Row:
    """One fault and its promise.

    Attributes:
      number: in RELIABILITY's table, with a word for a variant.
      sentence: what is done.
      bound: seconds that it may take on an idle machine; with a reference, how many times longer
        than that.
      error: name of the error class that the user gets; "" for none.
      remedy: pattern of what the error's text must advise.
      run: does it.
      is_quick: whether it also runs as a test.
      environment: variables of all processes of the row, this one included.
      waits: seconds of the bound that pass by design, however busy the machine is.
      reference: returns how long the same work takes without tfdist.
    """

    number: str
    sentence: str
    bound: float
    error: str
    remedy: str
    run: Callable[[Place], Measured]
    is_quick: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    waits: float = 0.0
    reference: Callable[[], float] | None = None

    def allowed(self, slowness: float, reference: float) -> float:
        """Return how many seconds it may take on a machine that is so busy."""
        if self.reference is not None:
            return self.bound * reference
        return self.waits + (self.bound - self.waits) * slowness

    @property
    def promised(self) -> str:
        """Return the promise as text."""
        of = "x plain gRPC" if self.reference is not None else "s"
        return f"<= {self.bound:g} {of} {self.error}"


def measure(row: Row) -> Measured:
    """Do what a row says; AssertionError if that cannot be done, or something is left behind."""
    with variables(row.environment):
        reference = row.reference() if row.reference is not None else 0.0
        before = slowness()
        with Place(before) as place:
            measured = row.run(place)
        return replace(measured, slowness=max(before, slowness()), reference=reference)


def problems(row: Row, measured: Measured, slack: float = 0.0) -> list[str]:
    """Return what was promised and not kept.

    Args:
      row: the promise.
      measured: what happened.
      slack: seconds that may come on top.
    """
    found = []
    allowed = row.allowed(measured.slowness, measured.reference) + slack
    if measured.seconds > allowed:
        found.append(f"took {measured.seconds:.2f} s, more than {allowed:.2f} s")
    got = type(measured.error).__name__ if measured.error is not None else ""
    if got != row.error:
        found.append(f"raised {got or 'nothing'}")
    if measured.error is not None:
        text = str(measured.error)
        wanted = [*measured.names, *filter(None, [row.remedy])]
        found += [
            f"does not say {each!r}" for each in wanted if not re.search(each, text, re.IGNORECASE)
        ]
        found += [f"text: {text}"] * bool(found)
    return found
