"""Mutated messages, some of each seed: `python -m tests.fuzz.messages` plays any number."""

import gc
import threading

import pytest

from tests.fuzz.messages import TRANSPORTS, Fuzzer, server_here, server_there
from tests.wire.calls_at import calls_at

BY_GRPC, BY_LOCAL_PATH = 400, 800  # cases; what is answered hardly depends on the transport
SEED = 2026


@pytest.mark.timeout(300)
def test_malformed_messages_are_answered_and_nothing_is_left_behind():
    """By gRPC, to a server whose steps can be seen."""
    with server_here() as server, calls_at(server.address) as asker:
        fuzzer = Fuzzer(asker, SEED)
        threads = threading.active_count()
        assert not failures(fuzzer, BY_GRPC)
        assert server.task.wait_idle(20.0), [str(step) for step in server.task.master.steps()]
        gc.collect()
        assert threading.active_count() <= threads + _POOL
        assert fuzzer.answers["InvalidArgumentError"] > BY_GRPC / 10


def failures(fuzzer, cases):
    """Return what is wrong with the answers to so many cases; all sessions are closed then."""
    found = [str(failure) for case in range(cases) if (failure := fuzzer.failure(case))]
    fuzzer.close()
    return found


_POOL = 33  # threads that a server keeps for steps, and the one that ends calls


@pytest.mark.timeout(300)
def test_a_process_survives_malformed_messages():
    """By the local path, to a server in a process of its own."""
    with server_there() as server, calls_at(server.address, TRANSPORTS["local"]) as asker:
        assert not failures(Fuzzer(asker, SEED + 1), BY_LOCAL_PATH)
