"""A graph exports what real TensorFlow 1.15 exports, node for node."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

import tfdist as tf
from tests.graph import programs

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")  # a command that runs a Python with it


@cache
def expected():
    """Return the lines of every program: from the real one if it is there, else as stored."""
    return programs.real_lines(REAL) if REAL else json.loads(Path(programs.EXPECTED).read_text())


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_graph_exports_as_in_tensorflow(name):
    assert programs.lines(tf, programs.PROGRAMS[name]) == expected()[name]


def test_every_program_has_an_expectation():
    stored = json.loads(Path(programs.EXPECTED).read_text())
    assert list(stored) == list(programs.PROGRAMS)


def test_an_attribute_that_differs_shows_in_the_lines():
    def one(tf):
        tf.constant(1.0)

    def two(tf):
        tf.constant(2.0)

    assert programs.lines(tf, one) != programs.lines(tf, two)
