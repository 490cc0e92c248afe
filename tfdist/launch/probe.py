"""Asking servers whether they are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tfdist.errors import OpError
from tfdist.launch.engines import TENSORFLOW_NAME, TFDIST
from tfdist.protos import pb

PATIENCE = 1.0  # seconds in which a server answers that is there


class Answer(NamedTuple):
    """What a server tells of itself.

    Attributes:
      devices: full names.
      runs: "tfdist" or "TensorFlow".
    """

    devices: tuple[str, ...]
    runs: str = TFDIST


def answers_at(addresses: Iterable[str]) -> dict[str, Answer]:
    """Return what the server at each address tells of itself.

    All are asked at once. Who does not answer within a second is left out: nobody listens there, or
    a process that is frozen, out of reach, or no server.

    Args:
      addresses: "HOST:PORT".
    """
    from tfdist.wire.codec.codec import parse_message
    from tfdist.wire.peers.answers import ask_status  # gRPC takes long to import
    from tfdist.wire.peers.link import open_link

    links = {address: open_link(address) for address in addresses}
    try:
        outcomes = ask_status(links, PATIENCE)
    finally:
        for link in links.values():
            link.close()
    return {
        address: _answer(parse_message(pb.GetStatusResponse, outcome).device_attributes)
        for address, outcome in outcomes.items()
        if not isinstance(outcome, OpError)
    }


def _answer(devices: Iterable[Any]) -> Answer:
    from tfdist.wire.service_methods import OURS

    told = {device.name: device.physical_device_desc for device in devices}
    return Answer(tuple(told), TFDIST if OURS in told.values() else TENSORFLOW_NAME)
