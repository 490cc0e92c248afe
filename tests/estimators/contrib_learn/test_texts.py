"""Texts as numbers, and decorators, are those of TensorFlow 1.15.5.

`text_calls.py` has the expressions; `expected_texts_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import pytest

from tests.estimators.contrib_learn import text_calls
from tfdist.programs.stand_in import install, uninstall

EXPECTED = json.loads(Path(__file__).with_name("expected_texts_1_15.json").read_text())


@pytest.fixture(scope="module")
def names():
    install()
    yield text_calls.Names()
    uninstall()


def test_every_expression_has_its_expectation():
    assert list(EXPECTED) == text_calls.lines()


@pytest.mark.parametrize("line", EXPECTED)
def test_an_expression_gives_what_it_gives_there(names, line):
    assert text_calls.outcome(names, line) == EXPECTED[line]
