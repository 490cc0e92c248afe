"""Distributions with a place and a scale, and the even one: Normal, Laplace, StudentT, Uniform.

Source: TF 1.15 API documentation, tf.distributions.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import abs as abs_
from tfdist.models.distributions.math import (
    betainc,
    digamma,
    erfc,
    exp,
    is_nan,
    lbeta,
    lgamma,
    log,
    log1p,
    ones_like,
    random_gamma,
    random_normal,
    random_uniform,
    sign,
    square,
    where,
    zeros_like,
)
from tfdist.ops.array.concat import concat
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.math.reductions import reduce_all

__all__ = ["Laplace", "Normal", "StudentT", "Uniform"]

_LOG_2_PI = math.log(2 * math.pi)


class LocationScale(Distribution):
    """A distribution of numbers around `loc`, as wide as `scale`."""

    loc: Any
    scale: Any

    def _drawn_shape(self, number: Any) -> Any:
        return concat([[number], self.batch_shape_tensor()], 0)

    def _standard(self, value: Any) -> Any:
        return (value - self.loc) / self.scale

    def _mean(self) -> Any:
        return self.loc * ones_like(self.scale)

    _mode = _mean


class Normal(LocationScale):
    """The normal distribution.

    Args:
      loc: mean.
      scale: standard deviation, above 0.
      validate_args: whether scale is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Normal(0.0, 2.0).prob(0.0)).round(4)
      np.float32(0.1995)
    """

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.loc: Any = convert_to_tensor(loc, name="loc")
            self.scale: Any = self._positive(scale, "scale", self.loc.dtype)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.loc, self.scale], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        drawn = random_normal(self._drawn_shape(number), dtype=self.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, value: Any) -> Any:
        return -0.5 * square(self._standard(value)) - (0.5 * _LOG_2_PI + log(self.scale))

    def _cdf(self, value: Any) -> Any:
        return _normal_cdf(self._standard(value))

    def _log_cdf(self, value: Any) -> Any:
        return _normal_log_cdf(self._standard(value))

    def _survival_function(self, value: Any) -> Any:
        return _normal_cdf(-self._standard(value))

    def _log_survival_function(self, value: Any) -> Any:
        return _normal_log_cdf(-self._standard(value))

    def _entropy(self) -> Any:
        return 0.5 + 0.5 * _LOG_2_PI + log(self.scale * ones_like(self.loc))

    def _variance(self) -> Any:
        return square(self._stddev())

    def _stddev(self) -> Any:
        return self.scale * ones_like(self.loc)


def _normal_cdf(x: Any) -> Any:
    return 0.5 * erfc(-x * math.sqrt(0.5))


def _normal_log_cdf(x: Any) -> Any:
    """Return the logarithm of the normal cdf, by its series where that is too small for floats."""
    lower = -10.0 if x.dtype.name == "float32" else -20.0
    far = where(x < lower, x, lower * ones_like(x))  # no branch meets what it cannot take
    near = where(x < lower, lower * ones_like(x), x)
    inverse = 1.0 / square(far)
    series = -inverse * (1.0 - inverse * (3.0 - inverse * 15.0))
    tail = -0.5 * square(far) - log(-far) - 0.5 * _LOG_2_PI + log1p(series)
    return where(x < lower, tail, log(_normal_cdf(near)))


@RegisterKL(Normal, Normal)
def _normal_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal"):
        ratio = square(a.scale / b.scale)
        return 0.5 * (square((a.loc - b.loc) / b.scale) + ratio - 1.0 - log(ratio))


class Laplace(LocationScale):
    """The Laplace distribution: exponential on both sides of `loc`.

    Args:
      loc: mean.
      scale: mean distance from it, above 0.
      validate_args: whether scale is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Laplace(0.0, 1.0).prob(0.0))
      np.float32(0.5)
    """

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.loc: Any = convert_to_tensor(loc, name="loc")
            self.scale: Any = self._positive(scale, "scale", self.loc.dtype)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.loc, self.scale], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        least = -1.0 + 1e-7  # at -1 itself the logarithm has no end
        drawn = random_uniform(self._drawn_shape(number), least, 1.0, self.dtype, seed)
        return self.loc - self.scale * sign(drawn) * log1p(-abs_(drawn))

    def _log_prob(self, value: Any) -> Any:
        return -abs_(self._standard(value)) - math.log(2.0) - log(self.scale)

    def _cdf(self, value: Any) -> Any:
        z = self._standard(value)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs_(z)))

    def _log_cdf(self, value: Any) -> Any:
        return _laplace_log_cdf(self._standard(value))

    def _survival_function(self, value: Any) -> Any:
        return self._cdf(2.0 * self.loc - value)

    def _log_survival_function(self, value: Any) -> Any:
        return _laplace_log_cdf(-self._standard(value))

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + log(self._wide())

    def _variance(self) -> Any:
        return square(self._stddev())

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self._wide()

    def _wide(self) -> Any:
        return self.scale * ones_like(self.loc)


def _laplace_log_cdf(z: Any) -> Any:
    return where(z < 0.0, z - math.log(2.0), log1p(-0.5 * exp(-abs_(z))))


class StudentT(LocationScale):
    """Student's t-distribution.

    Args:
      df: degrees of freedom, above 0.
      loc: its middle.
      scale: its width, above 0.
      validate_args: whether df is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.StudentT(1.0, 0.0, 1.0).cdf(1.0)).round(4)
      np.float32(0.75)
    """

    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "StudentT",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.df: Any = self._positive(df, "df")
            self.loc: Any = convert_to_tensor(loc, self.df.dtype, name="loc")
            self.scale: Any = convert_to_tensor(scale, self.df.dtype, name="scale")
        super().__init__(
            self.df.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.df, self.loc, self.scale], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        drawn = random_normal(self._drawn_shape(number), dtype=self.dtype, seed=seed)
        df = self._spread(1.0) * self.df
        again = None if seed is None else seed + 1
        chi = random_gamma([number], 0.5 * df, 0.5, self.dtype, again)
        return drawn * raw.Rsqrt(chi / self.df) * self.scale + self.loc

    def _log_prob(self, value: Any) -> Any:
        half = 0.5 * (self.df + 1.0)
        whole = (
            log(abs_(self.scale)) + 0.5 * log(self.df) + 0.5 * math.log(math.pi)
            + lgamma(0.5 * self.df) - lgamma(half)
        )  # fmt: skip
        return -half * log1p(square(self._standard(value)) / self.df) - whole

    def _cdf(self, value: Any) -> Any:
        y = (value - self.loc) / abs_(self.scale)
        df = self.df * ones_like(y)
        tail = 0.5 * betainc(0.5 * df, 0.5 * ones_like(y), df / (square(y) + df))
        return where(y < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Any:
        df = self._spread(1.0) * self.df
        half = 0.5 * (df + 1.0)
        pair = raw.Pack([0.5 * df, 0.5 * ones_like(df)], axis=-1)
        return (
            log(abs_(self.scale)) + 0.5 * log(df) + lbeta(pair)
            + half * (digamma(half) - digamma(0.5 * df))
        )  # fmt: skip

    def _mean(self) -> Any:
        mean = self.loc * self._spread(1.0)
        return self._where_defined(self.df * ones_like(mean) > 1.0, mean, "mean")

    def _variance(self) -> Any:
        df = self.df * self._spread(1.0)
        part = where(df > 2.0, df - 2.0, ones_like(df))
        variance = self._spread(1.0) * square(self.scale) * df / part
        endless = where(df > 2.0, variance, self._spread(float("inf")))
        return self._where_defined(df > 1.0, endless, "variance")

    def _mode(self) -> Any:
        return raw.Identity(self.loc)


class Uniform(Distribution):
    """The distribution of numbers that are equally likely in [low, high).

    Args:
      low: least number.
      high: upper end, above low.
      validate_args: whether low < high is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(distributions.Uniform(1.0, 3.0).prob([0.0, 2.0]))
      array([0. , 0.5], dtype=float32)
    """

    def __init__(
        self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Uniform",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            self.low: Any = convert_to_tensor(low, name="low")
            self.high: Any = convert_to_tensor(high, self.low.dtype, name="high")
            if validate_args:
                check = raw.Assert(
                    reduce_all(raw.Less(self.low, self.high)),
                    ["uniform not defined when low >= high."],
                )
                self.low = with_dependencies([check], self.low)
        super().__init__(
            self.low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.low, self.high], name,
        )  # fmt: skip

    def range(self, name: str = "range") -> Any:
        """Return high - low."""
        with name_scope(f"{self.name}{name}/"):
            return self.high - self.low

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor()], 0)
        return self.low + self.range() * random_uniform(sizes, dtype=self.dtype, seed=seed)

    def _log_prob(self, value: Any) -> Any:
        return log(self._prob(value))

    def _prob(self, value: Any) -> Any:
        width = self.range()
        outside = raw.LogicalOr(value < self.low, value >= self.high)
        found = where(outside, zeros_like(value), ones_like(value) / width)
        return where(is_nan(value), value, found)

    def _cdf(self, value: Any) -> Any:
        inside = (value - self.low) / self.range()
        return raw.Maximum(raw.Minimum(inside, 1.0), 0.0)

    def _entropy(self) -> Any:
        return log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
