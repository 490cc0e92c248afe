"""Functions of tensors for the formulas of distributions.

Their results are `Any` here, for operators are set on tensors where type checkers do not see it.
"""

from __future__ import annotations

from typing import Any

from tfdist.ops import (
    activations,
    comparison,
    cross_entropy,
    elementwise,
    filling,
    random,
    random_distributions,
    reductions,
    shaping,
)
from tfdist.ops import softmax as _softmax
from tfdist.ops import special_functions as special

abs: Any = elementwise.abs
digamma: Any = elementwise.digamma
erfc: Any = elementwise.erfc
exp: Any = elementwise.exp
is_nan: Any = elementwise.is_nan
lgamma: Any = elementwise.lgamma
log: Any = elementwise.log
log1p: Any = elementwise.log1p
sigmoid: Any = elementwise.sigmoid
sign: Any = elementwise.sign
square: Any = elementwise.square

log_softmax: Any = _softmax.log_softmax
softmax: Any = _softmax.softmax
softplus: Any = activations.softplus
sparse_cross_entropy: Any = cross_entropy.sparse_softmax_cross_entropy_with_logits

betainc: Any = special.betainc
igamma: Any = special.igamma
lbeta: Any = special.lbeta

expand_dims: Any = shaping.expand_dims
ones_like: Any = filling.ones_like
reduce_sum: Any = reductions.reduce_sum
where: Any = comparison.where_v2
zeros_like: Any = filling.zeros_like

multinomial: Any = random_distributions.multinomial
random_gamma: Any = random_distributions.random_gamma
random_normal: Any = random.random_normal
random_uniform: Any = random.random_uniform
