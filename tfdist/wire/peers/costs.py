"""Asking a task what the units of a session's programs took lately."""

from __future__ import annotations

from tfdist.errors import UnimplementedError
from tfdist.protos import pb
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import INSPECTION, ask
from tfdist.wire.services.inspection import costs_from


def ask_costs(link: Link, request: pb.CostsRequest) -> list[UnitCost]:
    """Return what units took; nothing if the server is TensorFlow's, which does not tell.

    Args:
      link: to the task.
      request: says of which session.

    Raises:
      OpError: the task does not answer, or does not know the session.
    """
    path = f"{INSPECTION}Costs"
    try:
        response = ask(link, path, request, pb.CostsResponse, timeouts().answer)
    except UnimplementedError:
        return []
    return costs_from(response)
