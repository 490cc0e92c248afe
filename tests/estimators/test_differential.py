"""Columns and estimators give what they give on TensorFlow 1.15.5: values, names, errors."""

import pytest

import tfdist as tf
from tests.estimators import contrib_programs, differential, keras_programs, programs

PROGRAMS = programs.PROGRAMS | contrib_programs.PROGRAMS | keras_programs.PROGRAMS
EXPECTED = differential.expected()


def test_every_program_has_its_expectation():
    assert PROGRAMS.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    found = differential.outcome(tf, PROGRAMS[name])
    assert close(found, EXPECTED[name]), (found, EXPECTED[name])


def close(found, wanted):
    """Say whether two outcomes are the same, but for the last digits of their numbers."""
    if isinstance(wanted, dict):
        same = found.keys() == wanted.keys()
        return same and all(close(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    return found == (pytest.approx(wanted, abs=2e-4) if isinstance(wanted, float) else wanted)
