"""Networks of tf.keras are what TensorFlow 1.15.5 makes of the same programs."""

import importlib
import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.keras_impl.comparing import same
from tests.keras_impl.engine.network_cases import CASES, answers
from tfdist.programs import stand_in

EXPECTED = json.loads((Path(__file__).parent / "expected_networks_1_15.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_network_is_tensorflows(name):
    lines, expressions = CASES[name]
    found = json.loads(json.dumps(answers(tf, lines, expressions)))
    for expression, wanted, value in zip(expressions, EXPECTED[name], found, strict=True):
        assert same(wanted, value, atol=2e-4), (
            f"{expression}: {value}, but TensorFlow says {wanted}"
        )


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
