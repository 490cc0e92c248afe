"""Why a task was lost, where somebody in this process knows that: who started it."""

from __future__ import annotations

from collections.abc import Callable

from tfdist.errors import OpError, UnavailableError

_tellers: list[Callable[[str], str]] = []


def tell_of_losses(teller: Callable[[str], str]) -> Callable[[], None]:
    """Let `teller` explain errors of lost tasks; returns a function to undo that.

    Args:
      teller: takes an error's message, which names the address of the task, and returns a sentence
        about the end of the process there, or "".
    """
    _tellers.append(teller)

    def undo() -> None:
        if teller in _tellers:
            _tellers.remove(teller)

    return undo


def explain_loss(error: OpError) -> None:
    """Add to an error that a task is lost what is known of its end."""
    if not isinstance(error, UnavailableError):
        return
    for teller in tuple(_tellers):
        told = teller(error.message)
        if told and told not in error.message:
            error.message += f"\n{told}"
