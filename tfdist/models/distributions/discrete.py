"""Distributions of whole numbers: Bernoulli, Categorical, Multinomial, DirichletMultinomial.

Source: TF 1.15 API documentation, tf.distributions.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.dtypes import as_dtype
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfdist.models.distributions.gamma import Dirichlet
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import (
    expand_dims,
    lbeta,
    lgamma,
    log,
    log1p,
    log_softmax,
    multinomial,
    ones_like,
    random_gamma,
    random_uniform,
    reduce_sum,
    sigmoid,
    softmax,
    softplus,
    sparse_cross_entropy,
)
from tfdist.ops.array.broadcast import broadcast_static_shape
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.range import sequence_mask
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.array.transpose import transpose
from tfdist.ops.linalg.diag import matrix_set_diag
from tfdist.ops.math.reductions import reduce_max
from tfdist.ops.math.top_k import argmax

__all__ = ["Bernoulli", "Categorical", "DirichletMultinomial", "Multinomial"]


def logits_and_probs(logits: Any, probs: Any, several: bool) -> tuple[Any, Any]:
    """Return logits and probabilities, of which one is given."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is not None:
        probs = convert_to_tensor(probs, name="probs")
        return (log(probs) if several else log(probs) - log1p(-probs)), probs
    logits = convert_to_tensor(logits, name="logits")
    return logits, (softmax(logits) if several else sigmoid(logits))


class Bernoulli(Distribution):
    """The distribution of one toss of a coin: 1 or 0.

    Args:
      logits: log-odds of 1; or
      probs: probabilities of 1.
      dtype: of samples.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Bernoulli(probs=0.25).prob([0, 1]))
      array([0.75, 0.25], dtype=float32)
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = "int32",
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Bernoulli",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            logits, probs = logits_and_probs(logits, probs, False)
        self.logits: Any = logits
        self.probs: Any = probs
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [logits], name
        )

    def _of(self, value: Any) -> Any:
        return cast(convert_to_tensor(value, name="value"), self.logits.dtype)

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor()], 0)
        drawn: Any = random_uniform(sizes, dtype=self.probs.dtype, seed=seed)
        return cast(drawn < self.probs, self.dtype)

    def _log_prob(self, value: Any) -> Any:
        return value * self.logits - softplus(self.logits)

    def _entropy(self) -> Any:
        return softplus(self.logits) - self.logits * self.probs

    def _mean(self) -> Any:
        return raw.Identity(self.probs)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _mode(self) -> Any:
        return cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli"):
        off = softplus(b.logits) - softplus(a.logits)
        return a.probs * (a.logits - b.logits) + off


class Categorical(Distribution):
    """The distribution of classes, by their numbers.

    Args:
      logits: [..., classes], log-probabilities up to a constant per row; or
      probs: [..., classes].
      dtype: of samples.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Categorical(probs=[0.25, 0.75]).prob([0, 1]))
      array([0.25, 0.75], dtype=float32)
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = "int32",
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Categorical",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            logits, probs = logits_and_probs(logits, probs, True)
        self.logits: Any = logits
        self.probs: Any = probs
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [logits], name
        )

    @property
    def _batch_parameters(self) -> list[Any]:
        return [(self.logits, 1)]

    @property
    def event_size(self) -> Any:
        """Return the number of classes, a tensor."""
        sizes: Any = shape(self.logits)
        return sizes[-1]

    def _of(self, value: Any) -> Any:
        return convert_to_tensor(value, name="value")

    def _sample(self, number: Any, seed: int | None) -> Any:
        rows = reshape(self.logits, raw.Pack([-1, self.event_size], axis=0))
        return transpose(cast(multinomial(rows, number, seed), self.dtype))

    def _log_prob(self, value: Any) -> Any:
        classes = cast(value, "int32") if value.dtype.is_floating else value
        lead: Any = raw.BroadcastArgs(shape(classes), self.batch_shape_tensor())
        classes = raw.BroadcastTo(classes, lead)
        logits = raw.BroadcastTo(self.logits, concat([lead, [self.event_size]], 0))
        found: Any = -sparse_cross_entropy(labels=classes, logits=logits)
        found.set_shape(broadcast_static_shape(value.shape, self.batch_shape))
        return found

    def _cdf(self, value: Any) -> Any:
        below = sequence_mask(cast(value, "int32"), self.event_size, self.probs.dtype)
        return reduce_sum(below * self.probs, -1)

    def _entropy(self) -> Any:
        logs = log_softmax(self.logits)
        return -reduce_sum(raw.MulNoNan(logs, raw.Exp(logs)), -1)

    def _mode(self) -> Any:
        return cast(argmax(self.logits, -1), self.dtype)


@RegisterKL(Categorical, Categorical)
def _categorical_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        difference: Any = log_softmax(a.logits) - log_softmax(b.logits)
        return reduce_sum(softmax(a.logits) * difference, -1)


class _Counts(Distribution):
    """A distribution of how often each class comes in `total_count` draws."""

    total_count: Any
    _event_rank = 1

    def _log_ways(self, counts: Any) -> Any:
        """Return the logarithm of how many orders the same counts can come in."""
        ways = lgamma(self.total_count + 1.0)
        return ways - reduce_sum(lgamma(counts + 1.0), -1)

    @property
    def _batch_parameters(self) -> list[Any]:
        return [(self.total_count, 0), (self._tensors[-1], 1)]

    def _counted(self, logits: Any, seed: int | None) -> Any:
        """Return counts of draws from `logits` [n, batch..., classes]."""
        sizes: Any = shape(logits)
        most: Any = reduce_max(cast(self.total_count, "int32"))
        drawn = multinomial(reshape(logits, raw.Pack([-1, sizes[-1]], axis=0)), most, seed)
        drawn = reshape(drawn, concat([sizes[:-1], [most]], 0))
        counted = sequence_mask(cast(self.total_count, "int32"), most, self.dtype)
        return reduce_sum(
            one_hot(drawn, sizes[-1], dtype=self.dtype) * expand_dims(counted, -1), -2
        )

    def _each(self, tensor: Any, number: Any) -> Any:
        """Return `number` copies of a parameter [batch..., classes], in the whole batch's shape."""
        sizes = concat([[number], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return raw.BroadcastTo(tensor, sizes)


class Multinomial(_Counts):
    """The distribution of how often each class comes in some draws.

    Args:
      total_count: how many draws, a float.
      logits: [..., classes], log-probabilities up to a constant per row; or
      probs: [..., classes].
      validate_args: taken, and nothing is checked.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Multinomial(4.0, probs=[0.25, 0.75]).mean())
      array([1., 3.], dtype=float32)
    """

    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Multinomial",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            self.total_count: Any = convert_to_tensor(total_count, name="total_count")
            logits, probs = logits_and_probs(logits, probs, True)
        self.logits: Any = logits
        self.probs: Any = probs
        super().__init__(
            probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.total_count, logits], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        return self._counted(self._each(self.logits, number), seed)

    def _log_prob(self, value: Any) -> Any:
        found: Any = reduce_sum(value * log_softmax(self.logits), -1)
        return found + self._log_ways(value)

    def _mean(self) -> Any:
        return self.probs * expand_dims(self.total_count, -1)

    def _variance(self) -> Any:
        p = self.probs
        return expand_dims(self.total_count, -1) * (p - p * p)

    def _covariance(self) -> Any:
        p = self.probs * ones_like(expand_dims(self.total_count, -1))
        counted = expand_dims(self.total_count, -1) * p
        products = -raw.BatchMatMulV2(expand_dims(counted, -1), expand_dims(p, -2))
        return matrix_set_diag(products, self._variance())


class DirichletMultinomial(_Counts):
    """The distribution of counts in draws whose probabilities are a Dirichlet's.

    Args:
      total_count: how many draws, a float.
      concentration: [..., classes], that of the Dirichlet.
      validate_args: whether it is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.DirichletMultinomial(4.0, [1.0, 3.0]).mean())
      array([1., 3.], dtype=float32)
    """

    def __init__(
        self, total_count: Any, concentration: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "DirichletMultinomial",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.total_count: Any = convert_to_tensor(total_count, name="total_count")
            self.concentration: Any = self._positive(concentration, "concentration")
            self.total_concentration: Any = reduce_sum(self.concentration, -1)
        super().__init__(
            self.concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self.total_count, self.concentration], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        drawn: Any = random_gamma([number], self.concentration, None, as_dtype(self.dtype), seed)
        lead = concat([[number], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return self._counted(raw.BroadcastTo(log(drawn), lead), None if seed is None else seed + 1)

    def _log_prob(self, value: Any) -> Any:
        found: Any = self._log_ways(value) + lbeta(self.concentration + value)
        return found - lbeta(self.concentration)

    def _mean(self) -> Any:
        return expand_dims(self.total_count, -1) * self._dirichlet()._mean()

    def _dirichlet(self) -> Any:
        return Dirichlet(self.concentration, name="dirichlet")

    def _factor(self) -> Any:
        """Return how much more the counts vary than a Dirichlet's numbers."""
        return self.total_count * (self.total_count + self.total_concentration)

    def _variance(self) -> Any:
        return expand_dims(self._factor(), -1) * self._dirichlet()._variance()

    def _covariance(self) -> Any:
        factor = expand_dims(expand_dims(self._factor(), -1), -1)
        return factor * self._dirichlet()._covariance()
