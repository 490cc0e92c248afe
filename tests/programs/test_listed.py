"""Small programs of users give what 1.15.5 gives: values, types, and classes of errors.

`listed.py` runs them; `listed/*_1_15.json` are what 1.15.5 made of `listed/*.txt`.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.programs.listed import expected_file, names, outcome, programs

LISTED = [(name, tried) for name in names() for tried in programs(name)]
PROGRAMS = {name: programs(name) for name in names()}
EXPECTED = {name: json.loads(Path(expected_file(name)).read_text("utf-8")) for name in names()}


def test_what_1_15_says_is_of_these_programs():
    assert [(name, tried) for name in EXPECTED for tried in EXPECTED[name]] == LISTED


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "tried"), LISTED)
def test_a_program_gives_what_it_gives_there(name, tried):
    found = json.loads(json.dumps(outcome(tf, PROGRAMS[name][tried])))
    assert_same(found, EXPECTED[name][tried])


def assert_same(found, expected):
    """Compare two results; numbers are alike in the first four digits."""
    if isinstance(expected, float):
        assert found == pytest.approx(expected, rel=2e-4, abs=1e-6, nan_ok=True)
    elif isinstance(expected, list):
        assert isinstance(found, list)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs)
    elif isinstance(expected, dict):
        assert isinstance(found, dict)
        assert found.keys() == expected.keys(), found
        for key in expected:
            assert_same(found[key], expected[key])
    else:
        assert found == expected
