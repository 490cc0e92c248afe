"""tf.contrib.distributions of counts, and the one that always gives one number.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.discrete import logits_and_probs
from tfdist.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import abs as abs_
from tfdist.models.distributions.math import (
    betainc,
    exp,
    lgamma,
    log,
    log1p,
    ones_like,
    random_gamma,
    random_uniform,
    reduce_sum,
    sigmoid,
    softplus,
    where,
    zeros_like,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.math.special_functions import igammac
from tfdist.ops.random.distributions import random_poisson

__all__ = ["Binomial", "Deterministic", "Geometric", "NegativeBinomial", "Poisson"]


class Deterministic(Distribution):
    """The distribution that always gives one number.

    Args:
      loc: that number.
      atol: how far a value may be from it and count as it.
      rtol: the same, as a part of it.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Deterministic(2.0).prob([2.0, 3.0]))
      array([1., 0.], dtype=float32)
    """

    def __init__(
        self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Deterministic",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            self.loc: Any = convert_to_tensor(loc, name="loc")
            self.atol: Any = convert_to_tensor(atol or 0, self.loc.dtype, name="atol")
            self.rtol: Any = convert_to_tensor(rtol or 0, self.loc.dtype, name="rtol")
        super().__init__(
            self.loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.loc], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        return raw.BroadcastTo(self.loc, concat([[number], self.batch_shape_tensor()], 0))

    def _prob(self, value: Any) -> Any:
        slack = self.atol + self.rtol * abs_(self.loc)
        return cast(raw.LessEqual(abs_(value - self.loc), slack), self.dtype)

    def _log_prob(self, value: Any) -> Any:
        return log(self._prob(value))

    def _cdf(self, value: Any) -> Any:
        slack = self.atol + self.rtol * abs_(self.loc)
        return cast(raw.GreaterEqual(value, self.loc - slack), self.dtype)

    def _mean(self) -> Any:
        return raw.Identity(self.loc)

    _mode = _mean

    def _variance(self) -> Any:
        return zeros_like(self.loc)

    def _entropy(self) -> Any:
        return zeros_like(self.loc)


class Poisson(Distribution):
    """The distribution of how many events come in a time.

    Args:
      rate: how many on the average; or
      log_rate: its logarithm.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Raises:
      ValueError: neither is given, or both.

    Example:
      >>> Session().run(contrib.distributions.Poisson(1.0).prob([0.0, 1.0])).round(4)
      array([0.3679, 0.3679], dtype=float32)
    """

    def __init__(
        self, rate: Any = None, log_rate: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Poisson",
    ) -> None:  # fmt: skip
        parameters = locals()
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name) as name:
            if rate is None:
                self.log_rate: Any = convert_to_tensor(log_rate, name="log_rate")
                self.rate: Any = exp(self.log_rate)
            else:
                self.rate = convert_to_tensor(rate, name="rate")
                self.log_rate = log(self.rate)
        super().__init__(
            self.rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.rate], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        return random_poisson(self.rate, [number], dtype=self.dtype, seed=seed)

    def _log_prob(self, value: Any) -> Any:
        whole = raw.Floor(value)
        found = whole * self.log_rate - lgamma(1.0 + whole) - self.rate
        off = raw.LogicalOr(raw.Less(value, 0.0), raw.NotEqual(whole, value))
        return where(off, -math.inf * ones_like(found), found)

    def _cdf(self, value: Any) -> Any:
        found = igammac(1.0 + raw.Maximum(raw.Floor(value), 0.0), self.rate)
        return where(raw.Less(value, 0.0), zeros_like(found), found)

    def _mean(self) -> Any:
        return raw.Identity(self.rate)

    _variance = _mean

    def _mode(self) -> Any:
        return raw.Floor(self.rate)


@RegisterKL(Poisson, Poisson)
def _poisson_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_poisson_poisson"):
        return a.rate * (a.log_rate - b.log_rate) - a.rate + b.rate


class _OfProbs(Distribution):
    """A distribution of counts, made of a probability."""

    logits: Any
    probs: Any
    total_count: Any = None

    def _keep(self, logits: Any, probs: Any, total_count: Any, name: str) -> str:
        with name_scope(name) as name:
            self.logits, self.probs = logits_and_probs(logits, probs, False)
            if total_count is not None:
                self.total_count = convert_to_tensor(total_count, self.probs.dtype, "total_count")
        return name


class Geometric(_OfProbs):
    """The distribution of how often tosses fail before the first success.

    Args:
      logits: log-odds of success; or
      probs: probabilities of it.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Geometric(probs=0.5).prob([0.0, 1.0]))
      array([0.5 , 0.25], dtype=float32)
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Geometric",
    ) -> None:  # fmt: skip
        parameters = locals()
        name = self._keep(logits, probs, None, name)
        super().__init__(
            self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.probs], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor()], 0)
        least = self.dtype.as_numpy_dtype(1e-38)
        drawn = random_uniform(sizes, least, 1.0, dtype=self.dtype, seed=seed)
        return raw.Floor(log(drawn) / log1p(-self.probs))

    def _log_prob(self, value: Any) -> Any:
        safe = where(raw.Equal(value, 0.0), zeros_like(self.probs), self.probs)
        return value * log1p(-safe) + log(self.probs)

    def _cdf(self, value: Any) -> Any:
        value = raw.Floor(value)
        found = -raw.Expm1((1.0 + raw.Maximum(value, 0.0)) * log1p(-self.probs))
        return where(raw.Less(value, 0.0), zeros_like(found), found)

    def _entropy(self) -> Any:
        return (softplus(self.logits) - self.logits * self.probs) / self.probs

    def _mean(self) -> Any:
        return exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return zeros_like(self.probs)


class _Totals(_OfProbs):
    @property
    def _batch_parameters(self) -> list[Any]:
        return [(self.total_count, 0), (self.probs, 0)]

    def _whole(self, number: Any, tensor: Any) -> Any:
        """Return a parameter for each of so many samples."""
        return raw.BroadcastTo(tensor, concat([[number], self.batch_shape_tensor()], 0))


class Binomial(_Totals):
    """The distribution of how many of some tosses succeed.

    Args:
      total_count: how many tosses, a float.
      logits: log-odds of success; or
      probs: probabilities of it.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Binomial(4.0, probs=0.25).mean())
      np.float32(1.0)
    """

    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Binomial",
    ) -> None:  # fmt: skip
        parameters = locals()
        name = self._keep(logits, probs, total_count, name)
        super().__init__(
            self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.total_count, self.logits, self.probs], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        most = cast(raw.Max(self.total_count, raw.Range(0, raw.Rank(self.total_count), 1)), "int32")
        sizes = concat([[number], self.batch_shape_tensor(), [most]], 0)
        drawn = raw.Less(random_uniform(sizes, dtype=self.dtype, seed=seed),
                         raw.ExpandDims(self.probs, -1))  # fmt: skip
        counts = raw.Less(cast(raw.Range(0, most, 1), self.dtype),
                          raw.ExpandDims(self.total_count, -1))  # fmt: skip
        return reduce_sum(cast(raw.LogicalAnd(drawn, counts), self.dtype), -1)

    def _log_prob(self, value: Any) -> Any:
        rest = self.total_count - value
        ways = lgamma(1.0 + value) + lgamma(1.0 + rest) - lgamma(1.0 + self.total_count)
        return value * log(self.probs) + rest * log1p(-self.probs) - ways

    def _cdf(self, value: Any) -> Any:
        probs = self.probs * ones_like(self.total_count) + zeros_like(value)
        ones = ones_like(probs)
        safe = where(
            raw.GreaterEqual(value, self.total_count), ones, ones * (self.total_count - value)
        )
        found = betainc(safe, value + ones, 1.0 - probs)
        return where(raw.GreaterEqual(value, self.total_count), ones, found)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return raw.Floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_Totals):
    """The distribution of how many successes come before some failures.

    Args:
      total_count: how many failures, a float.
      logits: log-odds of success; or
      probs: probabilities of it.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.NegativeBinomial(4.0, probs=0.5).mean())
      np.float32(4.0)
    """

    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "NegativeBinomial",
    ) -> None:  # fmt: skip
        parameters = locals()
        name = self._keep(logits, probs, total_count, name)
        super().__init__(
            self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.total_count, self.logits, self.probs], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        rate = random_gamma([number], self.total_count * ones_like(self.probs),
                            exp(-self.logits), dtype=self.dtype, seed=seed)  # fmt: skip
        again = None if seed is None else seed + 1
        return random_poisson(rate, [], dtype=self.dtype, seed=again)

    def _log_prob(self, value: Any) -> Any:
        failures = self.total_count * -softplus(self.logits)
        successes = value * -softplus(-self.logits)
        ways = lgamma(1.0 + value) + lgamma(self.total_count) - lgamma(self.total_count + value)
        return failures + successes - ways

    def _cdf(self, value: Any) -> Any:
        total = self.total_count * ones_like(self.probs) + zeros_like(value)
        found = betainc(total, 1.0 + raw.Maximum(value, 0.0) + zeros_like(total),
                        sigmoid(-self.logits) + zeros_like(total))  # fmt: skip
        return where(raw.Less(value, 0.0), zeros_like(found), found)

    def _mean(self) -> Any:
        return self.total_count * exp(self.logits)

    def _variance(self) -> Any:
        return self._mean() / sigmoid(-self.logits)

    def _mode(self) -> Any:
        below = (self.total_count - 1.0) * exp(self.logits)
        found = where(raw.Less(1.0, self.total_count * ones_like(self.probs)), below,
                      zeros_like(below))  # fmt: skip
        return raw.Floor(found)
