"""Distributions that the gamma function is part of: Gamma, Exponential, Beta, Dirichlet.

Source: TF 1.15 API documentation, tf.distributions.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import (
    betainc,
    digamma,
    exp,
    expand_dims,
    igamma,
    lbeta,
    lgamma,
    log,
    log1p,
    ones_like,
    random_gamma,
    random_uniform,
    reduce_sum,
    square,
)
from tfdist.ops.array.concat import concat
from tfdist.ops.array.shape import shape
from tfdist.ops.linalg.diag import matrix_set_diag
from tfdist.ops.math.reductions import reduce_all

__all__ = ["Beta", "Dirichlet", "Exponential", "Gamma"]


class Gamma(Distribution):
    """The gamma distribution.

    Args:
      concentration: its form, above 0.
      rate: one over its scale, above 0.
      validate_args: whether both are checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Gamma(3.0, 2.0).mean())
      np.float32(1.5)
    """

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Gamma",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.concentration: Any = self._positive(concentration, "concentration")
            self.rate: Any = self._positive(rate, "rate", self.concentration.dtype)
        super().__init__(
            self.concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self.concentration, self.rate], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        return random_gamma([number], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, value: Any) -> Any:
        whole = lgamma(self.concentration) - self.concentration * log(self.rate)
        return (self.concentration - 1.0) * log(value) - self.rate * value - whole

    def _cdf(self, value: Any) -> Any:
        return igamma(self.concentration, self.rate * value)

    def _entropy(self) -> Any:
        a = self.concentration
        return a - log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / square(self.rate)

    def _stddev(self) -> Any:
        return raw.Sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        return self._where_defined(self.concentration * ones_like(mode) > 1.0, mode, "mode")


@RegisterKL(Gamma, Gamma)
def _gamma_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_gamma_gamma"):
        return (
            (a.concentration - b.concentration) * digamma(a.concentration)
            + lgamma(b.concentration) - lgamma(a.concentration)
            + b.concentration * (log(a.rate) - log(b.rate))
            + a.concentration * (b.rate / a.rate - 1.0)
        )  # fmt: skip


class Exponential(Gamma):
    """The exponential distribution.

    Args:
      rate: one over its mean, above 0.
      validate_args: whether it is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Exponential(0.5).mean())
      np.float32(2.0)
    """

    def __init__(
        self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            rate = convert_to_tensor(rate, name="rate")
        super().__init__(ones_like(rate), rate, validate_args, allow_nan_stats, name)
        self.parameters = {
            k: v for k, v in parameters.items() if k not in ("self", "__class__", "rate")
        } | {"rate": rate}

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], shape(self.rate)], 0)
        drawn: Any = random_uniform(sizes, 1e-7, 1.0, self.dtype, seed)
        return -log(drawn) / self.rate


class Beta(Distribution):
    """The beta distribution, of numbers between 0 and 1.

    Args:
      concentration1: how much it tends to 1, above 0.
      concentration0: how much it tends to 0, above 0.
      validate_args: whether both are checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Beta(3.0, 1.0).mean())
      np.float32(0.75)
    """

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Beta",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.concentration1: Any = self._positive(concentration1, "concentration1")
            self.concentration0: Any = self._positive(
                concentration0, "concentration0", self.concentration1.dtype
            )
            self.total_concentration: Any = self.concentration1 + self.concentration0
        super().__init__(
            self.concentration1.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self.concentration1, self.concentration0], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        whole = ones_like(self.total_concentration)
        again = None if seed is None else seed + 1
        one: Any = random_gamma([number], self.concentration1 * whole, None, self.dtype, seed)
        other: Any = random_gamma([number], self.concentration0 * whole, None, self.dtype, again)
        return one / (one + other)

    def _log_prob(self, value: Any) -> Any:
        below = (self.concentration0 - 1.0) * log1p(-value)
        return (self.concentration1 - 1.0) * log(value) + below - self._log_whole()

    def _log_whole(self) -> Any:
        parts = lgamma(self.concentration1) + lgamma(self.concentration0)
        return parts - lgamma(self.total_concentration)

    def _cdf(self, value: Any) -> Any:
        whole = ones_like(self.total_concentration * value)
        return betainc(self.concentration1 * whole, self.concentration0 * whole, value * whole)

    def _entropy(self) -> Any:
        return (
            self._log_whole()
            - (self.concentration1 - 1.0) * digamma(self.concentration1)
            - (self.concentration0 - 1.0) * digamma(self.concentration0)
            + (self.total_concentration - 2.0) * digamma(self.total_concentration)
        )  # fmt: skip

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        defined = raw.LogicalAnd(self.concentration1 > 1.0, self.concentration0 > 1.0)
        return self._where_defined(defined, mode, "mode")


@RegisterKL(Beta, Beta)
def _beta_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_beta_beta"):
        return (
            b._log_whole() - a._log_whole()
            - digamma(a.concentration1) * (b.concentration1 - a.concentration1)
            - digamma(a.concentration0) * (b.concentration0 - a.concentration0)
            + digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        )  # fmt: skip


class Dirichlet(Distribution):
    """The Dirichlet distribution: of numbers between 0 and 1 whose sum is 1.

    Args:
      concentration: [..., k], how much of the sum each tends to have, above 0.
      validate_args: whether it is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Dirichlet([1.0, 3.0]).mean())
      array([0.25, 0.75], dtype=float32)
    """

    _event_rank = 1

    def __init__(
        self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.concentration: Any = self._positive(concentration, "concentration")
            self.total_concentration: Any = reduce_sum(self.concentration, -1)
        super().__init__(
            self.concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [self.concentration], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        drawn: Any = random_gamma([number], self.concentration, None, self.dtype, seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum((self.concentration - 1.0) * log(value), -1) - lbeta(self.concentration)

    def _prob(self, value: Any) -> Any:
        return exp(self._log_prob(value))

    def _entropy(self) -> Any:
        k: Any = raw.Cast(self.event_shape_tensor(), DstT=self.dtype)
        return (
            lbeta(self.concentration)
            + (self.total_concentration - k[0]) * digamma(self.total_concentration)
            - reduce_sum((self.concentration - 1.0) * digamma(self.concentration), -1)
        )  # fmt: skip

    def _mean(self) -> Any:
        return self.concentration / expand_dims(self.total_concentration, -1)

    def _spread_of(self) -> Any:
        """Return the mean over the square root of one more than the total."""
        one_more: Any = expand_dims(self.total_concentration, -1) + 1.0
        return self._mean() / raw.Sqrt(one_more)

    def _covariance(self) -> Any:
        x = self._spread_of()
        products = -raw.BatchMatMulV2(expand_dims(x, -1), expand_dims(x, -2))
        return matrix_set_diag(products, self._variance())

    def _variance(self) -> Any:
        scale: Any = expand_dims(self.total_concentration, -1) + 1.0
        mean = self._mean()
        return mean * (1.0 - mean) / scale

    def _mode(self) -> Any:
        k: Any = raw.Cast(self.event_shape_tensor(), DstT=self.dtype)
        total: Any = expand_dims(self.total_concentration, -1)
        mode = (self.concentration - 1.0) / (total - k[0])
        defined = reduce_all(self.concentration > 1.0, -1, keepdims=True)
        return self._where_defined(defined, mode, "mode")


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet"):
        mean_log = digamma(a.concentration) - expand_dims(digamma(a.total_concentration), -1)
        moved = reduce_sum((a.concentration - b.concentration) * mean_log, -1)
        return moved - lbeta(a.concentration) + lbeta(b.concentration)
