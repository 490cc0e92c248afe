"""Networks of tf.keras are what TensorFlow 1.15.5 makes of the same programs."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.networks.network_cases import CASES, answers
from tfdist.programs import stand_in

EXPECTED = json.loads((Path(__file__).parent / "expected_networks_1_15.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_network_is_tensorflows(name):
    lines, expressions = CASES[name]
    found = json.loads(json.dumps(answers(tf, lines, expressions)))
    for expression, wanted, value in zip(expressions, EXPECTED[name], found, strict=True):
        assert same(wanted, value), f"{expression}: {value}, but TensorFlow says {wanted}"


def same(wanted, found):
    """Return whether two values are equal, floats nearly so."""
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(same(wanted[k], found[k]) for k in wanted)
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(same, wanted, found))
    if isinstance(wanted, float) and isinstance(found, float | int):
        return bool(np.isclose(wanted, found, atol=2e-4))
    return wanted == found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tensorflow.keras.layers", "Dense"),
        ("tensorflow.keras.models", "Sequential"),
        ("tensorflow.keras", "Input"),
        ("tensorflow.python.keras", "backend"),
        ("tensorflow.python.keras.layers.core", "Dense"),
        ("tensorflow.python.keras.engine.base_layer", "Layer"),
        ("tensorflow.python.keras.engine.training", "Model"),
    ],
)
def test_programs_import_from_everywhere(path, name):
    """TensorFlow's inner paths lead to the public namespaces."""
    stand_in.install()
    try:
        assert hasattr(importlib.import_module(path), name)
    finally:
        stand_in.uninstall()
