"""Roles: which methods a certificate may call, as a table.

`run` may do all. `look` may see how things are, and changes nothing. `join` is for the tasks of a
cluster: they serve each other as workers, for the sessions that somebody with `run` opens at one
of them, and open none at others themselves.

The transports that know a caller's certificate ask `refusal` before they read the call. A caller
of the same user on the same host shows none, and may do all.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfdist.errors import PermissionDeniedError
from tfdist.wire.common.identity import Identity, role_of
from tfdist.wire.service_methods import (
    BELONG,
    END,
    FOLLOW,
    FOLLOW_SESSION,
    HEALTH,
    INSPECTION,
    MASTER,
    RUN,
    WORKER,
)

_LOOK = (
    HEALTH,
    *(INSPECTION + name for name in ("Hello", "Attach", "Placement", "Why", "Census", "Costs")),
    BELONG,
    *(WORKER + name for name in ("GetStatus", "Logging", "Tracing")),
    f"{MASTER}ListDevices",
)

# Role -> what it may call: methods, or services, which end with a slash.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "run": ("/",),
    "look": _LOOK,
    "join": (*_LOOK, WORKER, FOLLOW, FOLLOW_SESSION, RUN, END),
}


def may_call(role: str, path: str) -> bool:
    """Return whether a role may call a method.

    Args:
      role: a name that a certificate gives; one that is unknown may call nothing.
      path: "/SERVICE/METHOD".

    Example:
      >>> may_call("look", "/tfdist.Inspection/Why"), may_call("look", "/tfdist.Inspection/Disturb")
      (True, False)
    """
    allowed = ALLOWED.get(role, ())
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in allowed)


def refusal(
    certificate: Mapping[str, object], path: str, own: Identity | None
) -> PermissionDeniedError | None:
    """Return why a caller may not call a method, or None if it may.

    Args:
      certificate: of the caller, as `SSLSocket.getpeercert` tells it, or gRPC's `auth_context`.
      path: of the method.
      own: what the server shows; who shows the very same may do all, as it is one and the same.
    """
    caller, here = role_of(certificate), own.principal if own else None
    if caller is None:
        return _refusal("names no role", path, "a URI tfdist://CLUSTER/ROLE in it")
    if here is not None and caller.cluster != here.cluster:
        return _refusal(f"is for the cluster {caller.cluster}", path, f"one for {here.cluster}")
    if may_call(caller.role, path) or (own is not None and own.is_shown_in(certificate)):
        return None
    able = " or ".join(role for role in ALLOWED if may_call(role, path))
    return _refusal(f"has the role {caller.role}", path, f"the role {able}")


def _refusal(what: str, path: str, wanted: str) -> PermissionDeniedError:
    return PermissionDeniedError(
        f"the caller's certificate {what}, which may not call {path}; wanted is {wanted}. Show "
        "another certificate (TFDIST_TLS), or have the cluster's authority sign one"
    )
