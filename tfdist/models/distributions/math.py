"""Functions of tensors for the formulas of distributions.

Their results are `Any` here, for operators are set on tensors where type checkers do not see it.
"""

from __future__ import annotations

from typing import Any

from tfdist.ops.array import fill as array_fill
from tfdist.ops.array import reshape as array_reshape
from tfdist.ops.math import comparison, elementwise, reductions
from tfdist.ops.math import special_functions as special
from tfdist.ops.nn import activations, cross_entropy
from tfdist.ops.nn import softmax as _softmax
from tfdist.ops.random import distributions, random_ops

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

expand_dims: Any = array_reshape.expand_dims
ones_like: Any = array_fill.ones_like
reduce_sum: Any = reductions.reduce_sum
where: Any = comparison.where_v2
zeros_like: Any = array_fill.zeros_like

multinomial: Any = distributions.multinomial
random_gamma: Any = distributions.random_gamma
random_normal: Any = random_ops.random_normal
random_uniform: Any = random_ops.random_uniform
