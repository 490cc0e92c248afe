"""Inspection: what only tfdist servers tell of themselves; and Health, which probes ask for.

Source: grpc.health.v1 is gRPC's health checking protocol (grpc.io, "Health Checking").
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias
from weakref import WeakSet

from tfdist.errors import InvalidArgumentError, PermissionDeniedError
from tfdist.plan.place_reasons import Placement
from tfdist.protos import pb
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.task import Task
from tfdist.tracing.census import Allocation, Census, TaskStatus, Traffic, Waiter, since
from tfdist.tracing.disturbances import VERBS, Disturbance
from tfdist.tracing.waits import PendingOp, Report, ResourceStatus, StepStatus, Unreachable, Wait
from tfdist.wire.codec.codec import M, parse_message
from tfdist.wire.common.calls import Call, Client, Method, Methods
from tfdist.wire.common.host import this_host
from tfdist.wire.common.status import from_status
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.service_methods import BELONG, HEALTH, INSPECTION, LIVENESS, plain_method

Record: TypeAlias = Any  # a named tuple of `tracing.waits` or `tracing.census`, or its class
Kinds: TypeAlias = Mapping[str, tuple[Record, str]]  # by field: what is there, and its message


class Inspection:
    """Answers the calls of Inspection and Health for one server.

    Args:
      task: its task.
      local_path: where its local path is; "" if it has none.
      ours: gets the clients that say that they are tfdist's.
      frames_port: returns where other hosts send frames, once somebody of one asks; 0 for nowhere.
    """

    def __init__(
        self,
        task: Task,
        local_path: str,
        ours: set[Client],
        frames_port: Callable[[], int] = lambda: 0,
    ) -> None:
        self._task, self._ours = task, ours
        self._local_path, self._frames_port = local_path, frames_port
        self._attached: dict[int, tuple[str, Call]] = {}  # with their names
        self._watching: dict[int, tuple[pb.HealthCheckRequest, Call]] = {}
        self._belongings: dict[str, WeakSet[Any]] = {}  # connections, by whose they are
        self._reason = ""  # why the server stops

    def methods(self) -> Methods:
        """Return the methods by path."""
        return {
            f"{INSPECTION}Hello": plain_method(pb.HelloRequest, self.hello),
            f"{INSPECTION}Attach": Method(self.attach),
            BELONG: Method(self.belong),
            f"{INSPECTION}Placement": plain_method(pb.PlacementRequest, self.placement),
            f"{INSPECTION}Why": plain_method(pb.WhyRequest, self.why, may_block=True),
            f"{INSPECTION}Census": plain_method(pb.CensusRequest, self.census, may_block=True),
            f"{INSPECTION}Disturb": plain_method(pb.DisturbRequest, self.disturb),
            f"{INSPECTION}Costs": plain_method(pb.CostsRequest, self.costs, may_block=True),
            f"{HEALTH}Check": plain_method(pb.HealthCheckRequest, self.check),
            f"{HEALTH}Watch": Method(self.watch, streams=True),
        }

    def hello(self, request: pb.HelloRequest) -> pb.HelloResponse:
        """Say who this is, where frames are taken, and what time it is here."""
        is_elsewhere = request.host not in ("", this_host())
        return pb.HelloResponse(
            version=own_version(),
            task=self._task.name,
            incarnation=self._task.worker.devices[0].incarnation,
            host=this_host(),
            side_path=self._local_path,
            frames_port=self._frames_port() if is_elsewhere else 0,
            process=os.getpid(),
            time_nanos=time.time_ns(),
        )

    def attach(self, request: memoryview, call: Call) -> None:
        """Answer when the server stops."""
        if self._reason:
            _detach(call, self._reason)
            return
        client = parse_message(pb.AttachRequest, request).client
        self._attached[id(call)] = client, call
        self._ours.add(call.client)
        call.on_cancel(lambda: self._detached(call, client))

    def belong(self, request: memoryview, call: Call) -> None:
        """Note whose a connection for frames is: it ends when they are attached no more.

        gRPC finds out that a process is frozen, a socket does not.
        """
        client = parse_message(pb.AttachRequest, request).client
        if client not in self._belongings:  # forget whom nothing is left of
            self._belongings = {who: left for who, left in self._belongings.items() if left}
        connection: Any = call.connection()
        connection.belong(client)
        self._belongings.setdefault(client, WeakSet()).add(connection)

    def _detached(self, call: Call, client: str) -> None:
        self._attached.pop(id(call), None)
        self._end_belongings(client)

    def _end_belongings(self, client: str) -> None:
        """End the connections of a client that is gone; on the loop.

        One that is heard lives, and attaches again soon: its sign of life was late.
        """
        if any(client == name for name, _ in self._attached.values()):
            return
        connections, silence = list(self._belongings.get(client, ())), timeouts().silence
        if any(time.monotonic() - each.heard <= silence for each in connections):
            loop = asyncio.get_running_loop()
            loop.call_later(silence, self._end_belongings, client)
            return
        self._belongings.pop(client, None)
        for connection in connections:
            connection.end()

    def stop(self, reason: str) -> None:
        """Answer all that are attached: the server stops."""
        self._reason = reason
        while self._attached:
            _detach(self._attached.popitem()[1][1], reason)
        for request, call in list(self._watching.values()):
            if request.service != LIVENESS:
                call.send([self.check(request).SerializeToString()])

    def placement(self, request: pb.PlacementRequest) -> pb.PlacementResponse:
        """Return where the nodes of a session are, and why."""
        placed = self._task.master.placement(request.session_handle)
        return pb.PlacementResponse(node=placement_protos(placed))

    def why(self, request: pb.WhyRequest) -> pb.WhyResponse:
        """Return what is known here of steps in flight; on request, in its whole cluster."""
        task = self._task
        if request.step_id:
            return report_proto(task.worker.report(request.step_id))
        return report_proto(
            task.master.report_everywhere() if request.whole_cluster else task.report()
        )

    def census(self, request: pb.CensusRequest) -> pb.CensusResponse:
        """Return what this task tells of itself; on request, what its whole cluster does."""
        task = self._task
        take = task.master.census_everywhere if request.whole_cluster else task.census
        return census_proto(since(take(request.holdings), request.cursor))

    def disturb(self, request: pb.DisturbRequest) -> pb.DisturbResponse:
        """Let things be wrong on purpose, as who started this process asks for.

        Raises:
          PermissionDeniedError: nobody started it who could ask for that.
        """
        if not self._task.may_be_disturbed:
            raise PermissionDeniedError(
                f"{self._task.name} was not started by %cluster, which alone may disturb what it "
                "started"
            )
        self._task.disturb(disturbances_from(request))
        return pb.DisturbResponse()

    def costs(self, request: pb.CostsRequest) -> pb.CostsResponse:
        """Return what units of a session's programs took; on request, on all of its tasks."""
        asked = self._task.master if request.all_tasks else self._task.worker
        return costs_proto(asked.unit_costs(request.session_handle))

    def check(self, request: pb.HealthCheckRequest) -> pb.HealthCheckResponse:
        """Say whether the server serves; as LIVENESS, that it answers: one that ends is alive."""
        is_serving = request.service == LIVENESS or not self._reason
        status = pb.HealthCheckResponse
        return status(status=status.SERVING if is_serving else status.NOT_SERVING)

    def watch(self, request: memoryview, call: Call) -> None:
        """Say whether the server serves, now and when that changes, until the server is gone."""
        asked = parse_message(pb.HealthCheckRequest, request)
        self._watching[id(call)] = asked, call
        call.on_cancel(lambda: self._watching.pop(id(call), None))
        call.send([self.check(asked).SerializeToString()])


def costs_proto(costs: Iterable[UnitCost]) -> pb.CostsResponse:
    """Return the answer to `Costs`."""
    return pb.CostsResponse(
        units=[
            pb.UnitCost(
                names=[name for name, _ in each.nodes],
                ops=[op for _, op in each.nodes],
                nanos=each.nanos,
            )
            for each in costs
        ]
    )


def costs_from(response: pb.CostsResponse) -> list[UnitCost]:
    """Return what the answer to `Costs` tells."""
    return [
        UnitCost(tuple(zip(each.names, each.ops, strict=True)), each.nanos)
        for each in response.units
    ]


def disturb_request(disturbances: Iterable[Disturbance]) -> pb.DisturbRequest:
    """Return the request that a task is to obey these disturbances, and no others."""
    return pb.DisturbRequest(
        disturbances=[pb.Disturbance(**each._asdict()) for each in disturbances]
    )


def disturbances_from(request: pb.DisturbRequest) -> list[Disturbance]:
    """Return the disturbances that a DisturbRequest carries.

    Raises:
      InvalidArgumentError: one of them is none that is known here.
    """
    unknown = [each.verb for each in request.disturbances if each.verb not in VERBS]
    if unknown:
        raise InvalidArgumentError(f"{unknown[0]!r} is no disturbance; there are {VERBS}")
    return [_record(Disturbance, each) for each in request.disturbances]


def placement_protos(placed: Mapping[str, Placement]) -> list[pb.Message]:
    """Return the PlacedNodes of a placement."""
    return [
        pb.PlacedNode(
            name=name,
            device=each.device,
            reason=each.reason,
            error_code=0 if each.error is None else each.error.error_code,
            error_message="" if each.error is None else each.error.message,
        )
        for name, each in placed.items()
    ]


def placement_from(protos: Iterable[pb.Message]) -> dict[str, Placement]:
    """Return the placement that PlacedNodes describe."""
    return {
        each.name: Placement(
            each.device,
            each.reason,
            from_status(each.error_code, each.error_message, {}) if each.error_code else None,
        )
        for each in protos
    }


def report_proto(report: Report) -> pb.WhyResponse:
    """Return a report as a WhyResponse; its messages have the fields of the records."""
    return _filled(pb.WhyResponse(), report, _RECORDS)


def report_from(response: pb.Message) -> Report:
    """Return the report that a WhyResponse carries."""
    return Report(**_records(response, _RECORDS))


def census_proto(census: Census) -> pb.CensusResponse:
    """Return a census as a CensusResponse; its messages have the fields of the records."""
    return _filled(pb.CensusResponse(cursor=census.cursor), census, _CENSUS)


def census_from(response: pb.Message) -> Census:
    """Return the census that a CensusResponse carries."""
    return Census(**_records(response, _CENSUS), cursor=tuple(response.cursor))


def _filled(response: M, records: Report | Census, kinds: Kinds) -> M:
    for field, (_, message_class) in kinds.items():
        messages = [
            getattr(pb, message_class)(**each._asdict()) for each in getattr(records, field)
        ]
        getattr(response, field).extend(messages)
    return response


def _records(response: pb.Message, kinds: Kinds) -> dict[str, Record]:
    return {
        field: tuple(_record(record_class, each) for each in getattr(response, field))
        for field, (record_class, _) in kinds.items()
    }


def _record(record_class: Record, message: pb.Message) -> Record:
    values = (getattr(message, field) for field in record_class._fields)
    return record_class(*(tuple(v) if hasattr(v, "extend") else v for v in values))


# Field of a Report -> its records here, and their messages.
_RECORDS: Kinds = {
    "steps": (StepStatus, "WhyStep"),
    "waits": (Wait, "WhyWait"),
    "stocks": (ResourceStatus, "WhyStock"),
    "deeds": (PendingOp, "WhyDeed"),
    "silent": (Unreachable, "WhySilence"),
    "disturbances": (Disturbance, "Disturbance"),
}


# Field of a Census -> the same.
_CENSUS: Kinds = {
    "tasks": (TaskStatus, "CensusTask"),
    "stocks": (ResourceStatus, "WhyStock"),
    "waiters": (Waiter, "CensusWaiter"),
    "traffic": (Traffic, "CensusTraffic"),
    "holdings": (Allocation, "CensusHolding"),
    "silent": (Unreachable, "WhySilence"),
}


def _detach(call: Call, reason: str) -> None:
    call.respond([pb.AttachResponse(reason=reason).SerializeToString()])


@cache
def own_version() -> str:
    """Return the version that is installed; "" where nothing is."""
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return version("tfdist")
    except PackageNotFoundError:
        return ""
