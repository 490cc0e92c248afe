"""The other tasks of a cluster, wherever they are: called directly in this process, else by link.

Source: docs/wire.md section 5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from tfdist.base import devices as device_names
from tfdist.base.aliases import Outcome, TensorValue
from tfdist.errors import DeadlineExceededError, OpError, UnavailableError
from tfdist.graph.op_def import Wait
from tfdist.graph.records import Node
from tfdist.plan.step_plan import Partition
from tfdist.protos import pb
from tfdist.runtime.devices.local_devices import Device
from tfdist.runtime.step.counters import MOVES
from tfdist.runtime.step.rendezvous import Rendezvous, route_of
from tfdist.runtime.step.run import Run
from tfdist.runtime.step.step import Step
from tfdist.runtime.step.unit_costs import UnitCost
from tfdist.runtime.task.peers import DirectPeers, LocalTask, task_at
from tfdist.tracing.census import Census
from tfdist.tracing.waits import Report, foremost
from tfdist.tracing.waits import Wait as WaitTold
from tfdist.wire.codec import codec
from tfdist.wire.codec.graphs import graph_pieces
from tfdist.wire.codec.step_messages import end_message, run_message
from tfdist.wire.codec.step_stats import shift
from tfdist.wire.codec.transfers import subscription_values
from tfdist.wire.common import status
from tfdist.wire.common.absences import absences_told
from tfdist.wire.common.calls import Piece, as_op_error
from tfdist.wire.common.connection_diagnosis import absent_text, waiting_text
from tfdist.wire.common.timeouts import timeouts
from tfdist.wire.peers.answers import ask_reasons, ask_status
from tfdist.wire.peers.census import ask_census
from tfdist.wire.peers.costs import ask_costs
from tfdist.wire.peers.following import Followings
from tfdist.wire.peers.link import Link
from tfdist.wire.peers.remote_receive import RemoteReceive
from tfdist.wire.peers.task_links import TaskLinks
from tfdist.wire.peers.why import MOMENT, ask_why
from tfdist.wire.service_methods import END, FOLLOW, RUN, WORKER, devices_from, new_request_id
from tfdist.wire.services.logged_run import LoggedRun

_REPLACED = {"AccumulateNV2": "AddN"}


class RemotePeers:
    """The tasks of a cluster (`runtime.step.peers.Peers`).

    Args:
      addresses: address by task name.
      own: name and task that these peers belong to.
      direct: whether tasks of this process are called directly.
      near: what calls those; by default under the names that they have in their own cluster.
    """

    def __init__(
        self,
        addresses: Mapping[str, str],
        own: tuple[str, LocalTask],
        direct: bool = True,
        near: DirectPeers | None = None,
    ) -> None:
        self._near = near or DirectPeers(addresses, own)
        self.addresses = self._near.addresses
        self._own_name, self._own = own
        self._direct = direct
        self._links = TaskLinks(self.addresses, own)
        self._followings = Followings(
            self._own_name, partial(self._near.rendezvous, self._own_name), self._links.explained
        )
        self._earlier: set[str] = set()  # tasks of TensorFlow 1.15: all number loops as those do

    @property
    def bound(self) -> float:
        """Return the seconds after which a task that cannot be reached is given up."""
        return timeouts().alive + timeouts().silence

    def _is_near(self, task: str) -> bool:
        return task == self._own_name or (
            self._direct and task_at(self.addresses[task]) is not None
        )

    def move(self, addresses: Mapping[str, str]) -> None:
        """See `TaskLinks.move`."""
        self._links.move(addresses)

    def close(self) -> None:
        """Let go of all links."""
        self._links.close()

    def devices(self, tasks: Sequence[str], seconds: float | None) -> list[Device]:
        """See `Peers`."""
        _, far = self._divided(tasks)
        found = self._devices_of(far, seconds) if far else {}
        return [
            device
            for task in tasks
            for device in (found[task] if task in found else self._near.devices([task], None))
        ]

    def _devices_of(self, tasks: Sequence[str], seconds: float | None) -> dict[str, list[Device]]:
        begun = time.monotonic()
        outcomes = self._statuses(tasks, seconds or timeouts().session)
        self._raise_absent(outcomes, time.monotonic() - begun, seconds is not None)
        found = {task: self._devices_in(task, outcome) for task, outcome in outcomes.items()}
        self._links.lives.update({task: devices[0].incarnation for task, devices in found.items()})
        return found

    def _statuses(self, tasks: Sequence[str], limit: float) -> dict[str, Outcome]:
        """Return what tasks answer to GetStatus; who moves meanwhile is asked where it is then."""
        until = time.monotonic() + limit
        outcomes: dict[str, Outcome] = {}
        while tasks:
            asked_at = {task: self.addresses[task] for task in tasks}
            links = {task: self._links.link(task) for task in tasks}
            seconds = max(until - time.monotonic(), MOMENT)
            outcomes |= ask_status(links, seconds, lambda names: self._waiting_text(names, limit))
            tasks = [
                task
                for task, address in asked_at.items()
                if isinstance(outcomes[task], OpError) and self.addresses[task] != address
            ]
        return outcomes

    def _devices_in(self, task: str, answer: memoryview) -> list[Device]:
        response = codec.parse_message(pb.GetStatusResponse, answer)
        devices = devices_from(response.device_attributes)
        if not devices:
            raise UnavailableError(f"{task} at {self.addresses[task]} says that it has no device")
        if not any(each.xla_global_id for each in response.device_attributes):
            self._earlier.add(task)  # TensorFlow 1.15 says nothing there, and later ones -1
        else:
            self._earlier.discard(task)
        return [each._replace(incarnation=_signed(each.incarnation)) for each in devices]

    def _waiting_text(self, missing: Sequence[str], limit: float) -> str:
        reasons = ask_reasons({task: self._links.link(task) for task in missing})
        places = {f"{task} at {self.addresses[task]}": why for task, why in reasons.items()}
        told = absences_told([self.addresses[task] for task in missing])
        return f"{waiting_text(places, limit)}{told}"

    def _raise_absent(
        self, outcomes: Mapping[str, Outcome], waited: float, is_own_limit: bool
    ) -> None:
        absent = [task for task, outcome in outcomes.items() if isinstance(outcome, OpError)]
        if not absent:
            return
        untold = {task: self._links.link(task) for task in absent if not outcomes[task].reason}
        reasons = {task: outcomes[task].reason for task in absent} | ask_reasons(untold)
        places = {
            f"{task} at {self.addresses[task]}": reasons[task] or outcomes[task].message
            for task in absent
        }
        kind = DeadlineExceededError if is_own_limit else UnavailableError
        raise kind(absent_text(places, waited))

    def open_session(self, tasks: Sequence[str], handle: str, isolated: bool) -> None:
        """See `Peers`."""
        near, far = self._divided(tasks)
        requests: dict[str, list[Piece]] = {}
        for task in far:
            request = pb.CreateWorkerSessionRequest(
                session_handle=handle,
                server_def=self._server_def(task),
                isolate_session_state=isolated,
                master_task="" if self._earlier else self._own_name,  # TensorFlow 1.15 names none
            )
            requests[task] = [request.SerializeToString()]
        self._links.ask_all(
            "CreateWorkerSession", requests, pb.CreateWorkerSessionResponse, _ignore
        )
        self._near.open_session(near, handle, isolated, bool(self._earlier))

    def _server_def(self, task: str) -> pb.ServerDef:
        named = device_names.parse(task)
        return pb.ServerDef(job_name=named.job, task_index=named.task, protocol="grpc")

    def close_session(self, task: str, handle: str) -> None:
        """See `Peers`; nobody waits for the task."""
        if self._is_near(task):
            self._near.close_session(task, handle)
        else:
            link = self._links.known(task)
            if link is not None and link.is_connected:  # else it knows nothing to forget
                request = pb.DeleteWorkerSessionRequest(session_handle=handle)
                path = f"{WORKER}DeleteWorkerSession"
                link.begin(path, [request.SerializeToString()], _ignore)

    def register(
        self, handle: str, partitions: Sequence[Partition], told: Callable[[str], None]
    ) -> list[str]:
        """See `Peers`."""
        parts = {each.task: each for each in partitions}
        near, far = self._divided(parts)
        request = pb.RegisterGraphRequest(session_handle=handle, create_worker_session_called=True)
        requests = {
            task: graph_pieces(request, 2, _understood(parts[task].nodes), parts[task].library)
            for task in far
        }
        found = self._links.ask_all("RegisterGraph", requests, pb.RegisterGraphResponse, told)
        names = {task: response.graph_handle for task, response in found.items()}
        own = self._near.register(handle, [parts[task] for task in near], told)
        names.update(zip(near, own, strict=True))
        return [names[task] for task in parts]

    def _divided(self, tasks: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the tasks that are called directly, and the others."""
        divided: tuple[list[str], list[str]] = [], []
        for task in tasks:
            divided[not self._is_near(task)].append(task)
        return divided

    def start(
        self, task: str, handle: str, graph: str, step: Step, feeds: list[TensorValue]
    ) -> Run | None:
        """See `Peers`."""
        if self._is_near(task):
            return self._near.start(task, handle, graph, step, feeds)
        link = self._links.link(task)
        if step.clock is None and link.frames_caller is not None:
            part = step.launch_remote()
            part.task, part.ask_waits = task, self._waits
            part.cancel = link.begin(
                RUN,
                [run_message(step.step_id, handle, graph)],
                lambda outcome: part.end(self._brief_outcome(task, outcome)),
            )
            return None
        request = pb.RunGraphRequest(
            session_handle=handle,
            graph_handle=graph,
            step_id=step.step_id,
            create_worker_session_called=True,
            request_id=new_request_id(),
        )
        if step.clock is not None:
            request.exec_opts.record_timeline = True
        part = step.launch_remote()
        if step.clock is not None and not link.is_ours:
            part.cancel = LoggedRun(
                link, request, lambda *outcome: part.end(self._run_outcome(task, *outcome))
            ).begin()
        else:
            part.cancel = link.begin(
                f"{WORKER}RunGraph",
                [request.SerializeToString()],
                lambda outcome: part.end(self._run_outcome(task, outcome)),
            )
        part.task, part.ask_waits = task, self._waits
        return None

    def _brief_outcome(self, task: str, outcome: Outcome) -> Outcome:
        """Return the error of a partition, or None."""
        return self._links.explained(task, outcome) if isinstance(outcome, OpError) else None

    def _waits(self, tasks: list[str], step_id: int) -> list[WaitTold]:
        """Return what waits on tasks in a step, as far as they tell within a moment."""
        try:
            told = ask_why(
                {task: self._links.link(task) for task in tasks}, MOMENT, step_id=step_id
            )
        except OpError:
            return []
        return [wait for report in told.values() for wait in foremost(report.waits)]

    def _run_outcome(
        self, task: str, outcome: Outcome, received: Sequence[TensorValue] = ()
    ) -> Outcome:
        """Return the error of a partition, or its statistics with what it `received`."""
        if isinstance(outcome, OpError):
            return self._links.explained(task, outcome)
        try:
            response = codec.parse_message(pb.RunGraphResponse, outcome)
            if response.status_code:
                return status.from_body(response)
            response.step_stats.dev_stats.extend(received)
            shift(response.step_stats, self._links.link(task).clock)
            return response.step_stats
        except Exception as error:  # somebody waits for an outcome, whatever it is
            return as_op_error(error)

    def receive(self, task: str, step_id: int, key: str, session: str = "") -> Wait:
        """See `Peers`."""
        if self._is_near(task):
            return self._near.receive(task, step_id, key)
        route = route_of(key)
        if route:
            here = self._near.rendezvous(self._own_name, step_id)
            inbox = here.inbox(route, partial(self._subscribe, task, step_id, route))
            if inbox is not None:
                return self.disturbed(inbox.receive(key), task)
        elif session:
            followed = self._followings.receive(self._links.link(task), task, session, step_id, key)
            if followed is not None:
                return self.disturbed(followed, task)
            answered = partial(self._followings.answered, task, session)
            return self.disturbed(RemoteReceive(self._links, task, step_id, key, answered), task)
        return self.disturbed(RemoteReceive(self._links, task, step_id, key), task)

    def disturbed(self, wait: Wait, task: str) -> Wait:
        """See `Peers`."""
        return self._near.disturbed(wait, task)

    def send(self, step_id: int, key: str, value: TensorValue) -> None:
        """See `Peers`."""
        self._near.send(step_id, key, value)

    def _subscribe(
        self, task: str, step_id: int, route: str, inbox: Rendezvous
    ) -> Callable[[], None] | None:
        """Have what is sent on a route put into `inbox`; returns what ends that; see `inbox`."""
        caller = self._links.link(task).frames_caller
        if caller is None:
            return None

        def arrived(outcome: Outcome) -> None:
            if isinstance(outcome, OpError):
                inbox.abort(self._links.explained(task, outcome))
                return
            try:
                began = time.perf_counter_ns()
                values = subscription_values(outcome)
                MOVES.add(began)
                for key, value in values:
                    inbox.send(key, value)
            except Exception as error:  # somebody waits for values, whatever it is
                inbox.abort(as_op_error(error))

        request = pb.RecvTensorRequest(step_id=step_id, rendezvous_key=route)
        try:
            return caller.begin(FOLLOW, [request.SerializeToString()], arrived)
        except UnavailableError:  # then each value is asked for, which tries to reach it anew
            return None

    def end_step(self, task: str, step_id: int) -> None:
        """See `Peers`; nobody waits for the task."""
        if self._is_near(task):
            self._near.end_step(task, step_id)
        else:
            link = self._links.known(task)
            if link is not None and link.frames_caller is not None:
                link.notify(END, [end_message(step_id)])
            elif link is not None:
                request = pb.CleanupGraphRequest(step_id=step_id)
                link.notify(f"{WORKER}CleanupGraph", [request.SerializeToString()])

    def clear(self, task: str, containers: Sequence[str]) -> None:
        """See `Peers`."""
        if self._is_near(task):
            self._near.clear(task, containers)
        else:
            request = pb.CleanupAllRequest(container=containers)
            self._links.ask(task, "CleanupAll", request, pb.CleanupAllResponse)

    def reports(self, tasks: Sequence[str]) -> list[Report]:
        """See `Peers`."""
        near, links = self._within_reach(tasks)
        return [*self._near.reports(near), *ask_why(links, MOMENT).values()]

    def unit_costs(self, task: str, handle: str) -> list[UnitCost]:
        """See `Peers`."""
        if self._is_near(task):
            return self._near.unit_costs(task, handle)
        return ask_costs(self._links.link(task), pb.CostsRequest(session_handle=handle))

    def censuses(self, tasks: Sequence[str], holdings: bool) -> list[Census]:
        """See `Peers`."""
        near, links = self._within_reach(tasks)
        told = ask_census(links, MOMENT, pb.CensusRequest(holdings=holdings))
        return [*self._near.censuses(near, holdings), *told.values()]

    def _within_reach(self, tasks: Sequence[str]) -> tuple[list[str], dict[str, Link]]:
        """Return the tasks that are called directly, and the links to the others, if any are."""
        near, far = self._divided(tasks)
        try:
            return near, {task: self._links.link(task) for task in far}
        except UnavailableError:  # this task has stopped
            return near, {}


def _signed(number: int) -> int:
    """Return 64 bits as the attribute `send_device_incarnation` has them."""
    return number - 2**64 if number >= 2**63 else number


def _understood(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return nodes without those that TensorFlow's masters replace and its workers cannot run."""
    if not any(node.op in _REPLACED for node in nodes):
        return nodes
    return [_replaced(node) if node.op in _REPLACED else node for node in nodes]


def _replaced(node: Node) -> Node:
    kept = {key: value for key, value in node.attrs.items() if key != "shape"}
    return node._replace(op=_REPLACED[node.op], attrs=kept)


def _ignore(outcome: Outcome) -> None:
    """Take an answer that nobody waits for."""
