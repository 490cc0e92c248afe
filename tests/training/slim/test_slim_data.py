"""Decoders, readers, providers and analyses of tf.contrib.slim give what they give on 1.15.5.

`slim_data_programs.py` has the programs; `expected_slim_data_1_15.json` is what 1.15.5 said.
"""

import importlib
import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.training.slim import slim_data_programs
from tfdist.programs.stand_in import install, uninstall

EXPECTED = json.loads(Path(__file__).with_name("expected_slim_data_1_15.json").read_text())


@pytest.fixture(scope="module")
def programs():
    install()
    yield slim_data_programs.programs(importlib.import_module("tensorflow"))
    uninstall()


def test_every_program_has_its_expectation(programs):
    assert programs.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_program(programs, name):
    found = json.loads(json.dumps(slim_data_programs.outcome(*programs[name])))
    wanted = EXPECTED[name]
    if isinstance(wanted, dict) and "error" in wanted:
        assert found["error"][0] == wanted["error"][0], found
    else:
        assert found == wanted


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda slim: slim.tfexample_decoder.Tensor("a", "b", [3]), "both shape_keys and shape"),
        (lambda slim: slim.tfexample_decoder.BoundingBox(["a"]), "expects 4 keys but got 1"),
        (lambda slim: slim.parallel_reader.get_data_files("/nowhere*"), "No data files found in"),
        (lambda slim: slim.dataset.Dataset([], None, None, 1, {}, a=2).b, "made with a, data_sou"),
    ],
    ids=["two shapes", "a box of one side", "no files", "an attribute that is not there"],
)
def test_errors_say_what_is_wrong(build, text):
    with pytest.raises((ValueError, AttributeError), match=text):
        build(tf.contrib.slim)
