"""The master's machine: events in, instructions out; no shell around it."""

import pytest

from tfdist.base.devices import parse
from tfdist.cluster.master import (
    CancelSteps,
    ClearContainers,
    CloseWorkerSession,
    ClusterReset,
    GraphExtended,
    MasterState,
    OpenWorkerSessions,
    SessionClosed,
    SessionRequested,
    SessionState,
    TaskLost,
    extend,
    handle,
)
from tfdist.errors import AbortedError, CancelledError, InvalidArgumentError
from tfdist.graph.records import Node
from tfdist.plan.step_plan import Signature

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"


def session(name, tasks=(PS, WORKER)):
    devices = tuple(parse(f"{task}/device:CPU:0") for task in tasks)
    return SessionState(name, tuple(tasks), devices, str(devices[0]), {})


def opened(*sessions):
    state = MasterState()
    for each in sessions:
        state, _ = handle(state, SessionRequested(each))
    return state


def told(instructions):
    """Return instructions as short text, errors by their class."""
    names = {PS: "ps", WORKER: "worker"}
    lines = []
    for each in instructions:
        match each:
            case OpenWorkerSessions(tasks, name):
                lines.append(f"open {name} on {' and '.join(names[task] for task in tasks)}")
            case CloseWorkerSession(task, name):
                lines.append(f"close {name} on {names[task]}")
            case CancelSteps(name, error):
                lines.append(f"cancel {name}: {type(error).__name__}")
            case ClearContainers(task, containers):
                lines.append(f"clear {' '.join(containers) or 'all'} on {names[task]}")
    return lines


END_A = ["close A on ps", "close A on worker"]
END_B = ["close B on ps"]

TABLE = [
    pytest.param(
        opened(), SessionRequested(session("A")), ["open A on ps and worker"], "A",
        id="a new session opens on all of its tasks",
    ),
    pytest.param(
        opened(session("A")), SessionRequested(session("B", [PS])), ["open B on ps"], "A B",
        id="a second session leaves the first alone",
    ),
    pytest.param(
        opened(session("A")), SessionClosed("A"), ["cancel A: CancelledError", *END_A], "",
        id="closing cancels its steps, then ends it everywhere",
    ),
    pytest.param(
        opened(session("A")), SessionClosed("Z"), [], "A", id="closing what is gone does nothing"
    ),
    pytest.param(
        opened(session("A"), session("B", [PS])), ClusterReset((PS, WORKER), ()),
        ["cancel A: AbortedError", *END_A, "cancel B: AbortedError", *END_B,
         "clear all on ps", "clear all on worker"], "",
        id="a reset aborts all sessions, and only then clears all containers",
    ),
    pytest.param(
        opened(), ClusterReset((PS,), ("mine", "yours")), ["clear mine yours on ps"], "",
        id="a reset of some containers",
    ),
    pytest.param(
        opened(session("A"), session("B", [PS])), TaskLost(WORKER, "gone"),
        ["cancel A: AbortedError", *END_A], "B",
        id="a lost task ends the sessions that span it, and no others",
    ),
    pytest.param(
        opened(session("A", [PS])), TaskLost(WORKER, "gone"), [], "A",
        id="a lost task that nobody spans",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("state", "event", "instructions", "left"), TABLE)
def test_events(state, event, instructions, left):
    after, out = handle(state, event)
    assert told(out) == instructions
    assert sorted(after.sessions) == left.split()


@pytest.mark.parametrize(
    ("event", "why"),
    [
        pytest.param(SessionClosed("A"), "the session was closed", id="closed"),
        pytest.param(ClusterReset((PS,), ()), "its server was reset", id="reset"),
        pytest.param(TaskLost(WORKER, "it burned"), f"{WORKER} is gone: it burned", id="lost"),
    ],
)
def test_who_asks_for_a_session_that_is_gone_is_told_why(event, why):
    state, _ = handle(opened(session("A")), event)
    with pytest.raises(AbortedError, match=f"Session A is not found: {why}; open a new one"):
        state.session("A")


def test_a_session_that_never_was():
    with pytest.raises(AbortedError, match="never opened here, or the server restarted"):
        MasterState().session("Z")


def test_steps_are_told_why_they_are_cancelled():
    _, out = handle(opened(session("A")), TaskLost(WORKER, "it burned"))
    [error] = [each.error for each in out if isinstance(each, CancelSteps)]
    assert isinstance(error, AbortedError)
    assert "it burned" in error.message
    _, out = handle(opened(session("A")), SessionClosed("A"))
    assert isinstance(out[0].error, CancelledError)


def test_states_are_values():
    before = opened(session("A"))
    handle(before, SessionClosed("A"))
    handle(before, GraphExtended("A", (Node("n", "NoOp"),), 0))
    assert before == opened(session("A"))
    assert before.session("A").version == 0


def test_a_graph_grows_by_versions():
    state = opened(session("A"))
    for version, name in enumerate(("x", "y", "z")):
        state, out = handle(state, GraphExtended("A", (Node(name, "NoOp"),), version))
        assert out == []
    found = state.session("A")
    assert (list(found.nodes), found.version) == (["x", "y", "z"], 3)
    assert {placed.device for placed in found.placement.values()} == {f"{PS}/device:CPU:0"}


@pytest.mark.parametrize("version", [0, 2])
def test_a_version_that_is_not_the_present_one(version):
    state, _ = handle(opened(session("A")), GraphExtended("A", (Node("x", "NoOp"),), 0))
    with pytest.raises(AbortedError, match=f"version {version}, but session A is at 1"):
        handle(state, GraphExtended("A", (Node("y", "NoOp"),), version))


def test_a_session_that_is_gone_does_not_grow():
    state, _ = handle(opened(session("A")), SessionClosed("A"))
    with pytest.raises(AbortedError, match="was closed"):
        handle(state, GraphExtended("A", (Node("x", "NoOp"),), 0))


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        pytest.param([Node("x", "NoOp")], "'x' already", id="a name of an earlier version"),
        pytest.param([Node("y", "NoOp"), Node("y", "NoOp")], "'y' already", id="a name twice"),
        pytest.param(
            [Node("y", "Identity", (("gone", 0),))], "'y' takes 'gone'", id="an input is missing"
        ),
        pytest.param([Node("y", "NoOp", (), ("gone",))], "gone", id="a dependency is missing"),
    ],
)
def test_nodes_that_do_not_fit(nodes, text):
    grown = extend(session("A"), (Node("x", "NoOp"),))
    with pytest.raises(InvalidArgumentError, match=text):
        extend(grown, tuple(nodes))


def test_later_nodes_are_placed_beside_earlier_ones():
    earlier = Node("x", "NoOp", device="/job:worker")
    later = Node("y", "NoOp", attrs={"_class": [b"loc:@x"]})
    grown = extend(extend(session("A"), (earlier,)), (later,))
    assert grown.placement["y"].device == f"{WORKER}/device:CPU:0"


def test_a_session_plans_steps_on_the_graph_it_has():
    grown = extend(session("A"), (Node("x", "NoOp"), Node("y", "NoOp", device="/job:worker")))
    plan = grown.plan(Signature((), (), ("x", "y")))
    assert [(part.task, [n.name for n in part.nodes]) for part in plan.partitions] == [
        (PS, ["x"]),
        (WORKER, ["y"]),
    ]


def test_what_two_plans_of_a_session_send_has_two_names():
    """A worker that is real TensorFlow keeps the kernel of a name, with whom it sends to."""
    nodes = (Node("x", "NoOp"), Node("y", "NoOp", control=("x",), device="/job:worker"))
    grown = extend(session("A"), nodes)
    plans = [grown.plan(Signature((), (), ("y",))) for _ in "ab"]
    one, other = ({n.name for part in plan.partitions for n in part.nodes} for plan in plans)
    assert one & other == {"x", "y"}
    assert len(one) > 2
