"""What the calls of `flow_calls.py` give in real TensorFlow, and how that is compared."""

import json
import os
from functools import cache

import numpy as np

import tfdist as tf
from tests.ops.control_flow.flow_calls import RESULTS_THERE, real, result

REAL = os.environ.get("TFDIST_REAL_TENSORFLOW", "")


@cache
def there():
    """Return what real TensorFlow says: of the command in TFDIST_REAL_TENSORFLOW, or 1.15.5."""
    if REAL:
        return real(REAL)["results"]
    with open(RESULTS_THERE, encoding="utf-8") as file:
        return json.load(file)


def check_result(source):
    """Assert that a call has the structure, static shapes, nodes and values it has there."""
    found, wanted = json.loads(json.dumps(result(tf, source))), there()[source]
    assert found["form"] == wanted["form"]
    assert found.get("nodes", "").split(" | ") == wanted.get("nodes", "").split(" | ")
    compare_values(found["values"], wanted["values"])


def compare_values(found, wanted):
    kind, parts = wanted
    if not isinstance(kind, str):  # a leaf: shape and elements
        assert found[0] == wanted[0]
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-6)
        return
    assert (found[0], len(found[1])) == (kind, len(parts))
    for ours, theirs in zip(found[1], parts, strict=True):
        if kind == "dict":
            assert ours[0] == theirs[0]
            ours, theirs = ours[1], theirs[1]
        compare_values(ours, theirs)
