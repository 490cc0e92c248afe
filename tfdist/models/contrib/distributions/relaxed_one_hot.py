"""tf.contrib.distributions of classes as vectors: zeros and a one, and what is near to that.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.discrete import Categorical, logits_and_probs
from tfdist.models.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
)
from tfdist.models.distributions.kl_divergence import RegisterKL
from tfdist.models.distributions.math import (
    exp,
    lgamma,
    log,
    log_softmax,
    multinomial,
    random_uniform,
    reduce_sum,
    sigmoid,
    softmax,
    softplus,
)
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.linalg.diag import matrix_diag
from tfdist.ops.math.top_k import argmax

__all__ = ["OneHotCategorical", "RelaxedBernoulli", "RelaxedOneHotCategorical"]


class OneHotCategorical(Distribution):
    """The distribution of classes, as vectors of zeros with a one.

    Args:
      logits: [..., classes], log-probabilities up to a constant per row; or
      probs: [..., classes].
      dtype: of samples.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> Session().run(contrib.distributions.OneHotCategorical(probs=[0.25, 0.75]).prob([0, 1]))
      np.float32(0.75)
    """

    _event_rank = 1

    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: Any = "int32",
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "OneHotCategorical",
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
    def event_size(self) -> Any:
        """Return the number of classes, a tensor."""
        sizes: Any = shape(self.logits)
        return sizes[-1]

    def _sample(self, number: Any, seed: int | None) -> Any:
        rows = reshape(self.logits, raw.Pack([-1, self.event_size], axis=0))
        drawn = raw.Transpose(multinomial(rows, number, seed), [1, 0])
        return one_hot(drawn, self.event_size, dtype=self.dtype)

    def _log_prob(self, value: Any) -> Any:
        chosen = cast(value, self.logits.dtype)
        return reduce_sum(raw.MulNoNan(log_softmax(self.logits), chosen), -1)

    def _entropy(self) -> Any:
        logs = log_softmax(self.logits)
        return -reduce_sum(raw.MulNoNan(logs, exp(logs)), -1)

    def _mode(self) -> Any:
        return one_hot(argmax(self.logits, -1), self.event_size, dtype=self.dtype)

    def _covariance(self) -> Any:
        column = raw.ExpandDims(self.probs, -1)
        return matrix_diag(self.probs) - column * raw.ExpandDims(self.probs, -2)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)


@RegisterKL(OneHotCategorical, OneHotCategorical)
@RegisterKL(OneHotCategorical, Categorical)
def _one_hot_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        difference: Any = log_softmax(a.logits) - log_softmax(b.logits)
        return reduce_sum(softmax(a.logits) * difference, -1)


def _uniform(sizes: Any, dtype: Any, seed: int | None) -> Any:
    return random_uniform(sizes, dtype.as_numpy_dtype(1e-38), 1.0, dtype, seed)


class RelaxedOneHotCategorical(Distribution):
    """The distribution of vectors near to those of OneHotCategorical, which have gradients.

    Args:
      temperature: how near; the lower, the nearer.
      logits: [..., classes], log-probabilities up to a constant per row; or
      probs: [..., classes].
      dtype: accepted for TensorFlow's sake.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> relaxed = contrib.distributions.RelaxedOneHotCategorical(0.5, probs=[0.25, 0.75])
      >>> Session().run(reduce_sum(relaxed.sample())).round(4)
      np.float32(1.0)
    """

    _event_rank = 1

    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            self.logits, self.probs = logits_and_probs(logits, probs, True)
            self.temperature: Any = convert_to_tensor(temperature, self.logits.dtype)
        super().__init__(
            self.logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.logits], name,
        )  # fmt: skip

    @property
    def _batch_parameters(self) -> list[Any]:
        return [(self.temperature, 0), (self.logits, 1)]

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        gumbel = -log(-log(_uniform(sizes, self.dtype, seed)))
        return softmax((gumbel + self.logits) / raw.ExpandDims(self.temperature, -1))

    def _log_prob(self, value: Any) -> Any:
        warm = raw.ExpandDims(self.temperature, -1)
        logs = log(value)
        size = cast(self.event_shape_tensor()[0], self.dtype)
        scores = log_softmax(self.logits - warm * logs)
        known = lgamma(size) + (size - 1.0) * log(self.temperature)
        return reduce_sum(scores - logs, -1) + known


class RelaxedBernoulli(Distribution):
    """The distribution of numbers near 0 and 1, which have gradients.

    Args:
      temperature: how near; the lower, the nearer.
      logits: log-odds of 1; or
      probs: probabilities of 1.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> drawn = Session().run(contrib.distributions.RelaxedBernoulli(0.5, probs=0.25).sample(3))
      >>> ((0 <= drawn) & (drawn <= 1)).all()
      np.True_
    """

    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "RelaxedBernoulli",
    ) -> None:  # fmt: skip
        parameters = locals()
        with name_scope(name) as name:
            self.logits, self.probs = logits_and_probs(logits, probs, False)
            self.temperature: Any = convert_to_tensor(temperature, self.logits.dtype)
        super().__init__(
            self.logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.temperature, self.logits], name,
        )  # fmt: skip

    def _sample(self, number: Any, seed: int | None) -> Any:
        sizes = concat([[number], self.batch_shape_tensor()], 0)
        drawn = _uniform(sizes, self.dtype, seed)
        logistic = log(drawn) - raw.Log1p(-drawn)
        return sigmoid((logistic + self.logits) / self.temperature)

    def _log_prob(self, value: Any) -> Any:
        odds = log(value) - raw.Log1p(-value)
        z = odds * self.temperature - self.logits
        return log(self.temperature) - z - 2.0 * softplus(-z) - log(value) - raw.Log1p(-value)

    def _cdf(self, value: Any) -> Any:
        odds = log(value) - raw.Log1p(-value)
        return sigmoid(odds * self.temperature - self.logits)
