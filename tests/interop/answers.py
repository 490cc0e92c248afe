"""What the programs give on TensorFlow 1.15.5 alone, stored, so that comparing does not need it.

TFDIST_TENSORFLOW=/path/of/1.15/bin/python python -m tests.interop.answers
"""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path

EXPECTED = Path(__file__).with_name("expected_1_15.json")


@functools.cache
def expected() -> dict[str, object]:
    """Return what each program gives."""
    return json.loads(EXPECTED.read_text())


def assert_same(value: object, wanted: object, path: str = "value") -> None:
    """Check that two answers are equal, floats nearly."""
    if isinstance(wanted, dict):
        assert isinstance(value, dict), f"{path}: {value}"
        assert value.keys() == wanted.keys(), path
        for key in wanted:
            assert_same(value[key], wanted[key], f"{path}[{key!r}]")
    elif isinstance(wanted, list):
        assert isinstance(value, list), f"{path}: {value}"
        assert len(value) == len(wanted), f"{path}: {value}"
        for number, (one, other) in enumerate(zip(value, wanted, strict=True)):
            assert_same(one, other, f"{path}[{number}]")
    elif isinstance(wanted, float):
        assert math.isclose(value, wanted, rel_tol=1e-4, abs_tol=1e-6), f"{path}: {value}"
    else:
        assert value == wanted, path


def record() -> None:
    """Store what real TensorFlow gives."""
    from tests.interop.directions import REFERENCE
    from tests.interop.interpreters import outcomes

    found = dict(outcomes(REFERENCE))
    for name, outcome in found.items():
        assert "error" not in outcome, (name, outcome)
    values = {name: outcome["value"] for name, outcome in found.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    record()
