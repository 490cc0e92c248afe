"""Mutated messages, some of each seed: `python -m tests.fuzz.messages` plays any number."""

import gc
import threading

import pytest

from tests.fuzz.messages import TRANSPORTS, Fuzzer, server_here, server_there
from tests.wire.calls_at import calls_at

CASES = 250  # of each transport
SEED = 2026


@pytest.mark.timeout(300)
def test_malformed_messages_are_answered_and_nothing_is_left_behind():
    """By gRPC, to a server whose steps can be seen."""
    with server_here() as server, calls_at(server.address) as asker:
        fuzzer = Fuzzer(asker, SEED)
        threads = threading.active_count()
        assert not [str(failure) for case in range(CASES) if (failure := fuzzer.failure(case))]
        assert server.task.wait_idle(20.0), [str(step) for step in server.task.master.steps()]
        gc.collect()
        assert threading.active_count() <= threads + _POOL
        assert fuzzer.answers["InvalidArgumentError"] > CASES / 10


_POOL = 33  # threads that a server keeps for steps, and the one that ends calls


@pytest.mark.timeout(300)
def test_a_process_survives_malformed_messages():
    """By the local path, to a server in a process of its own."""
    with server_there() as address, calls_at(address, TRANSPORTS["local"]) as asker:
        fuzzer = Fuzzer(asker, SEED + 1)
        assert not [str(failure) for case in range(CASES) if (failure := fuzzer.failure(case))]
