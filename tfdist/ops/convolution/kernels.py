"""Convolution: forwards, and backwards to the input and to the filters, by the fastest at hand.

All take [batch, spatial axes..., channels] and filters [taps..., channels, outputs].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.ops.convolution import blas as convolution_blas
from tfdist.ops.convolution import covered_axes
from tfdist.ops.convolution import onednn as convolution_onednn
from tfdist.ops.convolution.onednn_windows import first_of
from tfdist.ops.math.reduction_kernels import widened

Kernel = Callable[..., Any]


def in_wide_type(kernel: Kernel) -> Kernel:
    """Return a kernel of two arrays that computes 16-bit floats as float32, which BLAS knows."""

    def computed(one: Any, other: Any, *rest: Any) -> Any:
        return kernel(widened(one), widened(other), *rest).astype(one.dtype, copy=False)

    return computed


convolve = covered_axes.convolving(
    in_wide_type(first_of(convolution_onednn.convolve, convolution_blas.convolve))
)
convolve_to_input = covered_axes.convolving_to_input(
    in_wide_type(first_of(convolution_onednn.convolve_to_input, convolution_blas.convolve_to_input))
)
convolve_to_filters = covered_axes.convolving_to_filters(
    in_wide_type(
        first_of(convolution_onednn.convolve_to_filters, convolution_blas.convolve_to_filters)
    )
)
