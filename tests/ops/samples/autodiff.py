"""The samples of the ops of gradients."""

from __future__ import annotations

from .values import ints

SAMPLES = {
    # autodiff/gradient_utils.py
    "BroadcastGradientArgs": (ints([2, 1, 3]), ints([1, 3])),
}  # fmt: skip
