"""tf.contrib.distributions of numbers around a place, and of what is made of such.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

import math
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfdist.models.distributions.gamma import Gamma
from tfdist.models.distributions.math import abs as abs_
from tfdist.models.distributions.math import (
    exp,
    log,
    log1p,
    ones_like,
    random_normal,
    random_uniform,
    sigmoid,
    softplus,
    square,
    zeros_like,
)
from tfdist.models.distributions.normal import Laplace, LocationScale, Normal
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat

__all__ = [
    "Cauchy", "Chi2", "HalfNormal", "LaplaceWithSoftplusScale", "Logistic",
    "NormalWithSoftplusScale",
]  # fmt: skip


class _LocScale(LocationScale):
    """A distribution with a place and a scale, by its cdf and the inverse of that."""

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        parameters = {"loc": loc, "scale": scale, "validate_args": validate_args,
                      "allow_nan_stats": allow_nan_stats, "name": name}  # fmt: skip
        self.validate_args = validate_args
        with name_scope(name or type(self).__name__) as scope:
            self.loc: Any = convert_to_tensor(loc, name="loc")
            self.scale: Any = self._positive(scale, "scale", self.loc.dtype)
        super().__init__(
            self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.loc, self.scale], scope,
        )  # fmt: skip

    def _quantile(self, value: Any) -> Any:
        raise NotImplementedError

    def _sample(self, number: Any, seed: int | None) -> Any:
        least = 1e-38 if self.dtype.name == "float32" else 1e-300
        drawn = random_uniform(
            self._drawn_shape(number), self.dtype.as_numpy_dtype(least), 1.0, self.dtype, seed
        )
        return self._quantile(drawn)


class Logistic(_LocScale):
    """The logistic distribution, whose cdf is a sigmoid.

    Args:
      loc: mean.
      scale: width, above 0.
      validate_args: whether scale is checked when it runs.
      allow_nan_stats: taken.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Logistic(0.0, 1.0).cdf(0.0))
      np.float32(0.5)
    """

    def _log_prob(self, value: Any) -> Any:
        z = self._standard(value)
        return -z - 2.0 * softplus(-z) - log(self.scale)

    def _cdf(self, value: Any) -> Any:
        return sigmoid(self._standard(value))

    def _log_cdf(self, value: Any) -> Any:
        return -softplus(-self._standard(value))

    def _survival_function(self, value: Any) -> Any:
        return sigmoid(-self._standard(value))

    def _log_survival_function(self, value: Any) -> Any:
        return -softplus(self._standard(value))

    def _quantile(self, value: Any) -> Any:
        return self.loc + self.scale * (log(value) - log1p(-value))

    def _entropy(self) -> Any:
        return 2.0 + log(self.scale * ones_like(self.loc))

    def _stddev(self) -> Any:
        return self.scale * ones_like(self.loc) * (math.pi / math.sqrt(3))

    def _variance(self) -> Any:
        return square(self._stddev())


class Cauchy(_LocScale):
    """The Cauchy distribution, which has no mean.

    Args:
      loc: the place.
      scale: width, above 0.
      validate_args: whether scale is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Cauchy(0.0, 1.0).cdf(0.0))
      np.float32(0.5)
    """

    def _log_prob(self, value: Any) -> Any:
        return -log1p(square(self._standard(value))) - (math.log(math.pi) + log(self.scale))

    def _cdf(self, value: Any) -> Any:
        return raw.Atan(self._standard(value)) / math.pi + 0.5

    def _quantile(self, value: Any) -> Any:
        return self.loc + self.scale * raw.Tan(math.pi * (value - 0.5))

    def _entropy(self) -> Any:
        return math.log(4 * math.pi) + log(self.scale * ones_like(self.loc))

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return self.loc * ones_like(self.scale) * math.nan

    def _variance(self) -> Any:
        return square(self._stddev())

    def _mode(self) -> Any:
        return self.loc * ones_like(self.scale)


class HalfNormal(Distribution):
    """The distribution of how far normal numbers are from their mean, 0.

    Args:
      scale: standard deviation of the normal distribution.
      validate_args: whether scale is checked when it runs.
      allow_nan_stats: taken.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.HalfNormal(1.0).mean()).round(4)
      np.float32(0.7979)
    """

    def __init__(
        self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.validate_args = validate_args
        with name_scope(name) as name:
            self.scale: Any = self._positive(scale, "scale")
        super().__init__(
            self.scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.scale], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor()], 0)
        return abs_(random_normal(sizes, dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, value: Any) -> Any:
        found = (math.sqrt(2 / math.pi) / self.scale) * exp(-0.5 * square(value / self.scale))
        return found * cast(raw.GreaterEqual(value, 0.0), self.dtype)

    def _log_prob(self, value: Any) -> Any:
        return log(self._prob(value))

    def _cdf(self, value: Any) -> Any:
        return raw.Erf(raw.Maximum(value, 0.0) / self.scale / math.sqrt(2.0))

    def _quantile(self, value: Any) -> Any:
        return math.sqrt(2.0) * self.scale * raw.Erfinv(value)

    def _entropy(self) -> Any:
        return 0.5 * log(math.pi * square(self.scale) / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    def _mode(self) -> Any:
        return zeros_like(self.scale)

    def _variance(self) -> Any:
        return square(self.scale) * (1.0 - 2.0 / math.pi)


class Chi2(Gamma):
    """The distribution of the sum of squares of normal numbers.

    Args:
      df: of how many.
      validate_args: whether it is checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.Chi2(3.0).mean())
      np.float32(3.0)
    """

    def __init__(
        self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:  # fmt: skip
        with name_scope(name) as scope:
            self.df: Any = convert_to_tensor(df, name="df")
            half = convert_to_tensor(0.5, self.df.dtype, name="half")
        alpha: Any = half
        super().__init__(alpha * self.df, half, validate_args, allow_nan_stats, scope)
        self.parameters = {"df": df, "validate_args": validate_args,
                           "allow_nan_stats": allow_nan_stats, "name": name}  # fmt: skip


class NormalWithSoftplusScale(Normal):
    """Normal, with softplus(scale) as standard deviation; see `Normal` for the arguments."""

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:  # fmt: skip
        super().__init__(loc, softplus(scale), validate_args, allow_nan_stats, name)


class LaplaceWithSoftplusScale(Laplace):
    """Laplace, with softplus(scale) as scale; see `Laplace` for the arguments."""

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:  # fmt: skip
        super().__init__(loc, softplus(scale), validate_args, allow_nan_stats, name)
