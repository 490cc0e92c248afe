"""A row of the bench: what is done, what is promised, and whether that was measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.faults.place import Place, variables

GRPC = {"TFDIST_TRANSPORT": "grpc"}  # tasks on one host talk as tasks on two


@dataclass(frozen=True)
class Measured:
    """What happened.

    Attributes:
      seconds: from the fault to the end of what had to happen.
      error: that the user's call raised; None if nothing had to fail.
      names: patterns of what its text must name: task, address, queue or op.
      note: what else was seen.
    """

    seconds: float
    error: BaseException | None = None
    names: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One fault and its promise.

    Attributes:
      number: in RELIABILITY's table, with a word for a variant.
      sentence: what is done.
      bound: seconds that it may take.
      error: name of the error class that the user gets; "" for none.
      remedy: pattern of what the error's text must advise.
      run: does it.
      is_quick: whether it also runs as a test.
      environment: variables of all processes of the row, this one included.
    """

    number: str
    sentence: str
    bound: float
    error: str
    remedy: str
    run: Callable[[Place], Measured]
    is_quick: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


def measure(row: Row) -> Measured:
    """Do what a row says; AssertionError if that cannot be done, or something is left behind."""
    with variables(row.environment), Place() as place:
        return row.run(place)


def problems(row: Row, measured: Measured, slack: float = 0.0) -> list[str]:
    """Return what was promised and not kept.

    Args:
      row: the promise.
      measured: what happened.
      slack: seconds that a busy machine may add.
    """
    found = []
    if measured.seconds > row.bound + slack:
        found.append(f"took {measured.seconds:.2f} s")
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
