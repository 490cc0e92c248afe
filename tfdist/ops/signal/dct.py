"""Cosine transforms of the last axis, made of Fourier transforms.

Source: Makhoul 1980, "A fast cosine transform in one and two dimensions"; TF 1.15 API
documentation, tf.signal.dct.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.array.shape import shape
from tfdist.ops.signal.rfft import irfft, rfft

__all__: list[str] = []  # its names are those of tf.signal only


def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the discrete cosine transform of the last axis.

    Args:
      input: float32 [..., samples].
      type: 1, 2 or 3.
      n: how many samples count; zeros are added if there are fewer. None: all.
      axis: -1.
      norm: None, or "ortho" for an orthogonal transform (types 2 and 3).
      name: of the nodes' scope.

    Raises:
      NotImplementedError: another axis.
      ValueError: another type or norm, or a type 1 transform of fewer than two samples.

    Example:
      >>> Session().run(signal.dct([1.0, 1.0])).round(3)
      array([4., 0.], dtype=float32)
    """
    _check(type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        samples: Any = _of_length(convert_to_tensor(input, "float32"), n)
        known = samples.plain_shape[-1] if samples.plain_shape else None
        if type == 1:
            return _first(samples, known, norm)
        count = _last_size(samples) if known is None else known
        size = raw.Cast(count, DstT=dtypes.float32)
        return (_second if type == 2 else _third)(samples, count, size, norm)


def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the inverse discrete cosine transform of the last axis, but for a factor.

    With norm "ortho" it is the inverse of `dct` of the same type; without it is 2 * samples times
    that (2 * (samples - 1) for type 1).

    Args:
      input: float32 [..., samples].
      type: 1, 2 or 3.
      n: None.
      axis: -1.
      norm: None, or "ortho" (types 2 and 3).
      name: of the nodes' scope.

    Raises:
      NotImplementedError: another axis.
      ValueError: another type or norm.

    Example:
      >>> Session().run(signal.idct([4.0, 0.0])).round(3)
      array([4., 4.], dtype=float32)
    """
    _check(type, n, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2}[type], n, axis, norm, name)


def _check(type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _last_size(samples: Tensor) -> Any:
    sizes: Any = shape(samples)
    return sizes[-1]


def _of_length(samples: Any, n: int | None) -> Any:
    """Return the first `n` samples, with zeros behind them if there are fewer."""
    sizes = samples.plain_shape
    if n is None or (sizes is not None and sizes[-1] == n):
        return samples
    if sizes is None:
        raise ValueError("n needs an input of known rank")
    if sizes[-1] is not None and n < sizes[-1]:
        return samples[..., :n]
    missing = raw.Maximum(n - _last_size(samples), 0) if sizes[-1] is None else n - sizes[-1]
    front = np.zeros(len(sizes) - 1, np.int32)
    behind = raw.ConcatV2([front, raw.Pack([missing], axis=0)], 0)
    padded = raw.Pad(samples, raw.Pack([np.zeros(len(sizes), np.int32), behind], axis=1))
    return padded[..., :n]


def _first(samples: Any, known: int | None, norm: str | None) -> Tensor:
    """Return the transform of type 1: that of the samples and their mirror."""
    if known is not None and known < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    mirrored = raw.ConcatV2([samples, samples[..., -2:0:-1]], -1, name="concat")
    real: Tensor = raw.Real(rfft(mirrored), Tout="float32")
    return real


def _turning(size: Tensor, count: Any, sign: float) -> Tensor:
    """Return 2 * exp(i * sign * pi * k / (2 * count)) for each k."""
    places = raw.Cast(raw.Range(0, count, 1), DstT=dtypes.float32)
    angles = raw.RealDiv(raw.Mul(raw.Mul(places, sign * math.pi), 0.5), size, name="truediv")
    unit = raw.Exp(raw.Complex(raw.ZerosLike(angles), angles, Tout="complex64"))
    turning: Tensor = raw.Mul(np.complex64(2), unit, name="mul")
    return turning


def _weights(first: Tensor, others: Tensor, count: Any) -> Tensor:
    """Return one factor for the first element, and another one for all others."""
    is_first = raw.Equal(raw.Range(0, count, 1), 0)
    weights: Tensor = raw.SelectV2(is_first, first, others)
    return weights


def _second(samples: Tensor, count: Any, size: Tensor, norm: str | None) -> Tensor:
    spectrum: Any = rfft(samples, fft_length=_twice(count))
    turned = raw.Mul(spectrum[..., :count], _turning(size, count, -1), name="mul")
    transform: Tensor = raw.Real(turned, Tout="float32")
    if norm is None:
        return transform
    first = raw.Mul(0.5, raw.Rsqrt(size), name="mul")
    scaled: Tensor = raw.Mul(transform, _weights(first, raw.Mul(first, math.sqrt(2.0)), count))
    return scaled


def _third(samples: Tensor, count: Any, size: Tensor, norm: str | None) -> Tensor:
    if norm is None:
        samples = raw.Mul(samples, size, name="mul")
    else:
        first = raw.Sqrt(size)
        samples = raw.Mul(samples, _weights(first, raw.Mul(first, math.sqrt(0.5)), count))
    whole = raw.Complex(samples, raw.ZerosLike(samples), Tout="complex64")
    turned = raw.Mul(_turning(size, count, 1), whole, name="mul")
    back: Any = irfft(turned, fft_length=_twice(count))
    return back[..., :count]  # type: ignore[no-any-return]


def _twice(count: Any) -> Any:
    return [2 * count] if isinstance(count, int) else raw.Pack([raw.Mul(2, count)], axis=0)
