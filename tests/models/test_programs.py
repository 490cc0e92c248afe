"""Losses, metrics and layers are those of TensorFlow 1.15.5: names, collections, values, errors.

`programs.py` has the expressions; `expected_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.models import programs

EXPECTED = json.loads(Path(__file__).with_name("expected_1_15.json").read_text())


@pytest.mark.parametrize("table", programs.TABLES)
def test_expected_values_are_those_of_the_programs(table):
    assert list(EXPECTED[table]) == programs.lines(programs.TABLES[table])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("table", "line"),
    [(table, line) for table, text in programs.TABLES.items() for line in programs.lines(text)],
)
def test_an_expression_gives_what_it_gives_there(table, line):
    outcome = json.loads(json.dumps(programs.outcome(tf, line)))
    expected = EXPECTED[table][line]
    if "error" in expected:
        assert outcome.get("error") == expected["error"], outcome
    else:
        assert outcome == expected
