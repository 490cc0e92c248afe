"""The table of ops is what the registry says, and says why each op that is left out is."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

import tfdist
from tfdist.graph.op_def import REGISTRY
from tfdist.programs.op_table import LEFT_OUT, left_out, rows, since, to_markdown

STORED = Path(str(resources.files(tfdist))) / "ops" / "README.md"


def test_the_stored_table_is_up_to_date():
    assert STORED.read_text() == to_markdown(), (
        "write it again: python -m tfdist.programs.op_table > tfdist/ops/README.md"
    )


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ("Abs", ("CPU, GPU (T: float32, float64, int32, int64, float16)", "yes", "0.12")),
        ("Roll", (None, "yes", "1.6")),
        ("DivNoNan", (None, "yes", "1.11")),
        ("ReaderReadV2", ("CPU", "none", "1.0")),
    ],
)
def test_what_is_told_of_an_op(op, told):
    [row] = [each for each in rows() if each.name == op]
    for found, wanted in zip((row.devices, row.gradient, row.since), told, strict=True):
        assert wanted in (None, found)


def test_every_op_has_a_row_and_none_is_left_out():
    names = [row.name for row in rows()]
    assert names == sorted(name for name in REGISTRY if not name.startswith("_"))
    assert not set(names) & {name for missing in left_out().values() for name in missing}


@pytest.mark.parametrize("pattern", LEFT_OUT)
def test_every_reason_is_one_of_an_op(pattern):
    assert any(re.fullmatch(pattern, name) for name in since() if name not in REGISTRY)
