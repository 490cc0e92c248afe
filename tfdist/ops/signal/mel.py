"""Spectra as ears hear them: mel bands, and the coefficients made of their logarithms.

Source: Davis and Mermelstein 1980; the scale is that of HTK, 1127 * log(1 + hertz / 700).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.signal.dct import dct

__all__: list[str] = []  # its names are those of tf.signal only


def _mel(hertz: Any) -> Tensor:
    """Return frequencies on the mel scale."""
    quotient = raw.RealDiv(hertz, 700.0, name="truediv")
    mel: Tensor = raw.Mul(1127.0, raw.Log(raw.AddV2(1.0, quotient, name="add")), name="mul")
    return mel


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Return the matrix with which spectra become mel bands: spectra @ matrix.

    Each column is a triangle, from the centre of the band before to that of the next one.

    Args:
      num_mel_bins: how many bands.
      num_spectrogram_bins: of a spectrum, from 0 to half of the sample rate.
      sample_rate: samples each second.
      lower_edge_hertz: where the first band begins.
      upper_edge_hertz: where the last one ends.
      dtype: of floats.
      name: of the nodes' scope.

    Returns:
      [num_spectrogram_bins, num_mel_bins].

    Raises:
      ValueError: a number is not positive, an edge is beyond the spectrum or the other edge, or
        the type is not one of floats.

    Example:
      >>> Session().run(signal.linear_to_mel_weight_matrix(2, 5, 8000, 100.0, 3900.0)).round(2)
      array([[0.  , 0.  ],
             [0.71, 0.29],
             [0.  , 0.91],
             [0.  , 0.37],
             [0.  , 0.  ]], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    _check_edges(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    with name_scope(name, "linear_to_mel_weight_matrix", [sample_rate]) as scope:
        rate = raw.Cast(sample_rate, DstT=dtype)
        lower, upper = (
            convert_to_tensor(edge, dtype) for edge in (lower_edge_hertz, upper_edge_hertz)
        )
        zero = np.array(0, dtype.as_numpy_dtype)
        nyquist = raw.RealDiv(rate, 2.0, name="truediv")
        bins = raw.LinSpace(zero, nyquist, num_spectrogram_bins)[1:]  # 0 Hz is in no band
        bins = raw.ExpandDims(_mel(bins), 1)
        edges = raw.LinSpace(_mel(lower), _mel(upper), num_mel_bins + 2)
        begin, centre, end = (raw.ExpandDims(edges[i : num_mel_bins + i], 0) for i in range(3))
        rising = raw.RealDiv(raw.Sub(bins, begin), raw.Sub(centre, begin), name="truediv")
        falling = raw.RealDiv(raw.Sub(end, bins), raw.Sub(end, centre), name="truediv")
        weights = raw.Maximum(zero, raw.Minimum(rising, falling))
        matrix: Tensor = raw.Pad(weights, np.array([[1, 0], [0, 0]], np.int32), name=scope)
        return matrix


def _check_edges(count: int, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if count <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {count}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower} >= upper_edge_hertz {upper}")
    if not isinstance(rate, Tensor):
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}")
        if upper > rate / 2:
            raise ValueError(
                f"upper_edge_hertz must not be larger than the Nyquist frequency {rate / 2}. "
                f"Got {upper} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype.name}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Return the mel-frequency cepstral coefficients of spectra.

    Args:
      log_mel_spectrograms: float32 [..., num_mel_bins], logarithms of mel bands.
      name: of the nodes' scope.

    Returns:
      [..., num_mel_bins]; most programs keep the first dozen.

    Raises:
      ValueError: the number of bands is not known, or 0.

    Example:
      >>> Session().run(signal.mfccs_from_log_mel_spectrograms([1.0, 1.0])).round(3)
      array([2., 0.], dtype=float32)
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        bands = convert_to_tensor(log_mel_spectrograms)
        count = bands.plain_shape[-1] if bands.plain_shape else None
        if not count:
            raise ValueError(f"num_mel_bins must be positive and known. Got: {count}")
        scale = raw.Rsqrt(np.float32(count * 2.0))
        coefficients: Tensor = raw.Mul(dct(bands, type=2), scale, name="mul")
        return coefficients
