"""The nodes of layers, losses and their neighbours, one by one, as 1.15.5 makes them.

`node_programs.py` has the programs; `expected_nodes_1_15.json` is what 1.15.5 made.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.models.node_programs import nodes, programs

EXPECTED = json.loads(Path(__file__).with_name("expected_nodes_1_15.json").read_text())


@pytest.mark.parametrize("program", programs())
def test_a_program_makes_tensorflows_nodes(program):
    expected, made = EXPECTED[program], nodes(tf, program)
    if any(node.startswith("Switch ") for node in expected):  # these come before their takers here
        expected, made = sorted(expected), sorted(made)
    assert made == expected
