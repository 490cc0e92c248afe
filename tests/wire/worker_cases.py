"""What a worker answers to requests of all kinds; see `master_cases`."""

from __future__ import annotations

import itertools
import random
from typing import Any

from tests.wire.calls_at import Asker, graph, node
from tests.wire.graph_cases import Case, constant
from tfdist.base.dtypes import DType, float32
from tfdist.errors import (
    AbortedError,
    CancelledError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    UnimplementedError,
)
from tfdist.protos import pb

MASTER = "/job:elsewhere/replica:0/task:0"
ELSEWHERE = f"{MASTER}/device:CPU:0"

_steps = itertools.count(random.getrandbits(50))


class Task:
    """A worker, as a master sees it.

    Attributes:
      device: its first one.
      incarnation: of that, unsigned.
      handle: of a worker session, new.
    """

    def __init__(self, asker: Asker, isolated: bool = False, master: str = MASTER) -> None:
        self._asker = asker
        status = asker.ask(pb.GetStatusRequest())
        first = min(status.device_attributes, key=lambda each: each.name)
        self.device, self.incarnation = first.name, first.incarnation
        self.handle = f"{random.getrandbits(64):016x}"
        asker.ask(
            pb.CreateWorkerSessionRequest(
                session_handle=self.handle,
                server_def=pb.ServerDef(protocol="grpc"),
                master_task=master,
                isolate_session_state=isolated,
            )
        )

    def register(self, *nodes: Any) -> str:
        """Return the handle of a partition."""
        return str(self._asker.ask(self.registration(*nodes)).graph_handle)

    def registration(self, *nodes: Any, **fields: Any) -> Any:
        """Return a RegisterGraphRequest, with this task's device on every node."""
        for each in nodes:
            each.device = self.device
        fields.setdefault("session_handle", self.handle)
        fields.setdefault("create_worker_session_called", True)
        return pb.RegisterGraphRequest(graph_def=graph(*nodes), **fields)

    def run(self, graph_handle: str, step_id: int = 0, **fields: Any) -> Any:
        """Run a partition, to its end."""
        return self._asker.ask(self.running(graph_handle, step_id, **fields))

    def running(self, graph_handle: str, step_id: int = 0, **fields: Any) -> Any:
        """Return a RunGraphRequest."""
        fields.setdefault("session_handle", self.handle)
        fields.setdefault("request_id", random.getrandbits(62) | 1)
        fields.setdefault("create_worker_session_called", True)
        return pb.RunGraphRequest(
            graph_handle=graph_handle, step_id=step_id or new_step(), **fields
        )

    def sent(self, value: Any, name: str, dtype: DType = float32) -> Any:
        """Return a _Send of a node to another task."""
        return node(name, "_Send", value, T=dtype, **self._edge(name))

    def received(self, name: str, dtype: DType = float32) -> Any:
        """Return a _Recv of a value that nobody sends."""
        return node(name, "_Recv", tensor_type=dtype, **self._edge(name))

    def _edge(self, name: str) -> dict[str, Any]:
        signed = self.incarnation - 2**64 * (self.incarnation >= 2**63)
        return {
            "tensor_name": name.encode(),
            "send_device": self.device.encode(),
            "recv_device": ELSEWHERE.encode(),
            "send_device_incarnation": signed,
            "client_terminated": False,
        }

    def key(self, name: str, incarnation: int | None = None, round_: str = "0:0") -> str:
        """Return the rendezvous key of what `sent` sends; `round_` is "FRAME:ITERATION"."""
        number = self.incarnation if incarnation is None else incarnation
        return f"{self.device};{number:016x};{ELSEWHERE};{name};{round_}"

    def receiving(self, name: str, step_id: int) -> Any:
        """Return a RecvTensorRequest for what `sent` sends."""
        return receiving(self.key(name), step_id)


def new_step() -> int:
    """Return a step id that no other step has."""
    return next(_steps)


def receiving(key: str, step_id: int = 0) -> Any:
    """Return a RecvTensorRequest."""
    return pb.RecvTensorRequest(
        step_id=step_id or new_step(), rendezvous_key=key, request_id=random.getrandbits(62) | 1
    )


# sessions


def a_worker_session_is_opened_twice(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(pb.CreateWorkerSessionRequest(session_handle=task.handle))


def an_unknown_worker_session_is_deleted(asker: Asker) -> None:
    asker.ask(pb.DeleteWorkerSessionRequest(session_handle="nobody's"))


def a_graph_for_an_unknown_session(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(task.registration(constant("c", 1.0), session_handle="nobody's"))


def a_graph_for_the_session_of_all(asker: Asker) -> None:
    task = Task(asker)
    legacy: dict[str, Any] = {"session_handle": "", "create_worker_session_called": False}
    handle = asker.ask(task.registration(constant("c", 1.0), **legacy)).graph_handle
    asker.ask(task.running(handle, **legacy))


def a_graph_is_run_for_an_unknown_session(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(task.running(task.register(constant("c", 1.0)), session_handle="nobody's"))


def a_graph_is_run_after_its_session_was_deleted(asker: Asker) -> None:
    task = Task(asker)
    handle = task.register(constant("c", 1.0))
    asker.ask(pb.DeleteWorkerSessionRequest(session_handle=task.handle))
    task.run(handle)


# graphs


def an_unknown_graph(asker: Asker) -> None:
    Task(asker).run("0123456789abcdef")


def a_graph_of_another_session(asker: Asker) -> None:
    handle = Task(asker).register(constant("c", 1.0))
    Task(asker).run(handle)


def a_graph_that_was_deregistered(asker: Asker) -> None:
    task = Task(asker)
    handle = task.register(constant("c", 1.0))
    asker.ask(
        pb.DeregisterGraphRequest(
            session_handle=task.handle, graph_handle=handle, create_worker_session_called=True
        )
    )
    task.run(handle)


def an_unknown_graph_is_deregistered(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(
        pb.DeregisterGraphRequest(
            session_handle=task.handle, graph_handle="nothing", create_worker_session_called=True
        )
    )


def a_graph_with_an_unknown_op(asker: Asker) -> None:
    Task(asker).register(node("n", "NoSuchOpAnywhere"))


def a_graph_with_a_missing_input(asker: Asker) -> None:
    Task(asker).register(node("y", "Identity", "nothing", T=float32))


def a_graph_with_a_cycle(asker: Asker) -> None:
    Task(asker).register(
        node("a", "Identity", "b", T=float32), node("b", "Identity", "a", T=float32)
    )


def a_graph_without_nodes(asker: Asker) -> None:
    task = Task(asker)
    task.run(task.register())


def a_graph_with_defaults_left_out(asker: Asker) -> None:
    task = Task(asker)
    v = node("v", "VariableV2", dtype=float32, shape=())
    assign = node("a", "Assign", "v", "c", T=float32)
    task.run(task.register(v, assign, constant("c", 1.0)))


# steps


def the_same_step_is_requested_twice(asker: Asker) -> None:
    task = Task(asker)
    request = task.running(task.register(constant("c", 1.0)))
    asker.ask(request)
    asker.ask(request)


def request_0_is_sent_twice(asker: Asker) -> None:
    task = Task(asker)
    request = task.running(task.register(constant("c", 1.0)), request_id=0)
    asker.ask(request)
    asker.ask(request)


def a_step_that_fails(asker: Asker) -> None:
    task = Task(asker)
    v = node("unset", "VariableV2", dtype=float32, shape=())
    task.run(task.register(v, node("y", "Identity", "unset", T=float32)))


def a_step_that_fails_with_its_error_in_the_body(asker: Asker) -> None:
    task = Task(asker)
    v = node("unset", "VariableV2", dtype=float32, shape=())
    handle = task.register(v, node("y", "Identity", "unset", T=float32))
    task.run(handle, store_errors_in_response_body=True)


def a_placeholder_in_a_partition(asker: Asker) -> None:
    task = Task(asker)
    task.run(task.register(node("x", "Placeholder", dtype=float32)))


def an_unknown_step_is_cleaned_up(asker: Asker) -> None:
    asker.ask(pb.CleanupGraphRequest(step_id=new_step()))


def containers_are_cleared(asker: Asker) -> None:
    asker.ask(pb.CleanupAllRequest(container=["mine"]))


# transfers


def a_value_that_was_sent(asker: Asker) -> None:
    task, step = Task(asker), new_step()
    task.run(task.register(constant("c", 1.0), task.sent("c", "s")), step)
    asker.ask(task.receiving("s", step))


def a_key_that_is_none(asker: Asker) -> None:
    asker.ask(receiving("x:0"))


def a_key_of_too_few_parts(asker: Asker) -> None:
    asker.ask(receiving(Task(asker).key("s").rpartition(";")[0]))


def a_key_of_too_many_parts(asker: Asker) -> None:
    asker.ask(receiving(Task(asker).key("s") + ";0:0"))


def a_key_without_hexadecimal_digits(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(receiving(task.key("s").replace(f"{task.incarnation:016x}", "not a number here")))


def a_key_without_a_device(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(receiving(task.key("s").replace(task.device, "device")))


def a_key_of_another_task(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(receiving(task.key("s").replace(task.device, ELSEWHERE)))


def a_key_of_another_life(asker: Asker) -> None:
    task = Task(asker)
    asker.ask(receiving(task.key("s", task.incarnation ^ 1)))


def a_value_of_a_step_that_failed(asker: Asker) -> None:
    task, step = Task(asker), new_step()
    waiting = asker.begin(task.receiving("s", step))
    v = node("unset", "VariableV2", dtype=float32, shape=())
    handle = task.register(v, node("y", "Identity", "unset", T=float32), task.sent("y", "s"))
    asker.begin(task.running(handle, step)).outcome()
    raise waiting.outcome()


def a_value_of_a_step_that_is_cleaned_up(asker: Asker) -> None:
    task, step = Task(asker), new_step()
    waiting = asker.begin(task.receiving("s", step))
    asker.ask(pb.GetStatusRequest())
    asker.ask(pb.CleanupGraphRequest(step_id=step))
    raise waiting.outcome()


# the rest


def tracing(asker: Asker) -> None:
    asker.ask(pb.TracingRequest())


def logging(asker: Asker) -> None:
    asker.ask(pb.LoggingRequest(enable_rpc_logging=True))
    asker.ask(pb.LoggingRequest(disable_rpc_logging=True))
    asker.ask(pb.LoggingRequest(fetch_step_id=[1]))


CASES: dict[Case, type[OpError] | None] = {
    a_worker_session_is_opened_twice: None,
    an_unknown_worker_session_is_deleted: None,
    a_graph_for_an_unknown_session: AbortedError,
    a_graph_for_the_session_of_all: None,
    a_graph_is_run_for_an_unknown_session: AbortedError,
    a_graph_is_run_after_its_session_was_deleted: AbortedError,
    an_unknown_graph: AbortedError,
    a_graph_of_another_session: AbortedError,
    a_graph_that_was_deregistered: AbortedError,
    an_unknown_graph_is_deregistered: None,  # ABORTED there
    a_graph_with_an_unknown_op: NotFoundError,
    a_graph_with_a_missing_input: InvalidArgumentError,
    a_graph_with_a_cycle: InvalidArgumentError,
    a_graph_without_nodes: None,  # to run it ends the whole server there
    a_graph_with_defaults_left_out: None,  # 1.15.5 wants them all
    the_same_step_is_requested_twice: AbortedError,
    request_0_is_sent_twice: None,
    a_step_that_fails: FailedPreconditionError,
    a_step_that_fails_with_its_error_in_the_body: FailedPreconditionError,
    a_placeholder_in_a_partition: InvalidArgumentError,
    an_unknown_step_is_cleaned_up: None,
    containers_are_cleared: None,
    a_value_that_was_sent: None,
    a_key_that_is_none: InvalidArgumentError,
    a_key_of_too_few_parts: InvalidArgumentError,
    a_key_of_too_many_parts: InvalidArgumentError,
    a_key_without_hexadecimal_digits: InvalidArgumentError,
    a_key_without_a_device: InvalidArgumentError,
    a_key_of_another_task: InvalidArgumentError,  # waits for ever there
    a_key_of_another_life: AbortedError,
    a_value_of_a_step_that_failed: FailedPreconditionError,
    a_value_of_a_step_that_is_cleaned_up: CancelledError,  # waits for ever there
    tracing: UnimplementedError,
    logging: None,
}
