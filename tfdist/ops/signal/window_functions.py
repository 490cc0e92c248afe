"""Windows: what frames of a signal are multiplied with before they are transformed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.fill import ones

__all__: list[str] = []  # its names are those of tf.signal only


def hann_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return a Hann window: 0.5 - 0.5 * cosine.

    Args:
      window_length: how many samples, an int or a scalar tensor.
      periodic: whether the window of an even length lacks its last sample, as transforms want it.
      dtype: of floats.
      name: of the nodes' scope.

    Raises:
      ValueError: `dtype` is not one of floats.

    Example:
      >>> Session().run(signal.hann_window(4)).round(3)
      array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine(name, "hann_window", (0.5, 0.5), window_length, periodic, dtype)


def hamming_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return a Hamming window: 0.54 - 0.46 * cosine.

    Args:
      window_length: how many samples, an int or a scalar tensor.
      periodic: whether the window of an even length lacks its last sample, as transforms want it.
      dtype: of floats.
      name: of the nodes' scope.

    Raises:
      ValueError: `dtype` is not one of floats.

    Example:
      >>> Session().run(signal.hamming_window(4)).round(3)
      array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return _raised_cosine(name, "hamming_window", (0.54, 0.46), window_length, periodic, dtype)


def _raised_cosine(
    name: str | None,
    default: str,
    heights: tuple[float, float],
    window_length: Any,
    periodic: Any,
    dtype: Any,
) -> Tensor:
    """Return a window: one height minus the other one times a cosine of one period."""
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype.name}")
    with name_scope(name, default, [window_length, periodic]):
        length = convert_to_tensor(window_length, "int32", name="window_length")
        if length.op.type == "Const" and length.op._attrs["value"] == 1:
            return ones([1], dtype)
        is_periodic = raw.Cast(convert_to_tensor(periodic, "bool", name="periodic"), DstT="int32")
        even = raw.Sub(1, raw.FloorMod(length, 2), name="sub")
        whole = raw.AddV2(length, raw.Mul(is_periodic, even, name="mul"), name="add")
        count = raw.Sub(whole, 1, name="sub")
        count = raw.Cast(count, DstT=dtype)
        places = raw.Cast(raw.Range(0, length, 1, name="range"), DstT=dtype)
        turn = convert_to_tensor(np.array(2 * math.pi, dtype.as_numpy_dtype))
        angle = raw.RealDiv(raw.Mul(turn, places, name="mul"), count, name="truediv")
        mean, height = (np.array(each, dtype.as_numpy_dtype) for each in heights)
        window: Tensor = raw.Sub(mean, raw.Mul(height, raw.Cos(angle), name="mul"), name="sub")
        return window
