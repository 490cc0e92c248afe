"""Malformed streams, some of a seed: `python -m tests.fuzz.streams` plays any number."""

import sys

import pytest

from tests.fuzz.streams import open_files, streams
from tests.runtime.blocking import until

CASES = 300
SEED = 2026


@pytest.mark.skipif(sys.platform != "linux", reason="this system has no memfd")
def test_malformed_streams_hurt_nobody_else_and_leave_nothing():
    with streams(SEED) as sender:
        assert not sender.failure(0)
        before = open_files()
        assert not [told for case in range(CASES) if (told := sender.failure(case))]
        until(lambda: open_files() <= before)
