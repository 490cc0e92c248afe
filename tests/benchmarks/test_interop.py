"""The benchmark of clients and servers of several kinds runs with what there is."""

import subprocess
import sys

import interop
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("row", interop.ROWS)
def test_row_runs(row):
    command = [sys.executable, interop.__file__, "--rounds", "1", "--rows", row]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    header, line = told.stdout.strip().splitlines()
    assert header.startswith(row)
    assert line.startswith("tfdist -> tfdist")
    assert "failed" not in line


def test_ratios_are_to_tensorflow_with_itself():
    taken = {("tfdist", "tfdist"): [1.0], ("tfdist", "T"): [3.0], ("T", "T"): [2.0, 4.0, 9.0]}
    assert interop.shown(("tfdist", "tfdist"), taken, min) == ("1,000 ms", "0.50")
    assert interop.shown(("tfdist", "T"), taken, max) == ("3,000 ms", "0.33")
    assert interop.shown(("T", "T"), {("T", "T"): []}, min) == ("failed", "")
