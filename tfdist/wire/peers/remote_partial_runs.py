"""Partial runs at a master in another process.

Source: docs/wire.md section 4.
"""

from __future__ import annotations

from tfdist.base.aliases import TensorValue
from tfdist.plan.partial import show
from tfdist.plan.prune import Endpoint
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.wire.codec import codec
from tfdist.wire.common import status
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.link import Link
from tfdist.wire.service_methods import MASTER, ask, new_request_id


class RemotePartialRuns:
    """The partial runs of a master (`runtime.task.partial_runs.PartialRuns`).

    Args:
      link: to its server.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    def set_up(self, session: str, signature: Signature) -> str:
        """See `runtime.task.partial_runs.PartialRuns.set_up`."""
        request = pb.PartialRunSetupRequest(
            session_handle=session,
            feed=signature.feed_names,
            fetch=signature.fetch_names,
            target=signature.targets,
            request_id=new_request_id(),
        )
        path = f"{MASTER}PartialRunSetup"
        response = ask(self._link, path, request, pb.PartialRunSetupResponse, timeouts().answer)
        return response.partial_run_handle  # type: ignore[no-any-return]

    def go_on(
        self,
        session: str,
        name: str,
        feeds: dict[Endpoint, TensorValue],
        fetches: tuple[Endpoint, ...],
        timeout: float | None,
    ) -> list[TensorValue]:
        """See `runtime.task.partial_runs.PartialRuns.go_on`."""
        names = [show(endpoint) for endpoint in fetches]
        request = pb.RunStepRequest(
            session_handle=session,
            partial_run_handle=name,
            fetch=names,
            request_id=new_request_id(),
        )
        request.options.timeout_in_ms = int((timeout or 0) * 1000)
        tensors = [(show(endpoint), value) for endpoint, value in feeds.items()]
        pieces = codec.message_pieces(request, 2, tensors)
        answer = self._link.call(f"{MASTER}RunStep", pieces, timeout)
        response, found = codec.split_message(pb.RunStepResponse, answer, 1)
        if response.status_code:
            raise status.from_body(response)
        by_name = dict(found)
        return [codec.writable(by_name[each]) for each in names]
