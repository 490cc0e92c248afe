"""What is promised when servers and clients die: the quick rows of the fault bench.

`bench.py` runs all rows and prints what was measured. Those that are not quick run only there:
the default bounds, which take their time (5, 6, 7, 10); many repetitions (9, 17, 19, 20 cycles,
S, G); rows that the quick ones repeat by gRPC alone (1, 2, 3, 7, 13); a notebook's kernel (16); and
what takes much memory (22, 23).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.bench import line
from tests.faults.row import Row, measure, problems
from tests.faults.table import LEFT_OUT, ROWS

ROOT = Path(__file__).parents[2]

SLACK = 2.0  # seconds on top of what a busy machine adds: tests run beside each other


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.number}: {row.sentence}") for row in ROWS if row.is_quick]
)
def test_the_promise_is_kept(row: Row) -> None:
    measured = measure(row)
    assert not problems(row, measured, SLACK)


def test_what_is_left_out_is_tested_where_it_says() -> None:
    for number, why in LEFT_OUT.items():
        assert line((str(number), why)).endswith(why)
        for path in re.findall(r"(?:tests|docs)/[\w/.]+\w", why):
            assert (ROOT / path).exists(), path
