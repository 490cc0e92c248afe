"""tf.contrib.distributions: mixtures of others.

Source: TF 1.15 API documentation, tf.contrib.distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.discrete import Categorical
from tfdist.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfdist.models.distributions.math import exp, log_softmax, reduce_sum, softmax, square
from tfdist.ops.array.concat import concat, stack
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.composed_reductions import reduce_logsumexp

__all__ = ["Mixture", "MixtureSameFamily"]


class Composed(Distribution):
    """A distribution whose shapes are those of another one."""

    def _shapes_of(self) -> Distribution:
        raise NotImplementedError

    @property
    def batch_shape(self) -> TensorShape:
        """Return what is known of the shape of the batch."""
        return self._shapes_of().batch_shape

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape of the batch as a tensor."""
        return self._shapes_of().batch_shape_tensor(name)

    @property
    def event_shape(self) -> TensorShape:
        """Return what is known of the shape of one value."""
        return self._shapes_of().event_shape

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """Return the shape of one value as a tensor."""
        return self._shapes_of().event_shape_tensor(name)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Return whether values are single numbers."""
        with name_scope(name):
            return raw.Equal(raw.Size(self.event_shape_tensor()), 0)

    def _own(self) -> int:
        """Return the rank of one value."""
        rank = self.event_shape.ndims
        if rank is None:
            raise ValueError(f"the rank of values of {self.name!r} must be known")
        return rank


class Mixture(Composed):
    """A distribution of which each value comes from one of several, drawn by a Categorical.

    Args:
      cat: the Categorical.
      components: list of distributions of one kind of values, as many as `cat` has classes.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      use_static_graph: accepted for TensorFlow's sake.
      name: prefix for its nodes.

    Raises:
      TypeError: `cat` is no Categorical, or a component is no distribution, or types differ.
      ValueError: there are no components, or not as many as classes.

    Example:
      >>> D = contrib.distributions
      >>> parts = [D.Normal(-1.0, 0.1), D.Normal(3.0, 0.5)]
      >>> Session().run(D.Mixture(D.Categorical(probs=[0.25, 0.75]), parts).mean())
      np.float32(2.0)
    """

    def __init__(
        self, cat: Any, components: Sequence[Any], validate_args: bool = False,
        allow_nan_stats: bool = True, use_static_graph: bool = False, name: str = "Mixture",
    ) -> None:  # fmt: skip
        parameters = locals()
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        for each in components:
            if not isinstance(each, Distribution):
                raise TypeError(
                    f"all entries in components must be Distribution instances, but saw: {each}"
                )
        dtype = components[0].dtype
        if any(each.dtype is not dtype for each in components):
            raise TypeError("All components must have the same dtype, but saw dtypes: "
                            f"{[(each.name, each.dtype) for each in components]}")  # fmt: skip
        classes = cat.logits.shape[-1:].as_list() if cat.logits.shape.ndims else [None]
        if classes[0] not in (None, len(components)):
            raise ValueError(f"cat has {classes[0]} classes for {len(components)} components")
        self.cat, self.components = cat, list(components)
        self.num_components = len(self.components)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [], name)  # fmt: skip

    def _shapes_of(self) -> Distribution:
        return self.components[0]  # type: ignore[no-any-return]

    def _weights(self) -> Any:
        """Return the logarithms of the components' probabilities, [components, batch...]."""
        logs = log_softmax(self.cat.logits)
        rank = raw.Rank(logs)
        order = concat([[rank - 1], raw.Range(0, rank - 1, 1)], 0)
        return raw.Transpose(logs, order)

    def _log_prob(self, value: Any) -> Any:
        found = stack([each.log_prob(value) for each in self.components])
        return reduce_logsumexp(found + self._over(self._weights(), found, 0), 0)

    def _cdf(self, value: Any) -> Any:
        found: Any = stack([each.cdf(value) for each in self.components])
        return reduce_sum(found * exp(self._over(self._weights(), found, 0)), 0)

    def _over(self, weights: Any, found: Any, inner: int) -> Any:
        """Return the weights with axes of 1, so that they broadcast with what was found."""
        sizes: Any = shape(weights)
        extra = raw.Rank(found) - raw.Rank(weights) - inner
        ones = raw.Fill(raw.Reshape(extra, [1]), 1)
        ends = raw.Fill([inner], 1)
        return reshape(weights, concat([sizes[:1], ones, sizes[1:], ends], 0))

    def _mean(self) -> Any:
        found: Any = stack([each.mean() for each in self.components])
        return reduce_sum(found * exp(self._over(self._weights(), found, self._own())), 0)

    def _variance(self) -> Any:
        means: Any = stack([each.mean() for each in self.components])
        found: Any = stack([each.variance() for each in self.components])
        weights = exp(self._over(self._weights(), found, self._own()))
        return reduce_sum(weights * (found + square(means)), 0) - square(self._mean())

    def _sample(self, number: Any, seed: int | None) -> Any:
        seeds = [None if seed is None else seed + i + 1 for i in range(self.num_components)]
        pairs = zip(self.components, seeds, strict=True)
        drawn: Any = stack([each.sample([number], one) for each, one in pairs])
        chosen = one_hot(self.cat.sample([number], seed), self.num_components, True, False,
                         axis=0, dtype="bool")  # fmt: skip
        chosen = reshape(chosen, concat([shape(chosen), raw.Fill([self._own()], 1)], 0))
        kept = raw.SelectV2(raw.LogicalAnd(chosen, raw.OnesLike(raw.Equal(drawn, drawn))), drawn,
                            raw.ZerosLike(drawn))  # fmt: skip
        return reduce_sum(kept, 0)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """Return the mean of the components' entropies, which the entropy is not below."""
        with name_scope(f"{self.name}{name}/"):
            found: Any = stack([each.entropy() for each in self.components])
            return reduce_sum(found * exp(self._over(self._weights(), found, 0)), 0)


class MixtureSameFamily(Composed):
    """A mixture of distributions of one class: those along the last axis of a batch.

    Args:
      mixture_distribution: a Categorical.
      components_distribution: a distribution whose batch shape ends in the number of classes.
      validate_args: taken, and nothing is checked.
      allow_nan_stats: taken, and nothing is checked.
      name: prefix for its nodes.

    Example:
      >>> D = contrib.distributions
      >>> parts = D.Normal([-1.0, 3.0], [0.1, 0.5])
      >>> Session().run(D.MixtureSameFamily(D.Categorical(probs=[0.25, 0.75]), parts).mean())
      np.float32(2.0)
    """

    def __init__(
        self, mixture_distribution: Any, components_distribution: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MixtureSameFamily",
    ) -> None:  # fmt: skip
        parameters = locals()
        self.mixture_distribution = mixture_distribution
        self.components_distribution = components_distribution
        super().__init__(
            components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, [], name,
        )  # fmt: skip

    def _shapes_of(self) -> Distribution:
        return self.components_distribution  # type: ignore[no-any-return]

    @property
    def batch_shape(self) -> TensorShape:
        """Return what is known of the shape of the batch."""
        return self.components_distribution.batch_shape[:-1]  # type: ignore[no-any-return]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape of the batch as a tensor."""
        sizes: Any = self.components_distribution.batch_shape_tensor(name)
        return sizes[:-1]

    def _expanded(self, value: Any) -> Any:
        return raw.ExpandDims(value, -1 - self._own())

    def _log_prob(self, value: Any) -> Any:
        found: Any = self.components_distribution.log_prob(self._expanded(value))
        return reduce_logsumexp(found + log_softmax(self.mixture_distribution.logits), -1)

    def _cdf(self, value: Any) -> Any:
        found: Any = self.components_distribution.cdf(self._expanded(value))
        return reduce_sum(found * softmax(self.mixture_distribution.logits), -1)

    def _weights(self) -> Any:
        probs = softmax(self.mixture_distribution.logits)
        return reshape(probs, concat([shape(probs), raw.Fill([self._own()], 1)], 0))

    def _mean(self) -> Any:
        means: Any = self.components_distribution.mean()
        return reduce_sum(means * self._weights(), -1 - self._own())

    def _variance(self) -> Any:
        axis, means = -1 - self._own(), self.components_distribution.mean()
        inside = reduce_sum(self.components_distribution.variance() * self._weights(), axis)
        apart = square(means - self._expanded(self._mean()))
        return inside + reduce_sum(apart * self._weights(), axis)

    def _sample(self, number: Any, seed: int | None) -> Any:
        drawn: Any = self.components_distribution.sample([number], seed)
        wide: Any = shape(drawn)
        lead = self.mixture_distribution.sample([number], None if seed is None else seed + 1)
        classes = self.components_distribution.batch_shape_tensor()[-1]
        mask = one_hot(lead, classes, dtype=self.dtype)
        mask = reshape(mask, concat([shape(mask), raw.Fill([self._own()], 1)], 0))
        missing = raw.Rank(drawn) - raw.Rank(mask)
        sizes: Any = shape(mask)
        ones = raw.Fill(raw.Reshape(missing, [1]), 1)
        mask = reshape(mask, concat([sizes[:1], ones, sizes[1:]], 0))
        return reduce_sum(drawn * raw.BroadcastTo(mask, wide), -1 - self._own())
