"""Which tasks of a cluster are absent, where somebody here knows that: who started it."""

from __future__ import annotations

from collections.abc import Callable, Collection

Teller = Callable[[Collection[str]], str]

_tellers: list[Teller] = []


def tell_of_absences(teller: Teller) -> Callable[[], None]:
    """Let `teller` say who is waited for; returns a function to undo that.

    Args:
      teller: takes addresses of servers, and returns a sentence about the tasks that are absent in
        the cluster that they belong to, and what to do about that; "" if it knows none.
    """
    _tellers.append(teller)

    def undo() -> None:
        if teller in _tellers:
            _tellers.remove(teller)

    return undo


def absences_told(addresses: Collection[str]) -> str:
    """Return a line for each cluster of which a task is absent, each after a line break."""
    told = filter(None, [teller(addresses) for teller in tuple(_tellers)])
    return "".join(f"\n{each}" for each in told)
