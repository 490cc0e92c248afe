"""What all distributions share: names, shapes, samples, and what follows from a few of their facts.

A distribution has a batch shape, that of its parameters, and an event shape, that of one of its
values; samples are [sample shape..., batch shape..., event shape...].
"""

from __future__ import annotations

from typing import Any, NoReturn

from tfdist.base.dtypes import DType, as_dtype
from tfdist.base.tensor_shape import TensorShape
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.distributions.kl_divergence import kl_divergence
from tfdist.ops.array.broadcast import broadcast_dynamic_shape, broadcast_static_shape
from tfdist.ops.array.concat import concat
from tfdist.ops.array.fill import fill
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.checks.assertions import assert_positive
from tfdist.ops.control_flow.identity_group import with_dependencies
from tfdist.ops.framework.shared_values import partial_shape
from tfdist.ops.math.comparison import where_v2
from tfdist.ops.math.elementwise import exp, log, log1p, sqrt
from tfdist.ops.math.reductions import reduce_all

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType",
]  # fmt: skip


class ReparameterizationType:
    """Whether gradients flow through samples to the parameters.

    Args:
      rep_type: name of the kind.
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A distribution of numbers; subclasses say of which.

    A subclass has `_sample`, `_log_prob` and, as far as they exist, `_cdf`, `_mean`, `_variance`,
    `_mode`, `_entropy`, `_covariance`, `_quantile`.

    Args:
      dtype: of samples.
      reparameterization_type: whether gradients flow through samples.
      validate_args: whether parameters are checked when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, instead of an error.
      parameters: what it was made with.
      graph_parents: tensors that it is made of.
      name: prefix for its nodes.
    """

    _event_rank = 0

    def __init__(
        self, dtype: Any, reparameterization_type: ReparameterizationType, validate_args: bool,
        allow_nan_stats: bool, parameters: dict[str, Any] | None = None, graph_parents: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.dtype: DType = as_dtype(dtype).base_dtype
        self.reparameterization_type = reparameterization_type
        self.validate_args, self.allow_nan_stats = validate_args, allow_nan_stats
        given = parameters or {}
        self.parameters = {k: v for k, v in given.items() if k not in ("self", "__class__")}
        self._tensors = list(graph_parents or ())
        with name_scope(name or type(self).__name__) as scope:
            self.name = scope

    def __repr__(self) -> str:
        return (
            f"<tf.distributions.{type(self).__name__} {self.name!r} batch_shape="
            f"{self.batch_shape} event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Return the same distribution with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    def _positive(self, value: Any, name: str, dtype: Any = None) -> Any:
        """Return a parameter as a tensor, which is checked if arguments are to be."""
        tensor = convert_to_tensor(value, dtype, name=name)
        if not self.validate_args:
            return tensor
        return with_dependencies([assert_positive(tensor)], tensor)

    # shapes

    @property
    def _batch_parameters(self) -> list[Any]:
        """Return (tensor, rank of what is no batch) of the parameters."""
        return [(tensor, self._event_rank) for tensor in self._tensors]

    @property
    def batch_shape(self) -> TensorShape:
        """Return what is known of the shape of the batch."""
        found = TensorShape([])
        for tensor, inner in self._batch_parameters:
            if tensor.shape.ndims is None:
                return TensorShape(None)
            own = tensor.shape.as_list()
            found = broadcast_static_shape(found, TensorShape(own[: len(own) - inner]))
        return found

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape of the batch as a tensor."""
        with name_scope(name):
            found: Any = convert_to_tensor([], "int32")
            for tensor, inner in self._batch_parameters:
                own: Any = shape(tensor)
                own = own[:-inner] if inner else own
                found = broadcast_dynamic_shape(found, own)
            return found

    @property
    def event_shape(self) -> TensorShape:
        """Return what is known of the shape of one value."""
        if not self._event_rank:
            return TensorShape([])
        known = self._tensors[-1].shape
        return known[-1:] if known.ndims is not None else TensorShape([None])

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """Return the shape of one value as a tensor."""
        with name_scope(name):
            if not self._event_rank:
                return convert_to_tensor([], "int32")
            sizes: Any = shape(self._tensors[-1])
            return sizes[-1:]

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Return whether there is one distribution only."""
        with name_scope(name):
            return raw.Equal(raw.Size(self.batch_shape_tensor()), 0)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Return whether values are single numbers."""
        with name_scope(name):
            return convert_to_tensor(not self._event_rank)

    # values

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Any:
        """Return values drawn by chance.

        Args:
          sample_shape: how many of each distribution.
          seed: of the drawing; see `set_random_seed`.
          name: prefix for the nodes.
        """
        with name_scope(f"{self.name}{name}/"):
            wanted = convert_to_tensor(sample_shape, "int32", name="sample_shape")
            number = raw.Prod(wanted, [0]) if wanted.shape.ndims else wanted
            lead = reshape(wanted, [-1])
            drawn = self._sample(number, seed)
            inner = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
            result = reshape(drawn, concat([lead, inner], 0))
            known = TensorShape(partial_shape(lead)).concatenate(self.batch_shape)
            result.set_shape(known.concatenate(self.event_shape))
            return result

    def _sample(self, number: Any, seed: int | None) -> Any:
        """Return so many values of each distribution: [number, batch..., event...]."""
        _missing(self, "sample")

    def _told(self, what: str, name: str, *arguments: Any) -> Any:
        function = getattr(self, f"_{what}", None)
        if function is None:
            _missing(self, what)
        with name_scope(f"{self.name}{name}/"):
            return function(*arguments)

    def _of(self, value: Any) -> Any:
        return convert_to_tensor(value, self.dtype, name="value")

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """Return the logarithm of the probability (density) of `value`."""
        return self._told("log_prob", name, self._of(value))

    def prob(self, value: Any, name: str = "prob") -> Any:
        """Return the probability (density) of `value`."""
        return self._told("prob", name, self._of(value))

    def _prob(self, value: Any) -> Any:
        return exp(self._told("log_prob", "log_prob", value))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Return how probable it is that a sample is `value` or less."""
        return self._told("cdf", name, self._of(value))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """Return the logarithm of `cdf`."""
        return self._told("log_cdf", name, self._of(value))

    def _log_cdf(self, value: Any) -> Any:
        return log(self._told("cdf", "cdf", value))

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """Return how probable it is that a sample is greater than `value`."""
        return self._told("survival_function", name, self._of(value))

    def _survival_function(self, value: Any) -> Any:
        return 1.0 - self._told("cdf", "cdf", value)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """Return the logarithm of `survival_function`."""
        return self._told("log_survival_function", name, self._of(value))

    def _log_survival_function(self, value: Any) -> Any:
        return log1p(-self._told("cdf", "cdf", value))

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """Return the number that a sample does not exceed with probability `value`."""
        return self._told("quantile", name, self._of(value))

    def mean(self, name: str = "mean") -> Any:
        """Return the mean."""
        return self._told("mean", name)

    def variance(self, name: str = "variance") -> Any:
        """Return the variance."""
        return self._told("variance", name)

    def stddev(self, name: str = "stddev") -> Any:
        """Return the standard deviation."""
        return self._told("stddev", name)

    def _stddev(self) -> Any:
        return sqrt(self._told("variance", "variance"))

    def covariance(self, name: str = "covariance") -> Any:
        """Return the covariance of the numbers of a value: [batch..., event, event]."""
        return self._told("covariance", name)

    def mode(self, name: str = "mode") -> Any:
        """Return the most probable value."""
        return self._told("mode", name)

    def entropy(self, name: str = "entropy") -> Any:
        """Return the entropy, in nats."""
        return self._told("entropy", name)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Any:
        """Return the mean of -other.log_prob, in nats."""
        with name_scope(f"{self.name}{name}/"):
            return self.entropy() + self.kl_divergence(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Any:
        """Return how far `other` is from this distribution, in nats."""
        with name_scope(f"{self.name}{name}/"):
            return kl_divergence(self, other)

    def _spread(self, value: Any) -> Any:
        """Return a number of the distribution's type in the shape of the batch."""
        return fill(self.batch_shape_tensor(), convert_to_tensor(value, self.dtype))

    def _where_defined(self, defined: Any, value: Any, what: str) -> Any:
        """Return a statistic, NaN or an error where it is not defined."""
        if self.allow_nan_stats:
            return where_v2(defined, value, convert_to_tensor(float("nan"), value.dtype))
        text = f"the {what} is not defined for all parameters; allow_nan_stats gives NaN"
        return with_dependencies([raw.Assert(reduce_all(defined), [text])], value)


def _missing(distribution: Distribution, what: str) -> NoReturn:
    raise NotImplementedError(f"{what} is not implemented: {type(distribution).__name__}")
