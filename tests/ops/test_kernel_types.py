"""An op takes every type here that TensorFlow's kernel of it takes on a CPU."""

import json
from pathlib import Path

import pytest

from tests.ops.test_every_op import REGISTRY

TYPES = json.loads((Path(__file__).parent / "kernel_types_1_15.json").read_text())
ROWS = [(each, names) for names, attrs in TYPES.items() for each in attrs.split()]
HERE = [row for row in ROWS if row[0].partition(".")[0] in REGISTRY]

# Types that nobody can have values of, or sums.
WITHOUT = {
    "Conj.T": {"variant"},
    **{f"{kind}Accumulator{what}Gradient.dtype": {"qint32", "qint8", "quint8"}
       for kind in ("", "Resource", "Sparse") for what in ("Apply", "Take")},
}  # fmt: skip


@pytest.mark.parametrize(("place", "names"), HERE, ids=[place for place, _ in HERE])
def test_types_of_a_kernel_are_taken(place, names):
    op, attr = place.split(".")
    allowed = REGISTRY[op].signature.attrs[attr].allowed
    missing = set(names.split()) - {each.name for each in allowed} - WITHOUT.get(place, set())
    assert not missing or not allowed


def test_the_table_is_of_most_ops():
    assert len(HERE) > 500
    assert {place for place, _ in HERE} >= set(WITHOUT)
