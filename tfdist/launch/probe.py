"""Asking servers whether they are there: one call that every server of the protocol answers."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterable
from typing import Any

from tfdist.protos import pb

PATIENCE = 1.0  # seconds in which a server answers that is there


def devices_at(addresses: Iterable[str], patience: float = PATIENCE) -> dict[str, tuple[str, ...]]:
    """Return the full device names that the server at each address tells.

    All are asked at once. Who does not answer is left out: nobody listens there, or a process that
    is frozen, out of reach, or no server.

    Args:
      addresses: "HOST:PORT".
      patience: seconds to wait for all of them.
    """
    from tfdist.wire.link import open_link  # gRPC takes long to import
    from tfdist.wire.services import WORKER

    answers: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    request = [pb.GetStatusRequest().SerializeToString()]

    def begin(address: str) -> Callable[[], None]:
        def done(outcome: Any) -> None:
            answers.put((address, outcome))

        return links[address].begin_unary(f"{WORKER}GetStatus", request, done, patience)

    links = {address: open_link(address) for address in addresses}
    cancels = [begin(address) for address in links]
    try:
        return _collect(answers, len(links), time.monotonic() + patience)
    finally:
        for cancel in cancels:
            cancel()
        for link in links.values():
            link.close()


def _collect(answers: Any, count: int, deadline: float) -> dict[str, tuple[str, ...]]:
    found = {}
    for _ in range(count):
        try:
            address, outcome = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        if not isinstance(outcome, Exception):
            status = pb.GetStatusResponse.FromString(bytes(outcome))
            found[address] = tuple(each.name for each in status.device_attributes)
    return found
