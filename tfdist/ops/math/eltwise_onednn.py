"""Exponentials, sigmoids and the like of large arrays by oneDNN, on all processors.

Where a processor has no vectors of 512 bits, NumPy takes four to seven times as long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import are_usual, planned, suits

FEWEST = 1 << 15  # for fewer, asking oneDNN takes longer than computing
_INFERENCE, _ELU, _LOGISTIC, _EXP = 96, 0x22, 0x29, 0x2A  # numbers: of a kind, of algorithms


class _Plan(NamedTuple):
    """What computes, and how arrays lie in memory."""

    compute: Primitive
    array: Layout


def elu(x: Any, out: Any = None) -> Any:
    """Return x where it is positive and exp(x) - 1 elsewhere, None if that is not for oneDNN."""
    return _computed(_ELU, x, out) if _suits(x) else None


def sigmoid(x: Any, out: Any = None) -> Any:
    """Return 1 / (1 + exp(-x)), or None."""
    return _computed(_LOGISTIC, x, out) if _suits(x) else None


def exp(x: Any, out: Any = None) -> Any:
    """Return exp(x), or None: of what is no number, oneDNN's is infinite."""
    return _computed(_EXP, x, out) if _suits(x) and are_usual(x.reshape(-1)) else None


def _suits(x: Any) -> bool:
    return x.size >= FEWEST and suits((x,)) and x.flags.c_contiguous


def _computed(algorithm: int, x: Any, out: Any) -> Any:
    plan = _plan(algorithm, x.size)
    if plan is None:
        return None
    made = np.empty_like(x) if out is None else out
    plan.compute.run((onednn.SOURCE, plan.array, x), (onednn.OUTPUT, plan.array, made))
    return made


@planned
def _plan(algorithm: int, size: int) -> _Plan:
    array = onednn.strided((size,), (1,))
    scale, shift = 1.0, 0.0
    arguments = _INFERENCE, algorithm, array, array, scale, shift
    return _Plan(onednn.primitive("eltwise_forward", *arguments), array)
