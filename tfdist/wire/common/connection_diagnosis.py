"""Why a process cannot be reached, in few words, and what to do about it.

What is known comes from gRPC's library, whose texts differ by how it resolves names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tfdist.errors import OpError
from tfdist.wire.common.tls_probe import INVALID, NONE, REFUSED, WANTED


class Cause(NamedTuple):
    """A reason to be silent.

    Attributes:
      words: what it is called.
      marks: one of these is part of what the library says then.
      advice: what to do.
    """

    words: str
    marks: tuple[str, ...]
    advice: str


_CAUSES = (
    Cause(
        WANTED,
        (WANTED,),
        "show it a certificate (TFDIST_REMOTE=tls and TFDIST_TLS=FOLDER) and use an address that "
        "its own one names, not localhost; TensorFlow's own programs cannot do that",
    ),
    Cause(
        NONE,
        (NONE,),
        "it is a server of TensorFlow's own, or one with TFDIST_REMOTE=plain: have it show a "
        "certificate, or do without here as well (TFDIST_REMOTE=plain), if you trust the network",
    ),
    Cause(
        REFUSED,
        (REFUSED,),
        "it is of another authority, or has ended: its log says who was refused. `tfdist "
        "certificates` makes another one",
    ),
    Cause(
        INVALID,
        (INVALID,),
        "another server is there, or its certificate names other hosts, has ended or is of another "
        "authority (`tfdist doctor HOST:PORT` shows it)",
    ),
    Cause(
        "no such host",
        (
            "no such host",
            "name not found",
            "Name or service not known",
            "nodename nor servname",
            "No address",
            "failure in name resolution",
        ),
        "correct the address, or tell this machine that name (/etc/hosts, DNS)",
    ),
    Cause(
        "Connection refused",
        ("Connection refused",),
        "the host is there, but nothing listens at that port: start the task",
    ),
    Cause(
        "no route to the host",
        ("No route to host", "unreachable"),
        "look at the address and the network",
    ),
    Cause(
        "no answer",
        ("timed out", "Timeout", "Deadline", "is silent", "no answer"),
        "the host may be off, a firewall between, or the process frozen",
    ),
)


def in_words(reason: str) -> str:
    """Return a reason that the library gave, led by how it is called.

    Example:
      >>> in_words("Domain name not found")
      'no such host: Domain name not found'
    """
    cause = _cause_of(reason)
    if cause is None or reason.startswith(cause.words):
        return reason
    return f"{cause.words}: {reason}"


def reason_of(outcome: object) -> str:
    """Return why an error says that a process is silent; "" if it is none, so the process answers.

    An error that a server answered with is no silence either.
    """
    return outcome.reason if isinstance(outcome, OpError) else ""


def waiting_text(places: Mapping[str, str], limit: float) -> str:
    """Return the line that tells of a long wait.

    Args:
      places: who is waited for and where, and why that is, "" where that is not known.
      limit: seconds that the wait may take.
    """
    told = ", ".join(f"{place} ({_brief(why)})" if why else place for place, why in places.items())
    advice = advice_on(places.values())
    return f"a session waits for {told}; it gives up after {round(limit, 1):g} s{advice}"


def absent_text(places: Mapping[str, str], waited: float) -> str:
    """Return the text of the error at the end of such a wait."""
    told = "".join(f"\n  {place}: {why}" for place, why in places.items())
    return (
        f"{len(places)} of the cluster's tasks did not answer within {round(waited, 1):g} s:{told}"
        f"{advice_on(places.values())}\n"
        "start them, or leave them out of the session with ConfigProto(device_filters=[...])"
    )


def _brief(reason: str) -> str:
    cause = _cause_of(reason)
    return reason if cause is None else cause.words


def advice_on(reasons: Iterable[str]) -> str:
    """Return what to do about these, a line for each kind; "" if nothing is known."""
    causes = dict.fromkeys(filter(None, map(_cause_of, reasons)))
    return "".join(f"\n{cause.words}: {cause.advice}" for cause in causes)


def advice_for(reason: str) -> str:
    """Return what to do about one, "" if nothing is known."""
    cause = _cause_of(reason)
    return cause.advice if cause is not None else ""


def _cause_of(reason: str) -> Cause | None:
    return next((each for each in _CAUSES if any(mark in reason for mark in each.marks)), None)
