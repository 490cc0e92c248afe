"""The client of dask.distributed that a cluster has."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, TypeAlias

from tfdist.errors import FailedPreconditionError, UnavailableError
from tfdist.launch.managers.dask.task import host_of
from tfdist.wire.common.security import HostPort, numeric_host

CONNECT = 10.0  # seconds that a scheduler may take to answer

# Dask's own classes; their functions have no types.
DaskClient: TypeAlias = Any
DaskFuture: TypeAlias = Any
Where: TypeAlias = "str | DaskClient"


def connected(where: Where, name: str) -> DaskClient:
    """Return a client of our own: nobody else closes it, or subscribes to what it hears.

    Args:
      where: address of a scheduler; or another client of it; or "", the current client here.
      name: of the client.

    Raises:
      FailedPreconditionError: `where` is "", and there is no client in this process.
      UnavailableError: no scheduler answers.
    """
    import distributed

    dask: DaskClient = distributed
    security = None
    if where == "":
        try:
            where = dask.default_client()
        except ValueError:
            raise FailedPreconditionError(
                "this process has no client of dask.distributed: make one, or name the scheduler: "
                "--on dask://HOST:8786"
            ) from None
    if isinstance(where, dask.Client):
        where, security = where.scheduler.address, where.security
    security = security or dask.Security()
    try:
        _probe(where, security)
        client = dask.Client(
            where, security=security, timeout=CONNECT, set_as_default=False, name=name
        )
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise UnavailableError(
            f"no Dask scheduler at {where} can be used: {error}; `dask scheduler` starts one, and "
            "where it wants TLS, Dask's configuration (distributed.comm.tls) names certificates"
        ) from None
    _warn_if_open(client.scheduler.address)
    return client


def _probe(address: str, security: DaskClient) -> None:
    """Raise what keeps us from a scheduler: a client that fails would leave a thread behind."""
    import distributed.core
    from distributed.utils import LoopRunner

    core: DaskClient = distributed.core

    async def come_and_go() -> None:
        comm = await core.connect(
            address, timeout=CONNECT, **security.get_connection_args("client")
        )
        await comm.close()

    LoopRunner().run_sync(come_and_go)  # type: ignore[no-untyped-call]


@cache
def _warn_if_open(address: str) -> None:
    """Say once on stderr that whoever reaches a scheduler runs code on its workers, if so."""
    numeric = numeric_host(host_of(address))
    if not address.startswith("tcp://") or numeric is None or HostPort(numeric, 0).is_loopback:
        return
    print(
        f"tfdist: WARNING: Dask's scheduler at {address} asks nobody for a certificate: whoever "
        "reaches it runs code on its workers, which the encryption between tfdist's tasks does "
        "not change; Dask's `security` (tls://) does",
        file=sys.stderr,
    )
