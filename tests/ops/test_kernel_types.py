"""An op takes every type here that TensorFlow's kernel of it takes on a CPU."""

import json
from pathlib import Path

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


def missing(place: str, names: str) -> set[str]:
    """Return the types of TensorFlow's kernels that ours do not take."""
    op, attr = place.split(".")
    allowed = {each.name for each in REGISTRY[op].signature.attrs[attr].allowed}
    return set(names.split()) - allowed - WITHOUT.get(place, set()) if allowed else set()


def test_types_of_kernels_are_taken():
    assert {place: found for place, names in HERE if (found := missing(place, names))} == {}


def test_the_table_is_of_most_ops():
    assert len(HERE) > 500
    assert {place for place, _ in HERE} >= set(WITHOUT)
