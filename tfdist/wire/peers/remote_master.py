"""A master in another process, with the methods that a session calls of one in this process.

Source: docs/wire.md section 4.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfdist.base.aliases import TensorValue
from tfdist.base.devices import DeviceSpec
from tfdist.errors import DeadlineExceededError, OpError, UnavailableError, UnimplementedError
from tfdist.graph.functions import NO_FUNCTIONS, Library
from tfdist.graph.graph_def import PRODUCER
from tfdist.graph.records import Node
from tfdist.plan.place import rank
from tfdist.plan.place_reasons import Placement
from tfdist.plan.step_plan import Signature
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.interrupts import allowed_interrupts, told_interrupts
from tfdist.runtime.step.requests import SessionOptions
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.masters import list_master, unlist_master
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report
from tfdist.wire.codec import codec
from tfdist.wire.codec.codec import M
from tfdist.wire.codec.graphs import graph_pieces
from tfdist.wire.common import status
from tfdist.wire.common.absences import absences_told
from tfdist.wire.common.calls import Piece
from tfdist.wire.common.connection_diagnosis import advice_on, waiting_text
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.answers import SILENCE, ask_retrying
from tfdist.wire.peers.census import ask_census_at
from tfdist.wire.peers.costs import ask_costs
from tfdist.wire.peers.link import open_link
from tfdist.wire.peers.remote_partial_runs import RemotePartialRuns
from tfdist.wire.peers.why import ask_why_at
from tfdist.wire.service_methods import INSPECTION, MASTER, OURS, ask, devices_from, new_request_id
from tfdist.wire.services.inspection import placement_from
from tfdist.wire.services.master import LATER_PRODUCER

# Seconds that a step's own timeout is exceeded by before this side gives up waiting for the answer.
_SLACK = 5.0


class RemoteStep(NamedTuple):
    """A kind of step of a session at a master elsewhere.

    Attributes:
      handle: of the session.
      signature: what it feeds and fetches.
      keeps_feeds: False: what is sent is a copy.
    """

    handle: str
    signature: Signature
    keeps_feeds: bool = False


class RemoteResult(NamedTuple):
    """What a step gave.

    Attributes:
      values: what was fetched, in the signature's order.
      metadata: a RunMetadata.
    """

    values: list[Any]
    metadata: Any


class RemoteMaster:
    """The master of the server at an address.

    Args:
      address: "HOST:PORT".
      timeout: seconds that opening a session may take; those for absent tasks by default.

    Raises:
      DeadlineExceededError: nobody answers there within `timeout`.
      UnavailableError: nobody answers there, and there is no `timeout`.
    """

    def __init__(self, address: str, timeout: float | None = None) -> None:
        self.address = address
        self._limit = timeout or timeouts().session
        self._began = time.monotonic()
        self._link = open_link(address)
        try:
            with allowed_interrupts():
                self._connect()
        except BaseException as error:
            self._link.close()
            if isinstance(error, UnavailableError | DeadlineExceededError):
                raise self._absent(error, timeout is not None) from None
            raise

    def _connect(self) -> None:
        """Reach the server, which may still have to start, and say so if that takes long."""
        try:
            self._link.connect(min(SILENCE, self._limit))
            return
        except (UnavailableError, DeadlineExceededError) as error:
            if self._left <= 0:
                raise
            told = waiting_text({self.address: error.reason}, self._limit)
            sys.stderr.write(f"tfdist: {told}{absences_told([self.address])}\n")
        self._link.connect(self._left)

    @property
    def _left(self) -> float:
        """Return how many seconds opening a session may still take."""
        return self._limit - (time.monotonic() - self._began)

    def _absent(
        self, error: UnavailableError | DeadlineExceededError, is_own_limit: bool
    ) -> OpError:
        kind = DeadlineExceededError if is_own_limit else UnavailableError
        return kind(
            f"no server answers at {self.address} ({error.reason or error.message}; tried for "
            f"{self._limit:g} s): start one there, with tf.train.Server, `tfdist serve` or "
            f"%cluster start, or correct the session's target{advice_on([error.reason])}"
        )

    def create_session(self, options: SessionOptions) -> str:
        """Open a session; see `runtime.task.master.Master`."""
        later = options.default_device == "master"
        graph = pb.GraphDef(versions=pb.VersionDef(producer=LATER_PRODUCER if later else PRODUCER))
        config = pb.ConfigProto(
            allow_soft_placement=options.soft_placement,
            device_filters=options.device_filters,
            isolate_session_state=options.isolated,
            operation_timeout_in_ms=max(1, int(1000 * self._left)),
        )
        if options.as_bfloat16:
            config.graph_options.enable_bfloat16_sendrecv = True
        if options.cluster is not None:
            config.cluster_def.CopyFrom(options.cluster.as_cluster_def())
        request = pb.CreateSessionRequest(
            graph_def=graph, config=config, target=f"grpc://{self.address}"
        )
        try:
            handle = self._created(request)
        except DeadlineExceededError as error:
            self._link.close()
            if options.timeout:
                raise
            raise UnavailableError(error.message) from None  # what recovers sessions waits for it
        except BaseException:
            self._link.close()
            raise
        list_master(self)
        return handle

    def _created(self, request: pb.CreateSessionRequest) -> str:
        seconds = request.config.operation_timeout_in_ms / 1000
        answer = ask_retrying(
            self._link,
            f"{MASTER}CreateSession",
            [request.SerializeToString()],
            seconds + _SLACK,
            lambda: (
                f"a session at {self.address} waits for the tasks of its cluster; it gives up "
                f"after {self._limit:g} s{absences_told([self.address])}"
            ),
        )
        response = codec.parse_message(pb.CreateSessionResponse, answer)
        return response.session_handle  # type: ignore[no-any-return]

    def extend_session(
        self,
        handle: str,
        nodes: tuple[Node, ...],
        version: int,
        library: Library = NO_FUNCTIONS,
    ) -> int:
        """Add nodes to a session's graph, with the functions they call; returns the new version."""
        request = pb.ExtendSessionRequest(session_handle=handle, current_graph_version=version)
        pieces = graph_pieces(request, 2, nodes, library)
        response = self._ask("ExtendSession", pieces, pb.ExtendSessionResponse)
        return response.new_graph_version  # type: ignore[no-any-return]

    @property
    def is_ours(self) -> bool:
        """Return whether the server is tfdist's, as far as is known."""
        return self._link.is_ours

    def prepare(self, handle: str, signature: Signature) -> RemoteStep:
        """Return the step of `signature`; the master plans it when it runs first."""
        return RemoteStep(handle, signature)

    def run_step(
        self,
        prepared: RemoteStep,
        feeds: list[TensorValue],
        timeout: float | None,
        traced: bool,
        options: pb.RunOptions | None = None,
    ) -> RemoteResult:
        """Run a step; see `runtime.task.master.Master`.

        Args:
          prepared: what `prepare` returned.
          feeds: values in the order of the signature's feeds.
          timeout: seconds, None for no limit.
          traced: whether to note every node.
          options: RunOptions, for what else is wanted of the metadata.
        """
        signature = prepared.signature
        request = pb.RunStepRequest(
            session_handle=prepared.handle,
            fetch=signature.fetch_names,
            target=signature.targets,
            request_id=new_request_id(),
        )
        if timeout or traced or options is not None:
            request.options.timeout_in_ms = int((timeout or 0) * 1000)
            if traced:
                request.options.trace_level = pb.RunOptions.FULL_TRACE
            request.options.output_partition_graphs = bool(
                options is not None and options.output_partition_graphs
            )
        tensors = zip(signature.feed_names, feeds, strict=True)
        pieces = codec.message_pieces(request, 2, tensors)
        # a real TensorFlow master looks at the call's own deadline only
        wait = None if timeout is None else timeout + _SLACK * self._link.is_ours
        with told_interrupts():
            answer = self._link.call(f"{MASTER}RunStep", pieces, wait)
        return _result(signature, answer)

    @property
    def partial_runs(self) -> RemotePartialRuns:
        """Return what sets up and goes on with partial runs."""
        return RemotePartialRuns(self._link)

    def close_session(self, handle: str) -> None:
        """Close a session; who is gone has forgotten it already. Nobody waits long for that."""
        request = pb.CloseSessionRequest(session_handle=handle)
        try:
            self._ask("CloseSession", request, pb.CloseSessionResponse, timeouts().cancel)
        except Exception:
            pass
        finally:
            unlist_master(self)
            self._link.close()

    def reset(self, containers: tuple[str, ...] = ()) -> None:
        """Abort all sessions and clear `containers` everywhere."""
        try:
            self._ask("Reset", pb.ResetRequest(container=containers), pb.ResetResponse)
        finally:
            self._link.close()

    def devices(self, handle: str) -> list[Device]:
        """Return the devices that a session spans."""
        response = self._listed(handle)
        return devices_from([*response.local_device, *response.remote_device])

    def ranked(self, handle: str) -> list[DeviceSpec]:
        """Return the devices as TensorFlow's placement prefers them, best first.

        TensorFlow 1.15, which tells no XLA id, prefers the first task of the cluster; later
        versions prefer the session's own one.
        """
        response = self._listed(handle)
        told = [*response.local_device, *response.remote_device]
        own = told[0]  # of the task that places; the others may run something else
        is_later = own.physical_device_desc != OURS and bool(own.xla_global_id)
        devices = [each.spec for each in devices_from(told)]
        return rank(devices, devices[0].task_name if is_later else None)

    def _listed(self, handle: str) -> pb.ListDevicesResponse:
        request = pb.ListDevicesRequest(session_handle=handle)
        return self._ask("ListDevices", request, pb.ListDevicesResponse)

    @property
    def task(self) -> str:
        """Return the name of the master's task; "" if the server does not tell."""
        return self._link.task

    def unit_costs(self, handle: str) -> list[UnitCost]:
        """Return what units of a session's steps took lately; nothing if the server tells none."""
        return ask_costs(self._link, pb.CostsRequest(session_handle=handle, all_tasks=True))

    def placement(self, handle: str) -> Mapping[str, Placement]:
        """Return the device of each node, and why; nothing if the server does not tell."""
        request = pb.PlacementRequest(session_handle=handle)
        try:
            response = ask(
                self._link,
                f"{INSPECTION}Placement",
                request,
                pb.PlacementResponse,
                timeouts().answer,
            )
        except UnimplementedError:
            return {}
        return placement_from(response.node)

    def report(self) -> Report:
        """Return what is known here of steps in flight: nothing, they run elsewhere."""
        return Report()

    def report_everywhere(self) -> Report:
        """Return what all tasks of the cluster tell of steps in flight, within a moment."""
        return ask_why_at(f"grpc://{self.address}", self._link)

    def census(self, holdings: bool = False) -> Census:
        """Return nothing: this process has none of its tasks."""
        return Census()

    def census_everywhere(self, holdings: bool = False) -> Census:
        """Return what all tasks of the cluster tell of themselves, within a moment."""
        return ask_census_at(f"grpc://{self.address}", self._link, holdings)

    @property
    def is_open(self) -> bool:
        """Return whether sessions may use it."""
        return True

    @property
    def reach(self) -> str:
        """Return who answers `report_everywhere`."""
        return self.address

    def _ask(
        self,
        method: str,
        request: pb.Message | list[Piece],
        response_class: type[M],
        seconds: float | None = None,
    ) -> M:
        return ask(
            self._link, MASTER + method, request, response_class, seconds or timeouts().answer
        )


def _result(signature: Signature, answer: memoryview) -> RemoteResult:
    response, tensors = codec.split_message(pb.RunStepResponse, answer, 1)
    if response.status_code:
        raise status.from_body(response)
    by_name = dict(tensors)
    values = [codec.writable(by_name[name]) for name in signature.fetch_names]
    return RemoteResult(values, response.metadata)
