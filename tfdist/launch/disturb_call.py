"""Telling servers in processes of their own what is to be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tfdist.errors import OpError, UnavailableError
from tfdist.tracing.disturbances import Disturbance

_PATIENCE = 5.0  # seconds


def tell_disturbances(addresses: Mapping[str, str], disturbances: Sequence[Disturbance]) -> None:
    """Have servers obey disturbances, and no others.

    Args:
      addresses: of the servers, by task.
      disturbances: that are to be in force.

    Raises:
      UnavailableError: some of them do not answer.
      PermissionDeniedError: they were started by somebody else.
    """
    from tfdist.wire.peers.answers import Answers  # gRPC takes long to import
    from tfdist.wire.peers.link import open_link
    from tfdist.wire.service_methods import INSPECTION
    from tfdist.wire.services.inspection import disturb_request

    request = [disturb_request(disturbances).SerializeToString()]
    links = {task: open_link(address) for task, address in addresses.items()}
    answers = Answers(links)
    try:
        for task, link in links.items():
            answers.expect(task, partial(link.begin, f"{INSPECTION}Disturb", request))
        outcomes = answers.wait(_PATIENCE)
    finally:
        for link in links.values():
            link.close()
    failed = {task: each for task, each in outcomes.items() if isinstance(each, OpError)}
    silent = [f"{task} ({each.message})" for task, each in failed.items()]
    for error in failed.values():
        if not isinstance(error, UnavailableError):
            raise error
    if silent:
        raise UnavailableError(f"not told what is to be wrong: {', '.join(silent)}")
