"""What all services do: every method is there, and answers to every kind of nonsense."""

import pytest

import tfdist as tf
from tests.wire import graph_cases, master_cases, worker_cases
from tests.wire.calls_at import MASTER_METHODS
from tests.wire.graph_cases import ONE
from tfdist.protos import pb
from tfdist.wire.service_methods import HEALTH, INSPECTION, MASTER, WORKER, RecentRequests

NAMES = {
    **dict.fromkeys(MASTER_METHODS, MASTER),
    **dict.fromkeys(
        ["GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "RunGraph",
         "DeregisterGraph", "CleanupGraph", "CleanupAll", "RecvTensor", "Logging"],
        WORKER,
    ),
    **dict.fromkeys(["Hello", "Placement", "Why"], INSPECTION),
    "Check": HEALTH,
}  # fmt: skip
PATHS = [service + name for name, service in NAMES.items()]
ALL_CASES = {**master_cases.CASES, **worker_cases.CASES}


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.__name__)
def test_what_a_server_answers(asker, case):
    expected = ALL_CASES[case]
    if expected is None:
        case(asker)
        return
    with pytest.raises(expected) as raised:
        case(asker)
    assert type(raised.value) is expected
    assert len(raised.value.message) > 10
    asker.run(asker.session(ONE), fetch=["one:0"])  # and the server goes on


NONSENSE = {
    "bytes without meaning": b"\xff" * 20,
    "a message that breaks off": b"\x0a\x7fabc",
    "a length of 4 GB": b"\x0a\xff\xff\xff\xff\x0f",
    "groups in groups": b"\x0b" * 2000,
}


@pytest.mark.parametrize("path", sorted(PATHS))
def test_nonsense_is_refused_and_the_server_goes_on(asker, path):
    for message in NONSENSE.values():
        with pytest.raises(tf.errors.InvalidArgumentError):
            asker.caller.call(path, [message], 20.0)
    assert asker.ask(pb.HealthCheckRequest()).status == pb.HealthCheckResponse.SERVING


@pytest.mark.parametrize("name", ["RecvBuf", "CompleteGroup", "Tracing", "MarkRecvFinished", ""])
def test_what_is_not_there_is_unimplemented(asker, name):
    with pytest.raises(tf.errors.UnimplementedError):
        asker.caller.call(WORKER + name, [b""], 20.0)


def test_a_request_is_known_again():
    requests = RecentRequests()
    requests.check(5, "RunStep")
    requests.check(-5, "RunStep")
    for number in (5, -5):
        with pytest.raises(tf.errors.AbortedError, match=rf"RunStep .*twice \(request {number}\)"):
            requests.check(number, "RunStep")


def test_request_0_is_every_time_a_new_one():
    requests = RecentRequests()
    for _ in range(3):
        requests.check(0, "RunStep")


def test_old_requests_are_forgotten_in_the_end():
    requests = RecentRequests()
    for number in range(1, 70_000):
        requests.check(number, "RunStep")
    requests.check(1, "RunStep")
    with pytest.raises(tf.errors.AbortedError):
        requests.check(69_999, "RunStep")


def test_one_number_may_be_a_step_and_a_graph(asker):
    """A master numbers its own requests, and does not know those of its clients."""
    task = worker_cases.Task(asker)
    handle, session = task.register(graph_cases.constant("c", 1.0)), asker.session(ONE)
    asker.ask(task.running(handle, request_id=77))
    asker.run(session, fetch=["one:0"], request_id=77)
