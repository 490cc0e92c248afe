"""How numbers drawn from a gamma distribution move with its parameter.

Source: M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization gradients, 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.graph.op_def import OpDef
from tfdist.ops.math import special_kernels

__all__: list[str] = []

RANDOM_GAMMA_GRAD = OpDef(
    "RandomGammaGrad(alpha: T, sample: T) -> output: T [T: type {float32,float64}]"
).not_differentiable()
RANDOM_GAMMA_GRAD.shape(shapes.broadcast)


@RANDOM_GAMMA_GRAD.kernel
def random_gamma_grad_kernel(alpha: Any, sample: Any) -> Any:
    """Return -(d cdf / d alpha) / density: what keeps the cdf of a sample as it is."""
    a, x = np.asarray(alpha, np.float64), np.asarray(sample, np.float64)
    with np.errstate(all="ignore"):  # of what is no number of the distribution nothing is told
        log_density = (a - 1) * np.log(x) - x - special_kernels.log_gamma(a)
        slope = -special_kernels.igamma_slope(a, x) * np.exp(-log_density)
    return np.asarray(slope).astype(sample.dtype)
