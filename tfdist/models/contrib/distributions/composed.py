"""tf.contrib.distributions made of others: independent ones, transformed ones.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.contrib.distributions.bijectors import Bijector, Identity
from tfdist.models.contrib.distributions.mixtures import Composed
from tfdist.models.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
)
from tfdist.models.distributions.kl_divergence import RegisterKL, kl_divergence
from tfdist.models.distributions.math import reduce_sum
from tfdist.ops.array.cast import cast
from tfdist.ops.array.concat import concat

__all__ = ["Independent", "TransformedDistribution"]


class Independent(Composed):
    """A batch of distributions as one, of which the last batch axes belong to the values.

    Args:
      distribution: the batch.
      reinterpreted_batch_ndims: how many axes; by default all but the first.
      validate_args: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> D = contrib.distributions
      >>> both = D.Independent(D.Normal([0.0, 0.0], 1.0), 1)
      >>> Session().run(both.log_prob([0.0, 0.0])).round(4)
      np.float32(-1.8379)
    """

    def __init__(
        self, distribution: Any, reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        parameters = locals()
        self.distribution = distribution
        if reinterpreted_batch_ndims is None:
            rank = distribution.batch_shape.ndims
            if rank is None:
                raise ValueError("reinterpreted_batch_ndims must be given: the rank is not known")
            reinterpreted_batch_ndims = max(0, rank - 1)
        self.reinterpreted_batch_ndims = int(reinterpreted_batch_ndims)
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, parameters, [],
            name or f"Independent{distribution.name.replace('/', '')}",
        )  # fmt: skip

    def _shapes_of(self) -> Distribution:
        return self.distribution  # type: ignore[no-any-return]

    @property
    def batch_shape(self) -> TensorShape:
        """Return what is known of the shape of the batch."""
        known = self.distribution.batch_shape
        if known.ndims is None:
            return known  # type: ignore[no-any-return]
        return known[: known.ndims - self.reinterpreted_batch_ndims]  # type: ignore[no-any-return]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape of the batch as a tensor."""
        sizes: Any = self.distribution.batch_shape_tensor(name)
        count = self.reinterpreted_batch_ndims
        return sizes[:-count] if count else sizes

    @property
    def event_shape(self) -> TensorShape:
        """Return what is known of the shape of one value."""
        known = self.distribution.batch_shape
        if known.ndims is None:
            return TensorShape(None)
        own = known[known.ndims - self.reinterpreted_batch_ndims :]
        return own.concatenate(self.distribution.event_shape)  # type: ignore[no-any-return]

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """Return the shape of one value as a tensor."""
        sizes: Any = self.distribution.batch_shape_tensor()
        count = self.reinterpreted_batch_ndims
        own = sizes[-count:] if count else sizes[:0]
        return concat([own, self.distribution.event_shape_tensor(name)], 0)

    def _together(self, found: Any) -> Any:
        axes = list(range(-self.reinterpreted_batch_ndims, 0))
        return reduce_sum(found, axes) if axes else found

    def _sample(self, number: Any, seed: int | None) -> Any:
        return self.distribution.sample([number], seed)

    def _log_prob(self, value: Any) -> Any:
        return self._together(self.distribution.log_prob(value))

    def _entropy(self) -> Any:
        return self._together(self.distribution.entropy())

    def _mean(self) -> Any:
        return self.distribution.mean()

    def _variance(self) -> Any:
        return self.distribution.variance()

    def _stddev(self) -> Any:
        return self.distribution.stddev()

    def _mode(self) -> Any:
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _independent_divergence(a: Any, b: Any, name: str | None = None) -> Any:
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independents of different numbers of axes")
    with name_scope(name, "kl_independent"):
        return a._together(kl_divergence(a.distribution, b.distribution))


class TransformedDistribution(Composed):
    """The distribution of a bijector of what another one draws.

    Args:
      distribution: the other one.
      bijector: by default the identity.
      batch_shape: must be None.
      event_shape: must be None.
      validate_args: taken, and nothing is checked.
      name: prefix for its nodes.

    Raises:
      NotImplementedError: a shape is given.

    Example: a log-normal distribution.
      >>> D = contrib.distributions
      >>> positive = D.TransformedDistribution(D.Normal(0.0, 1.0), D.bijectors.Exp())
      >>> Session().run(positive.log_prob(1.0)).round(4)
      np.float32(-0.9189)
    """

    def __init__(
        self, distribution: Any, bijector: Bijector | None = None, batch_shape: Any = None,
        event_shape: Any = None, validate_args: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        parameters = locals()
        if batch_shape is not None or event_shape is not None:
            raise NotImplementedError(
                "batch_shape and event_shape are not here: give the distribution a batch, or use "
                "Independent"
            )
        self.distribution, self.bijector = distribution, bijector or Identity()
        made = f"{self.bijector.name}{distribution.name.rstrip('/')}"
        super().__init__(
            distribution.dtype, FULLY_REPARAMETERIZED
            if distribution.reparameterization_type is FULLY_REPARAMETERIZED
            else NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters, [],
            name or made,
        )  # fmt: skip

    def _shapes_of(self) -> Distribution:
        return self.distribution  # type: ignore[no-any-return]

    @property
    def event_shape(self) -> TensorShape:
        """Return what is known of the shape of one value."""
        return self.bijector.forward_event_shape(self.distribution.event_shape)

    def _ranks(self) -> int:
        return max(self._own(), self.bijector.inverse_min_event_ndims)

    def _sample(self, number: Any, seed: int | None) -> Any:
        return self.bijector.forward(self.distribution.sample([number], seed))

    def _log_prob(self, value: Any) -> Any:
        before = self.bijector.inverse(value)
        density: Any = self.distribution.log_prob(before)
        own, wide = self._own(), self._ranks()
        if wide > own:
            density = reduce_sum(density, list(range(own - wide, 0)))
        return density + self.bijector.inverse_log_det_jacobian(value, wide)

    def _cdf(self, value: Any) -> Any:
        return self.distribution.cdf(self.bijector.inverse(value))

    def _log_cdf(self, value: Any) -> Any:
        return self.distribution.log_cdf(self.bijector.inverse(value))

    def _survival_function(self, value: Any) -> Any:
        return self.distribution.survival_function(self.bijector.inverse(value))

    def _quantile(self, value: Any) -> Any:
        return self.bijector.forward(self.distribution.quantile(value))

    def _mean(self) -> Any:
        self._check_constant("mean")
        return self.bijector.forward(self.distribution.mean())

    def _entropy(self) -> Any:
        self._check_constant("entropy")
        entropy: Any = self.distribution.entropy()
        place = cast(raw.Fill(concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), 0),
                     self.dtype)  # fmt: skip
        grown = self.bijector.inverse_log_det_jacobian(convert_to_tensor(place), self._ranks())
        return entropy - grown

    def _check_constant(self, what: str) -> None:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError(f"{what} is not implemented for non-affine bijectors")
