"""Asking servers whether they are there."""

from __future__ import annotations

from collections.abc import Iterable

from tfdist.errors import OpError
from tfdist.protos import pb

PATIENCE = 1.0  # seconds in which a server answers that is there


def devices_at(addresses: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the full device names that the server at each address tells.

    All are asked at once. Who does not answer within a second is left out: nobody listens there, or
    a process that is frozen, out of reach, or no server.

    Args:
      addresses: "HOST:PORT".
    """
    from tfdist.wire.answers import ask_status  # gRPC takes long to import
    from tfdist.wire.codec import parse_message
    from tfdist.wire.link import open_link

    links = {address: open_link(address) for address in addresses}
    try:
        outcomes = ask_status(links, PATIENCE)
    finally:
        for link in links.values():
            link.close()
    answers = {
        address: parse_message(pb.GetStatusResponse, outcome)
        for address, outcome in outcomes.items()
        if not isinstance(outcome, OpError)
    }
    return {
        address: tuple(device.name for device in answer.device_attributes)
        for address, answer in answers.items()
    }
