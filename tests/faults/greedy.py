"""Rows in which one client wants too much; then a server answers another one as ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from tests.faults import probes
from tests.faults.graphs import Counter
from tests.faults.place import Place
from tests.faults.processes import Task
from tests.faults.row import Measured, Row
from tests.wire.calls_at import Asker, calls_at, node, step_request, tensor
from tfdist.base.dtypes import float32, int32
from tfdist.errors import AbortedError, CancelledError, InvalidArgumentError
from tfdist.protos import pb

ANSWER = 0.5  # seconds in which another client's step ends then
PATIENCE = 100.0  # seconds
SESSIONS = 1000
STEPS = 2000  # at once
NODES = 100_000
HUGE = 10 * probes.MIB  # bytes of a string
THREADS = 300  # a server has 256 for calls that may block
LEAK = 60 * probes.MIB  # bytes that may stay: the allocator keeps some
FLOAT = pb.DataType.Value("DT_FLOAT")
PLAIN = node("x", "Placeholder", dtype=float32)

Want = Callable[[Asker, Task], str]  # returns what was seen


def greedy(place: Place, want: Want) -> Measured:
    """A client wants too much; then a step is run of another, which was there before."""
    [master] = place.tasks({"worker": 1}).values()
    counter = Counter(master)
    add, session = counter.added(1), place.session(master)
    session.run(counter.start)
    assert session.run(add) == 1
    with calls_at(master.address, "local path") as asker:
        note = want(asker, master)
        start = time.monotonic()
        assert session.run(add) == 2
        return Measured(time.monotonic() - start, note=note)


def sessions(asker: Asker, server: Task) -> str:
    """Open sessions, and close them."""
    before = probes.memory(server.pid)
    handles = [asker.session(PLAIN) for _ in range(SESSIONS)]
    most = probes.memory(server.pid)
    for handle in handles:
        _close(asker, handle)
    left = probes.memory(server.pid) - before
    assert left < LEAK, f"{left / probes.MIB:.0f} MiB stay"
    return f"{SESSIONS} sessions took {(most - before) / probes.MIB:.1f} MiB"


def creations(asker: Asker, server: Task) -> str:
    """Ask for sessions at once."""
    request = pb.CreateSessionRequest(graph_def=pb.GraphDef(node=[PLAIN]))
    begun = [asker.begin(request) for _ in range(SESSIONS)]
    threads = probes.threads(server.pid)
    for each in begun:
        _close(asker, each.outcome().session_handle)
    assert threads < THREADS, f"the server has {threads} threads"
    return f"{SESSIONS} at once: the server had {threads} threads"


def steps(asker: Asker, server: Task) -> str:
    """Wait for elements in very many steps, of which each is another one, and close the session."""
    kinds = {"component_types": [int32], "shapes": [()], "capacity": 9}
    queue = node("queue", "FIFOQueueV2", container=b"", shared_name=b"", **kinds)
    takes = [
        node(f"take{i}", "QueueDequeueV2", "queue", component_types=[int32], timeout_ms=-1)
        for i in range(STEPS)
    ]
    handle = asker.session(queue, *takes)
    begun = [asker.begin(step_request(handle, fetch=[f"{each.name}:0"])) for each in takes]
    assert asker.ask(pb.GetStatusRequest(), PATIENCE).device_attributes
    threads = probes.threads(server.pid)
    _close(asker, handle)
    outcomes = {type(each.outcome()) for each in begun}
    assert outcomes <= {AbortedError, CancelledError}, outcomes
    assert threads < THREADS, f"the server has {threads} threads"
    return f"{STEPS} at once: the server had {threads} threads"


def graph(asker: Asker, server: Task) -> str:
    """Run a step of a chain of nodes."""
    chain = pb.GraphDef(node=[node("n0", "Const", dtype=float32, value=tensor(1.0))])
    link = node("n", "Identity", "n", T=float32)
    for i in range(1, NODES):
        link.name, link.input[0] = f"n{i}", f"n{i - 1}"
        chain.node.append(link)
    start = time.monotonic()
    handle = asker.ask(pb.CreateSessionRequest(graph_def=chain), PATIENCE).session_handle
    asker.ask(step_request(handle, fetch=[f"n{NODES - 1}:0"]), PATIENCE)
    seconds = time.monotonic() - start
    _close(asker, handle)
    return f"{NODES} nodes in a chain: the first step ended after {seconds:.1f} s"


def strings(asker: Asker, server: Task) -> str:
    """Give a node a huge name, and huge attributes."""
    names = {"container": b"c" * HUGE, "shared_name": b"s" * HUGE}
    variable = node("v" * HUGE, "VariableV2", dtype=float32, shape=(), **names)
    handle = asker.ask(pb.CreateSessionRequest(graph_def=pb.GraphDef(node=[variable])), PATIENCE)
    _close(asker, handle.session_handle)
    return f"three strings of {HUGE / probes.MIB:.0f} MiB"


def functions(asker: Asker, server: Task) -> str:
    """Call a function that calls another one twice, and so on: two to the fortieth nodes."""
    wide = pb.GraphDef(node=[node("one", "Const", dtype=float32, value=tensor(1.0))])
    wide.node.append(node("call", "f39", "one"))
    for i in range(40):
        function = wide.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="x", type=FLOAT)
        function.signature.output_arg.add(name="y", type=FLOAT)
        inner = (node("a", f"f{i - 1}", "x"), node("b", f"f{i - 1}", "a:y:0"))
        function.node_def.extend(inner if i else [node("b", "Identity", "x", T=float32)])
        function.ret["y"] = "b:y:0" if i else "b:output:0"
    start = time.monotonic()
    try:
        asker.ask(pb.CreateSessionRequest(graph_def=wide), PATIENCE)
    except InvalidArgumentError as error:
        return f"refused after {time.monotonic() - start:.3f} s: {error.message}"
    raise AssertionError("it was taken")


def _close(asker: Asker, handle: str) -> None:
    asker.ask(pb.CloseSessionRequest(session_handle=handle), PATIENCE)


def _row(number: str, sentence: str, want: Want, is_quick: bool = False) -> Row:
    return Row(number, sentence, ANSWER, "", "", partial(greedy, want=want), is_quick)


ROWS = [
    _row("G sessions", "a step after another client had 1,000 sessions", sessions),
    _row("G creations", "a step after 1,000 sessions were asked for at once", creations),
    _row("G steps", "a step after 2,000 different ones waited, and their session was closed",
        steps),
    _row("G graph", "a step after another client's graph of 100,000 nodes", graph),
    _row("G strings", "a step after another client's names of 10 MiB", strings, True),
    _row("G functions", "a step after functions that make 2**40 nodes", functions,
        True),
]  # fmt: skip
