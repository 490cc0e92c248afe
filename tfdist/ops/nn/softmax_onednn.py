"""Softmax by oneDNN: what softmax.py computes, two to three times as fast, for many classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import are_usual, planned, steps, suits

_FEWEST_CLASSES = 33  # fewer are summed faster in the order that softmax.py brings them in
_FEWEST_ELEMENTS = 30_000  # for fewer, asking oneDNN takes longer than computing
_FEWEST_FOR_THREADS = 100_000  # for fewer, handing a part to a thread does
_INFERENCE, _SOFTMAX = 96, 0x30000  # oneDNN's numbers: a kind of forward primitive, an algorithm


class _Plan(NamedTuple):
    """What computes, and how the rows lie in memory."""

    compute: Primitive
    rows: Layout


def softmax(logits: Any) -> Any:
    """Return exp(logits) divided by their sum along the last axis; None if it is not for oneDNN."""
    if logits.size < _FEWEST_ELEMENTS or logits.shape[-1] < _FEWEST_CLASSES or not suits((logits,)):
        return None
    rows = np.ascontiguousarray(logits)
    if not are_usual(rows.reshape(-1)):  # oneDNN looks past what is no number
        return None
    plan = _plan(rows.size // rows.shape[-1], rows.shape[-1])
    made = np.empty(rows.shape, np.float32)
    plan.compute.run((onednn.SOURCE, plan.rows, rows), (onednn.OUTPUT, plan.rows, made))
    return made


def log_softmax(logits: Any) -> Any:
    """Return the logarithm of that, or None; oneDNN's own is less exact."""
    if logits.size < _FEWEST_ELEMENTS:
        return None
    rows = logits.reshape(-1, logits.shape[-1])
    found = softmax_and_greatest(rows)
    if found is None:
        return None
    _, greatest, logarithms = found
    made = rows - greatest[:, None]
    made += logarithms[:, None]
    return made.reshape(logits.shape)


def softmax_and_greatest(logits: Any) -> tuple[Any, Any, Any] | None:
    """Return what the logarithm and both cross entropies take, or None.

    Args:
      logits: float32 [rows, classes].

    Returns:
      softmax of the logits [rows, classes]; the greatest logit of each row, and the logarithm of
      its softmax, which is never that of 0, [rows] each.
    """
    made = softmax(logits)
    if made is None:
        return None
    greatest = np.arange(len(logits)), logits.argmax(1)
    return made, logits[greatest], np.log(made[greatest])


@planned
def _plan(count: int, classes: int) -> _Plan:
    rows = onednn.strided((count, classes), steps((count, classes)))
    most_threads = None if count * classes >= _FEWEST_FOR_THREADS else 1
    along = 1
    arguments = _INFERENCE, _SOFTMAX, rows, rows, along
    return _Plan(onednn.primitive("softmax_forward", *arguments, most_threads=most_threads), rows)
