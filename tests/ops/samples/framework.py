"""The samples of ops that belong to no namespace, and of old ones."""

from __future__ import annotations

import numpy as np

from .values import floats

F23 = floats(2, 3)
F234 = floats(2, 3, 4)

SAMPLES = {
    # framework/timestamp.py
    "Fact": (),
    "Timestamp": (),
    # framework/rewritten_ops.py
    "Snapshot": (F23,),
    # framework/legacy_ops.py
    "Reverse": [(F23, np.array([True, False])), (F234, np.array([False, True, True]))],
}  # fmt: skip
