"""The samples of what checks and prints values."""

from __future__ import annotations

import numpy as np

from .values import floats, ints, strings

F23 = floats(2, 3)
S3 = strings("ab", "cde", "f")

SAMPLES = {
    # checks/print_assert.py
    "Print": [(F23, [ints([1, 2]), S3], {"message": "m"}), (F23, [], {"first_n": 1})],
    "Assert": (np.bool_(True), [ints([1, 2]), S3]),
    "CheckNumerics": (F23, {"message": "m"}),
}
