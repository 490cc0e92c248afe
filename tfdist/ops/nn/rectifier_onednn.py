"""Rectified linear units by oneDNN: large arrays of float32 in one pass, on all processors.

Its maximum gives the second of two numbers where one is NaN, and "greater" is true there, "less" is
not. Hence the order of what is done below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfdist.base import onednn
from tfdist.base.onednn import Layout, Primitive
from tfdist.ops.convolution.onednn_windows import planned, suits

_FEWEST = 500_000  # for fewer, asking oneDNN takes longer than computing
_FEWEST_TO_FEATURES = 200_000
_MULTIPLY, _MAXIMUM, _IS_LESS = 0x1FFF1, 0x1FFF2, 0x1FFF9  # numbers of its algorithms
_ZERO, _MINUS_ONE, _LEAST = (np.full(1, value, np.float32) for value in (0, -1, -np.inf))


class _Plan(NamedTuple):
    """What computes, and how arrays and single numbers lie in memory."""

    compute: Primitive
    array: Layout
    number: Layout


def rectified(features: Any, out: Any = None) -> Any:
    """Return the features that are positive and 0 for others, None if that is not for oneDNN."""
    plan = _rectified(features.size) if _are_large((features,), _FEWEST) else None
    if plan is None:
        return None
    made = np.empty_like(features) if out is None else out
    plan.compute.run(
        (onednn.SOURCE, plan.array, features),
        (onednn.OTHER_SOURCE, plan.number, _LEAST),
        (onednn.POST_OP_SOURCES[0], plan.array, features),
        (onednn.OUTPUT, plan.array, made),
    )
    return made


def to_features(gradients: Any, features: Any, out: Any = None) -> Any:
    """Return gradients where the feature is positive, times 0 elsewhere; None if not for oneDNN."""
    are_large = _are_large((gradients, features), _FEWEST_TO_FEATURES)
    plan = _to_features(features.size) if are_large else None
    if plan is None:
        return None
    made = np.empty_like(gradients) if out is None else out
    plan.compute.run(
        (onednn.SOURCE, plan.array, features),
        (onednn.OTHER_SOURCE, plan.number, _MINUS_ONE),
        (onednn.POST_OP_SOURCES[0], plan.number, _ZERO),
        (onednn.POST_OP_SOURCES[1], plan.array, gradients),
        (onednn.OUTPUT, plan.array, made),
    )
    return made


def _are_large(arrays: tuple[Any, ...], fewest: int) -> bool:
    first = arrays[0]
    return (
        first.size >= fewest
        and suits(arrays)
        and all(each.shape == first.shape and each.flags.c_contiguous for each in arrays)
    )


@planned
def _rectified(size: int) -> _Plan:
    """Return what compares so that all are 0, and takes the greater one of 0 and the feature."""
    array, number = _layouts(size)
    post_ops = ((_MAXIMUM, array),)
    compute = onednn.primitive("binary", _IS_LESS, array, number, array, post_ops=post_ops)
    return _Plan(compute, array, number)


@planned
def _to_features(size: int) -> _Plan:
    """Return what multiplies gradients by whether the feature, times -1, is less than 0."""
    array, number = _layouts(size)
    post_ops = (_IS_LESS, number), (_MULTIPLY, array)
    compute = onednn.primitive("binary", _MULTIPLY, array, number, array, post_ops=post_ops)
    return _Plan(compute, array, number)


def _layouts(size: int) -> tuple[Layout, Layout]:
    return onednn.strided((size,), (1,)), onednn.strided((1,), (1,))
