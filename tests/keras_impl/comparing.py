"""Comparing stored answers of TensorFlow with ours."""

import numpy as np


def same(wanted, found, **bounds):
    """Return whether two values are equal, floats as nearly as `bounds` of np.isclose say."""
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(
            same(wanted[key], found[key], **bounds) for key in wanted
        )
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(
            same(*pair, **bounds) for pair in zip(wanted, found, strict=True)
        )
    if isinstance(wanted, float) and isinstance(found, float | int):
        return bool(np.isclose(wanted, found, **bounds))
    return wanted == found
