"""All rows of the bench, in the order of RELIABILITY's table."""

from __future__ import annotations

from tests.faults import (
    absent,
    clients,
    greedy,
    hostile,
    lost,
    sessions,
    sharing,
    silent,
    sizes,
    stopping,
    training,
)
from tests.faults.row import Row

# Promises of the table that have no row: where they are tested instead, or why they are not.
LEFT_OUT = {
    24: "kills at each write of a checkpoint: tests/formats/checkpoint/test_leftovers.py",
    25: "disk full: tests/formats/checkpoint/test_checkpoint.py",
    26: "damaged checkpoints: tests/formats/checkpoint/test_checkpoint.py flips bytes of each file",
    31: "sessions of clients that vanished: tests/launch/test_abandoned_sessions.py",
    32: "a queue that nobody empties stops at the limit of memory: tests/launch/test_memory.py",
    33: "strangers: tests/wire/common/test_security.py (users), tests/wire/grpc/test_tls.py",
    34: "no roots for files: a graph may do what the server's user may do (docs/SECURITY.md)",
    36: "wall clock set back: needs a library that lies; waits here read the monotonic clock only",
    38: "orphans: tests/launch/test_process_cluster.py kills programs that started servers",
}

FILES = (
    lost, absent, silent, clients, sharing, sessions, stopping, sizes, hostile, greedy, training
)  # fmt: skip


def _order(row: Row) -> tuple[int, str]:
    number = row.number.split()[0]
    return (int(number), row.number) if number.isdecimal() else (100, row.number)


ROWS = sorted((row for file in FILES for row in file.ROWS), key=_order)
assert set(range(1, 39)) <= {_order(row)[0] for row in ROWS} | LEFT_OUT.keys(), "one is forgotten"
assert len({row.number for row in ROWS}) == len(ROWS), "two rows have one number"
