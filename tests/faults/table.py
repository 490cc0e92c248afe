"""All rows of the bench, in the order of RELIABILITY's table."""

from __future__ import annotations

from tests.faults import absent, clients, lost, sessions, sharing, silent, sizes, stopping, training
from tests.faults.row import Row

FILES = (lost, absent, silent, clients, sharing, sessions, stopping, sizes, training)


def _order(row: Row) -> tuple[int, str]:
    number = row.number.split()[0]
    return (int(number), row.number) if number.isdecimal() else (100, row.number)


ROWS = sorted((row for file in FILES for row in file.ROWS), key=_order)
assert len({row.number for row in ROWS}) == len(ROWS), "two rows have one number"
