"""Rows in which a server is sent nonsense, or work without measure: 27, 28, 29, 30 and 35."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from typing import Any

import tfdist as tf
from tests.faults import probes
from tests.faults.calls import until
from tests.faults.graphs import on
from tests.faults.place import Place
from tests.faults.processes import Task
from tests.faults.row import Measured, Row
from tfdist.protos import pb
from tfdist.wire.grpc.options import grpc

METHODS = (
    *(f"/tensorflow.MasterService/{each}" for each in (
        "CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession", "Reset",
        "ListDevices", "MakeCallable", "RunCallable", "ReleaseCallable",
    )),
    *(f"/tensorflow.WorkerService/{each}" for each in (
        "GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph",
        "DeregisterGraph", "RunGraph", "CleanupGraph", "CleanupAll", "RecvTensor", "Logging",
        "Tracing",
    )),
)  # fmt: skip
GROWTH = 10 * probes.MIB  # bytes
TIMEOUT = 0.5  # seconds of an endless step
IDLE = 0.2  # cores that a server may take when nothing runs
HUGE = 10**12  # elements
INT32 = pb.DataType.Value("DT_INT32")


def nonsense(place: Place) -> Measured:
    """Every method gets random bytes, half a message, and a message nested 10,000 deep."""
    [master] = place.tasks({"worker": 1}).values()
    x, dice = on(master, 1), random.Random(27)
    session = place.session(master)
    session.run(x)
    graph = pb.CreateSessionRequest(graph_def=session.graph_def).SerializeToString()
    deep = b""
    for _ in range(10_000):
        deep = b"\x0a" + _length(len(deep)) + deep
    messages = [dice.randbytes(200), graph[: len(graph) // 2], deep, b"\x0a\xff\xff\xff\xff\x0f"]
    for path in METHODS:  # what is loaded when it is first used is no growth
        _outcome(master, path, b"\xff")
    before, slowest = probes.memory(master.pid), 0.0
    codes = set()
    for path in METHODS:
        for message in messages:
            start = time.monotonic()
            codes.add(_outcome(master, path, message))
            slowest = max(slowest, time.monotonic() - start)
    assert codes <= {"OK", "INVALID_ARGUMENT", "INTERNAL", "ABORTED", "NOT_FOUND", "UNIMPLEMENTED"}
    assert place.session(master).run(x) == 1, "the server goes on"
    grown = probes.memory(master.pid) - before
    assert grown < GROWTH, f"the server took {grown / probes.MIB:.1f} MiB more"
    note = f"{len(METHODS)} methods, {len(messages)} messages each: {', '.join(sorted(codes))}"
    return Measured(slowest, note=note)


def _length(size: int) -> bytes:
    """Return a size as protobuf writes it."""
    found = b""
    while size > 0x7F:
        found += bytes([size & 0x7F | 0x80])
        size >>= 7
    return found + bytes([size])


def _outcome(task: Task, path: str, message: bytes) -> str:
    """Return the name of the code that a call ends with."""
    with grpc.insecure_channel(task.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        try:
            channel.unary_unary(path)(message, timeout=probes.PATIENCE, wait_for_ready=True)
        except grpc.RpcError as failed:
            return str(failed.code().name)  # type: ignore[attr-defined]
    return "OK"


def hostile_graphs(place: Place) -> Measured:
    """Sessions are opened with graphs that cannot be; each is refused, or fails when it runs."""
    [master] = place.tasks({"worker": 1}).values()
    x = on(master, 1)
    session = place.session(master)
    session.run(x)
    slowest, told = 0.0, []
    for name, graph in _graphs():
        start = time.monotonic()
        code, text = _opened(master, graph)
        slowest = max(slowest, time.monotonic() - start)
        assert code != "OK", f"{name}: it was taken, and ran"
        assert code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN"), f"{name}: {code} {text}"
        named = ("bad", graph[0].op)
        assert any(each in text for each in named), f"{name}: neither node nor op is named: {text}"
        told.append(f"{name}: {code}")
    assert session.run(x) == 1, "the server goes on"
    return Measured(slowest, note="; ".join(told))


def _graphs() -> Iterator[tuple[str, Any]]:
    """Yield (what is wrong, graph), each with a node "bad" that is to run."""
    number = pb.AttrValue(type=INT32)
    negative = pb.TensorProto(dtype=INT32, int_val=[1])
    negative.tensor_shape.dim.add(size=-5)
    vast = pb.TensorProto(dtype=INT32, tensor_content=b"1234")
    vast.tensor_shape.dim.add(size=HUGE)
    overflowing = pb.TensorProto(dtype=INT32, tensor_content=b"1234")
    for _ in range(3):
        overflowing.tensor_shape.dim.add(size=2**40)
    one = pb.TensorProto(dtype=INT32, int_val=[1])

    def node(op: str, *inputs: str, **attrs: Any) -> Any:
        return pb.NodeDef(name="bad", op=op, input=inputs, attr=attrs)

    def constant(value: Any) -> Any:
        return node("Const", dtype=number, value=pb.AttrValue(tensor=value))

    yield "an unknown op", [node("NoSuchOp")]
    yield "a missing attribute", [node("Const", dtype=number)]
    yield "an absent input", [node("Neg", "absent", T=number)]
    yield "a cycle", [node("Neg", "bad", T=number)]
    yield "two nodes of a name", [constant(one), constant(one)]
    yield "a negative dimension", [constant(negative)]
    yield "4 TB in 4 bytes", [constant(vast)]
    yield "more elements than numbers", [constant(overflowing)]


def _opened(task: Task, nodes: Any) -> tuple[str, str]:
    """Return code and text of opening a session with a graph, and of a step of its node."""
    request = pb.CreateSessionRequest(graph_def=pb.GraphDef(node=nodes))
    service = "/tensorflow.MasterService/"
    try:
        found = probes.ask(
            task.address, f"{service}CreateSession", request, pb.CreateSessionResponse
        )
        step = pb.RunStepRequest(session_handle=found.session_handle, fetch=["bad:0"], request_id=1)
        probes.ask(task.address, f"{service}RunStep", step, pb.RunStepResponse)
    except grpc.RpcError as failed:
        return failed.code().name, str(failed.details())  # type: ignore[attr-defined]
    return "OK", ""


def allocation_bomb(place: Place) -> Measured:
    """A step fills a tensor of 4 TB."""
    [master] = place.tasks({"worker": 1}).values()
    with tf.device(master.name):
        shape = tf.placeholder(tf.int64, [1], name="shape")
        total = tf.reduce_sum(tf.fill(shape, 1.0, name="bomb"))
    session = place.session(master)
    assert session.run(total, {shape: [3]}) == 3
    fault = time.monotonic()
    call = place.call(session.run, total, {shape: [HUGE]})
    error = call.error()
    seconds = call.seconds_after(fault)
    assert session.run(total, {shape: [3]}) == 3, "the session goes on"
    return Measured(seconds, error, ("bomb",))


def endless_loop(place: Place) -> Measured:
    """A step loops without end, and has a timeout; then its server has nothing to do."""
    [master] = place.tasks({"worker": 1}).values()
    with tf.device(master.name):
        loop = tf.while_loop(lambda i: i >= 0, lambda i: tf.maximum(i * 0, 0), [tf.constant(0)])
    session = place.session(master)
    session.run(on(master, 1))
    options = tf.RunOptions(timeout_in_ms=int(TIMEOUT * 1000))
    fault = time.monotonic()
    call = place.call(session.run, loop, None, options)
    error = call.error()
    seconds = call.seconds_after(fault)
    until(lambda: _cores(master.pid) < IDLE, "the server has nothing to do")
    return Measured(seconds, error)


def _cores(pid: int, moment: float = 0.2) -> float:
    """Return how many cores a process takes for a moment."""
    ticks, start = probes.ticks(pid), time.monotonic()
    time.sleep(moment)
    used = (probes.ticks(pid) - ticks) / os.sysconf("SC_CLK_TCK")
    return used / (time.monotonic() - start)


def function_of_another_process(place: Place) -> Measured:
    """A graph with a Python function is sent to another process."""
    [master] = place.tasks({"worker": 1}).values()
    with tf.device(master.name):
        called = tf.py_func(os.getpid, [], tf.int64, name="foreign")
    session = place.session(master)
    fault = time.monotonic()
    call = place.call(session.run, called)
    error = call.error()
    return Measured(call.seconds_after(fault), error, ("foreign",))


ROWS = [
    Row("27", "nonsense to every method: each is answered, nothing grows", 0.1, "", "", nonsense),
    Row("28", "graphs that cannot be: each is refused, with its node or op", 0.5, "", "",
        hostile_graphs),
    Row("29", "a step that fills 4 TB", 0.5, "ResourceExhaustedError", "", allocation_bomb),
    Row("30", "an endless loop with a timeout of 0.5 s", 1.5, "DeadlineExceededError", "",
        endless_loop, waits=TIMEOUT),
    Row("35", "a graph with a Python function, sent to another process", 1,
        "InvalidArgumentError", "process", function_of_another_process),
]  # fmt: skip
