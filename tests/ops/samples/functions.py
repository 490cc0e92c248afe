"""The samples of what calls of functions need."""

from __future__ import annotations

import numpy as np

from .values import floats, strings

F23, ONE = floats(2, 3), np.float32(1.5)

SAMPLES = {
    # functions/calls.py
    "ToBool": [(ONE,), (F23,), (strings("a"),)],
    "FakeParam": ({"dtype": "float32", "shape": [2, 3]}),
}
