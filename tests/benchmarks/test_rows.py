"""The benchmarks are whole: each row runs once, nothing is timed."""

import subprocess
import sys

import pytest

import tfdist
from tests.benchmarks import rows


@pytest.mark.parametrize("name", rows.PROGRAMS)
def test_row_runs(name):
    timed = rows.PROGRAMS[name](tfdist)
    try:
        timed.step(*(() if timed.prepare is None else [timed.prepare()]))
    finally:
        timed.close()


def test_comparison_prints_a_table():
    script = rows.__file__.replace("rows.py", "compare.py")
    command = [sys.executable, script, "--rounds", "1", "--rows", "local step", "import"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    header, step, imports, beside = printed.splitlines()
    assert header.split()[:2] == ["row", "tfdist"]
    assert step.startswith("local step")
    assert step.split()[-1] == "ms"
    assert imports.startswith("import")
    assert beside.startswith("import tfdist takes")
    assert "times as long" in beside
