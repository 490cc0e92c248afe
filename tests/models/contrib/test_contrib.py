"""What remains of tf.contrib.framework and layers, and renormalized batches, are 1.15.5's.

`contrib_programs.py` has the expressions; `expected_contrib_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.models.contrib import contrib_programs as programs

EXPECTED = json.loads(Path(__file__).with_name("expected_contrib_1_15.json").read_text())
LINES = [
    (table, line)
    for table, text in programs.TABLES.items()
    for line in programs.programs.lines(text)
]


def test_expected_values_are_those_of_the_programs():
    assert [(table, line) for table in EXPECTED for line in EXPECTED[table]] == LINES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("table", "line"), LINES)
def test_an_expression_gives_what_it_gives_there(table, line):
    outcome = json.loads(json.dumps(programs.outcome(tf, line)))
    expected = dict(EXPECTED[table][line])
    if "error" in expected:
        assert outcome.get("error") == expected["error"], outcome
        return
    found = zip(outcome.pop("values", []), expected.pop("values", []), strict=True)
    for ours, theirs in found:
        assert ours == pytest.approx(theirs, rel=2e-5, abs=2e-6, nan_ok=True)
    assert outcome == expected
