"""Which sessions are abandoned: whose clients are gone for good, as far as a server can tell.

TensorFlow's sessions have handles and no connections: any process may use one, over any connection,
and a client says nothing when it dies. What a server sees is who has used a session, whether those
connections are still open, and since when nobody has called. A closed connection is no proof:

* a tfdist client calls again by a new one, after a laptop's sleep or a broken network;
* a TensorFlow client's channel, or a proxy, may close a connection by itself when it was idle for
  a while, and open a new one for the next call;
* where a process of this host has ended, no call will come from it.

The first rule that fits counts. A busy session is never closed: if its client is gone, its steps
are cancelled first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

ENDED = 5.0  # seconds; another process may have the handle
IDLE = 60.0  # seconds after which a channel or a proxy may close a connection by itself


class SessionUse(NamedTuple):
    """How a session is used.

    Attributes:
      is_busy: whether a step of it runs.
      is_connected: whether a client that has used it is connected, or that cannot be known.
      has_ended: whether all clients were processes of this host that have ended.
      is_ours: whether all clients are tfdist's, which keep a call open as long as they live.
      idle: seconds since it was used last.
      lost: seconds since its last client's connection was lost; infinite if none was.
    """

    is_busy: bool = False
    is_connected: bool = True
    has_ended: bool = False
    is_ours: bool = True
    idle: float = 0.0
    lost: float = math.inf


class GracePeriods(NamedTuple):
    """Seconds that a session is kept.

    Attributes:
      gone: when its clients' connections are lost.
      unused: when nobody uses it, whoever is connected.
    """

    gone: float = 600.0
    unused: float = math.inf


def _ended(use: SessionUse, grace: GracePeriods) -> bool:
    return use.has_ended and _unheard(use) >= min(ENDED, grace.gone)


def _lost(use: SessionUse, grace: GracePeriods) -> bool:
    return not use.is_connected and _unheard(use) >= grace.gone and not _closed_idle(use)


def _closed_idle(use: SessionUse) -> bool:
    """Return whether a connection was closed that somebody may have closed for being idle."""
    return not use.is_ours and use.idle - use.lost > IDLE


def _unheard(use: SessionUse) -> float:
    return min(use.idle, use.lost)


# Rule -> what it says of the session that is closed by it.
_RULES: tuple[tuple[Callable[[SessionUse, GracePeriods], bool], str], ...] = (
    (_ended, "its client has ended"),
    (_lost, "its client's connection was lost {lost:.0f} s ago, and nobody has used it since"),
    (lambda use, grace: use.idle >= grace.unused, "nobody has used it for {idle:.0f} s"),
)


def why_abandoned(use: SessionUse, grace: GracePeriods) -> str:
    """Return why a session is to be closed, "" if it is not.

    Example:
      >>> why_abandoned(SessionUse(is_connected=False, idle=700, lost=650), GracePeriods())
      "its client's connection was lost 650 s ago, and nobody has used it since"
      >>> why_abandoned(SessionUse(idle=86400), GracePeriods())
      ''
    """
    if use.is_busy:
        return ""
    told = (text for rule, text in _RULES if rule(use, grace))
    return next(told, "").format(idle=use.idle, lost=use.lost)
